"""The tools: bounded, read-only, forgiving about form, and never two answers that look alike but mean different things."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.errors import UsageError
from agent.llm.interface import ToolCall
from agent.tools.interface import Bench, Sources, ToolResult
from agent.tools.ledger import Ledger
from agent.tools.patterns import compile_pattern
from agent.tools.reading import lines_of, shown_lines_of
from agent.tools.registry import SHOWN, TOOLS, run_call
from tests.llm.fakes import AUDIT, FILES, MANAGER, MemoryFiles, MemoryTree, engine, log

OTHER = {**FILES, MANAGER: FILES[MANAGER].replace("num_steps is not None", "num_draft_tokens is not None")}


def bench(**changes: Any) -> Bench:
    given: dict[str, Any] = {
        "engine": engine(),
        "files": MemoryFiles(contents={"/m/config.json": '{"a": {"b": [1, 2]}, "c": null}', "/m/broken.json": "{"}),
        "configs": ("/m/config.json", "/m/broken.json", "/m/none.json"),
        "logs": {"/l/server.log": log("Start", "Spec accept rate: 0.80", *["noise"] * 100)},
        "releases": {"2.0": MemoryTree(contents=OTHER)},
        "audit": AUDIT,
    }
    return Bench(sources=Sources(**{**given, **changes}), ledger=Ledger(prefix="e"))


def ask(tool: str, place: Bench | None = None, **arguments: Any) -> ToolResult:
    return run_call(place or bench(), ToolCall(id="c", name=tool, arguments=json.dumps(arguments)))[0]


@pytest.mark.parametrize(
    ("tool", "arguments", "said", "failed"),
    [
        ("grep", {"pattern": "spec_accept_rate"}, "pkg/manager.py:6: meta_info", False),
        ("grep", {"pattern": "spec_accept_rate", "scope": "pkg/models"}, "no line matches in 60 files", False),
        ("grep", {"pattern": "x", "scope": "nowhere"}, "nothing under 'nowhere'", True),
        ("grep", {"pattern": "[a-z]"}, "not supported here", True),
        ("grep", {"pattern": "class", "most": 2}, "there are more", False),
        ("read_lines", {"path": MANAGER, "start": 9, "end": 9}, '9:             meta_info["spec_accept_rate"] = rate', False),
        ("read_lines", {"path": MANAGER, "start": "9", "end": 9.0}, "lines 9 to 9 of 14", False),
        ("read_lines", {"path": MANAGER, "start": 99}, "has 14 lines", True),
        ("read_lines", {"path": "pkg/none.py", "start": 1}, "there is no file pkg/none.py", False),
        ("read_lines", {"path": "/etc/passwd", "start": 1}, "not a path inside the source tree", True),
        ("read_lines", {"path": "pkg/../../x", "start": 1}, "not a path inside the source tree", True),
        ("read_lines", {"path": MANAGER, "start": 0}, "at least 1", True),
        ("list_files", {}, "/l/server.log", False),
        ("list_files", {"scope": "pkg", "name": "manager"}, MANAGER, False),
        ("list_files", {"scope": "pkg", "name": "zzz"}, "no file named like 'zzz'", False),
        ("find_definition", {"name": "meta_information"}, "pkg/manager.py:5", False),
        ("find_definition", {"name": "nothing_at_all"}, "did you mean meta_information", False),
        ("find_references", {"name": "server_args.num_steps"}, "pkg/manager.py:7", False),
        ("find_references", {"name": "a b"}, "is not a name", True),
        ("why", {"target": f"{MANAGER}:9"}, "must be true and is false", False),
        ("why", {"target": "nowhere"}, "there is no nowhere", True),
        ("effective_value", {"name": "--num-steps"}, "num_steps = None", False),
        ("effective_value", {"name": "chunk"}, "written at pkg/server_args.py:3", False),
        ("effective_value", {"name": "zzz"}, "unknown, because", False),
        ("config_value", {"file": "config.json", "key": "a.b"}, "a.b = [1, 2]", False),
        ("config_value", {"file": "config.json", "key": "c"}, "c = null", False),
        ("config_value", {"file": "config.json", "key": "a.z"}, "has no key z on the way to a.z", False),
        ("config_value", {"file": "broken.json"}, "is no JSON", True),
        ("config_value", {"file": "none.json"}, "there is no file", False),
        ("config_value", {"file": "/etc/passwd"}, "not one of the collected files", True),
        ("log_search", {"pattern": "ACCEPT RATE"}, "/l/server.log:2: Spec accept rate: 0.80", False),
        ("log_search", {"pattern": "zzz"}, "no such line in the 102 collected lines", False),
        ("compare_releases", {"path": MANAGER, "release": "2.0"}, "+        if self.server_args.num_draft_tokens", False),
        ("compare_releases", {"path": MANAGER, "release": "2.0", "about": "zzz"}, "no difference", False),
        ("compare_releases", {"path": MANAGER, "release": "3.0"}, "releases at hand: 2.0", True),
        ("compare_releases", {"path": "pkg/none.py", "release": "2.0"}, "there is no file", False),
        ("recall", {"pointer": "r9"}, "no such pointer", True),
        ("sh", {"command": "id"}, "there is no tool 'sh'", True),
    ],
)
def test_each_tool(tool: str, arguments: dict[str, Any], said: str, failed: bool) -> None:
    place = bench()
    result = ask(tool, place, **arguments)
    assert said in result.text and result.failed is failed
    assert all(place.ledger.get(id_) for id_ in result.evidence)
    assert result.failed or result.evidence or tool in ("list_files", "compare_releases"), "an answer can be cited"


def test_no_log_is_not_an_empty_log() -> None:
    assert ask("log_search", bench(logs={}), pattern="x").failed


def test_what_could_not_be_read_is_not_called_absent() -> None:
    tree = MemoryTree(contents={}, broken=("pkg/locked.txt",))
    place = bench(engine=type(engine())(tree=tree, launch=engine().launch))
    result = ask("grep", place, pattern="word")
    assert result.failed and "could not be read" in result.text
    assert "permission denied" in ask("read_lines", place, path="pkg/locked.txt", start=1).text


def test_long_results_are_shown_shortened_and_stay_whole_on_the_shelf() -> None:
    files = {"pkg/long.py": "\n".join(f"line {n} {'x' * 100}" for n in range(200))}
    place = bench(engine=engine(files))
    result = ask("read_lines", place, path="pkg/long.py", start=1, end=120)
    assert len(result.text) < SHOWN + 200 and 'recall("r1") has the whole' in result.text
    whole = "".join(ask("recall", place, pointer="r1", start=at).text.split("\n... ")[0] for at in range(0, 15_000, 3000))
    assert "line 60 " in whole and "line 119 " in whole and len(place.shelf) == 1


KEY_ROW = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"
KEY_FILE = f'''KEY = """-----BEGIN PRIVATE KEY-----
{KEY_ROW}
{KEY_ROW[::-1]}
-----END PRIVATE KEY-----"""
after = 5
HF_TOKEN = "hf_abcdefghijklmnopqrstuvwxyz0123"
'''


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_lines", {"path": "pkg/key.py", "start": 1}),
        ("read_lines", {"path": "pkg/key.py", "start": 2, "end": 2}),
        ("grep", {"pattern": "ANBgkqhkiG"}),
        ("grep", {"pattern": "hf_abcdef"}),
        ("compare_releases", {"path": "pkg/key.py", "release": "2.0"}),
        ("log_search", {"pattern": "hf_abcdef"}),
    ],
)
def test_no_tool_gives_a_secret_away_not_even_that_it_is_there(tool: str, arguments: dict[str, Any]) -> None:
    files = {**FILES, "pkg/key.py": KEY_FILE}
    other = {"2.0": MemoryTree(contents={"pkg/key.py": KEY_FILE.replace("after", "behind").replace(KEY_ROW, KEY_ROW.lower())})}
    place = bench(engine=engine(files), releases=other, logs={"/l/server.log": log("HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz0123")})
    result = ask(tool, place, **arguments)
    told = result.text.casefold() + str(place.ledger.everything()).casefold()
    for piece in (KEY_ROW, KEY_ROW[::-1], "hf_abcdefg"):
        assert piece.casefold() not in told
    assert tool in ("read_lines", "compare_releases") or "no " in result.text


def test_line_numbers_stay_true_below_a_secret() -> None:
    assert "5: after = 5" in ask("read_lines", bench(engine=engine({**FILES, "pkg/key.py": KEY_FILE})), path="pkg/key.py", start=1).text


@given(st.lists(st.sampled_from(KEY_FILE.split("\n")), max_size=12), st.booleans())
def test_masking_keeps_the_number_of_lines(lines: list[str], end: bool) -> None:
    tree = MemoryTree(contents={"a.py": "\n".join(lines) + "\n" * end})
    shown, raw = shown_lines_of(tree, "a.py"), lines_of(tree, "a.py")
    assert isinstance(shown, list) and isinstance(raw, list)
    assert len(shown) == len(raw) or (not raw and shown == [""])


def test_no_tool_takes_a_shell_string_and_every_argument_is_bounded() -> None:
    for tool in TOOLS.values():
        schema = tool.spec.parameters
        assert schema["additionalProperties"] is False
        for property_ in schema["properties"].values():
            assert property_["type"] in ("string", "integer")
            assert "maxLength" in property_ or "maximum" in property_
    assert len(json.dumps([tool.spec.as_dict() for tool in TOOLS.values()])) < 6000, "they fit a small context"


ARGUMENT = (
    st.none()
    | st.integers()
    | st.text(max_size=20)
    | st.sampled_from([MANAGER, "pkg", ".*", "a|", "\\", "(", "/etc/passwd", "config.json"])
)
NAMES = ["pattern", "scope", "most", "path", "start", "end", "name", "target", "file", "key", "release", "about", "pointer"]


@given(st.sampled_from(sorted(TOOLS)), st.dictionaries(st.sampled_from(NAMES), ARGUMENT, max_size=4) | st.text(max_size=30))
def test_whatever_is_asked_the_answer_is_a_bounded_text(tool: str, arguments: Any) -> None:
    result, _ = run_call(bench(), ToolCall(id="c", name=tool, arguments=arguments if isinstance(arguments, str) else json.dumps(arguments)))
    assert len(result.text) <= SHOWN + 200 and "\x1b" not in result.text
    assert "Error)" not in result.text, "no fault of the tool itself"


# --- patterns ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "line", "found"),
    [
        ("is_eagle3()", "if x.is_eagle3() and y:", True),
        (r"is_eagle3\(\)", "if x.is_eagle3() and y:", True),
        ("alpha|beta", "a beta b", True),
        ("alpha|beta", "gamma", False),
        ("def .*self", "    def f(self):", True),
        ("self.*def", "    def f(self):", False),
        (r"\bval\b", "value", False),
        (r"^import\s+os", "import   os", True),
        (r"^os", "import os", False),
        (r"os$", "import os", True),
        (r"a\s*.*\sb", "a b", True),
        ("self.x", "self_x", True),
        (r"self\.x", "self_x", False),
        (r"d\[\"k\"\]", 'd["k"] = 1', True),
    ],
)
def test_patterns(pattern: str, line: str, found: bool) -> None:
    assert compile_pattern(pattern).found_in(line) is found


@pytest.mark.parametrize("pattern", ["", "a" * 400, "(a+)+", "a{2}", "[ab]c", "a?", "(a|b)c", ".*", "a|", r"\s+\s+x", "x\ny", "a*", r"\1"])
def test_patterns_outside_the_subset_are_refused_not_misread(pattern: str) -> None:
    with pytest.raises(UsageError):
        compile_pattern(pattern)


PIECES = st.lists(st.sampled_from(["a", "ab", ".*", r"\s+", r"\b", " ", "(", r"\.", "x"]), min_size=1, max_size=8).map("".join)


@given(PIECES)
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    try:
        compiled = compile_pattern(pattern)
    except UsageError:
        return
    started = time.process_time()
    compiled.found_in("a " * 5000 + "!")
    assert time.process_time() - started < 1.0


@given(st.text(alphabet="ab ._(x", min_size=1, max_size=12), st.text(alphabet="ab ._(x\t", max_size=30))
def test_plain_text_is_found_where_it_stands(text: str, around: str) -> None:
    if text.strip(" ."):
        assert compile_pattern(text).found_in(around + text + around)

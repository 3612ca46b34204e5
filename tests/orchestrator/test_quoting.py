"""Quotes and numbers: what is cited is the file's own line, and it is read again before it is reported."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.visible import in_backticks
from agent.hosts.local_tree import DirectoryTree, MemoryTree
from agent.orchestrator.concluding import reproduce
from agent.orchestrator.numbers import explain
from agent.orchestrator.quoting import Quoter, read_again
from agent.probes.log import LogLine
from agent.subagents.model_configs import whole_config
from agent.subagents.server_log import LogFound, quote
from agent.tools.ledger import Ledger
from tests.reports import samples
from tests.subagents.live import desk, this_machine, write

SOURCE = {
    "pkg/a.py": "first\r\n  second = 'x'  # é\n\x0cthird\nlast",
    "pkg/bom.py": "\ufeffone\ntwo\n",
    "pkg/key.py": "API_KEY = 'sk-12345678901234567890abcd'\n",
    "pkg/pem.py": 'KEY = """-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n-----END PRIVATE KEY-----"""\nx = 1\n',
}
PLACES = (("a.py", 20), ("'b c.py'", 7), ("a.py", 3), ("a.py", 20))
CONFIG = b'{\n  "hidden_size": 7168,\n  "eagle": {\n    "layers": [\n      2,\n      30\n    ]\n  }\n}\n'


async def test_quotes_are_read_again(tmp_path: Path) -> None:
    write(tmp_path, SOURCE)
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9\n")
    (tmp_path / "config.json").write_bytes(CONFIG)
    async with this_machine() as host:
        place = desk(host)
        quoter = Quoter(place.ledger, DirectoryTree(tmp_path), {"draft": (str(tmp_path / "config.json"), CONFIG)})
        ids = [quoter.line("pkg/a.py", number) for number in (1, 2, 3, 4)] + [quoter.line("pkg/bom.py", 1), quoter.line("latin.py", 1)]
        ids += [quoter.line("pkg/key.py", 1), quoter.config("draft", "eagle.layers"), quoter.config("draft", "hidden_size")]
        assert all(ids)
        again = await read_again(host, str(tmp_path), place.ledger.everything())
        assert (again.changed, again.unread) == ((), ())

        write(tmp_path, {"pkg/a.py": SOURCE["pkg/a.py"].replace("second", "changed")})
        (tmp_path / "pkg/bom.py").unlink()
        again = await read_again(host, str(tmp_path), place.ledger.everything())
    assert set(again.changed) == {ids[1], ids[4]}, "a changed line and a file that is gone"
    assert "sk-1234567890" not in "".join(item.excerpt for item in place.ledger.everything())


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("indent", [None, 2])
async def test_a_config_with_a_secret_is_quoted_as_it_is_read_again(tmp_path: Path, indent: int | None, mark: str, ends: str) -> None:
    """Whether a value is a secret hangs on the document around it, not on the rows that are quoted."""
    config = {"hub": {"token": {"read": "a1b2c3d4e5f6", "list": ["q9w8e7r6t5"]}, "hidden_size": 7168}, "note": "a\u2028b", "last": 1}
    text = json.dumps(config, indent=indent, ensure_ascii=False).replace("\n", ends)
    place = tmp_path / "config.json"
    place.write_bytes((mark + text).encode())
    async with this_machine() as host:
        desk_ = desk(host)
        read = (await host.run(whole_config(str(place)))).stdout
        quoter = Quoter(desk_.ledger, MemoryTree({}), {"draft": (str(place), read)})
        ids = [quoter.config("draft", key) for key in ("hub.token", "hub.hidden_size", "hub.token.list", "note", "last")]
        quoted = desk_.ledger.everything()
        again = await read_again(host, str(tmp_path), quoted)
        assert all(ids) and (again.changed, again.unread) == ((), ())
        assert not any(secret in item.excerpt for item in quoted for secret in ("a1b2c3d4e5f6", "q9w8e7r6t5"))
        assert '"last": 1' in quoted[-1].excerpt

        place.write_bytes((mark + text).encode().replace(b"7168", b"7169"))
        assert ids[1] in (await read_again(host, str(tmp_path), quoted)).changed


async def test_what_is_not_there_is_not_quoted(tmp_path: Path) -> None:
    write(tmp_path, SOURCE)
    async with this_machine() as host:
        place = desk(host)
        quoter = Quoter(place.ledger, DirectoryTree(tmp_path), {})
        assert quoter.line("pkg/a.py", 5) == quoter.line("pkg/a.py", 0) == quoter.line("pkg/none.py", 1) == ""
        assert quoter.line("../etc/passwd", 1) == "" == quoter.line("pkg/pem.py", 2), "a row of a key shows the key"
        assert quoter.config("draft", "x") == ""
    assert place.ledger.everything() == ()


async def test_sentences_give_their_places(tmp_path: Path) -> None:
    write(tmp_path, SOURCE)
    async with this_machine() as host:
        place = desk(host)
        quoter = Quoter(place.ledger, DirectoryTree(tmp_path), {"draft": ("/m/config.json", CONFIG)})
        cited = quoter.cited("pkg/a.py:2 `x` is false; see pkg/a.py:4, pkg/none.py:1 and pkg/a.py:2")
        keys = quoter.config_keys("len(config.draft.eagle.layers) * config.target.x; draft config.json has hidden_size = 7168")
    evidence = {item.id: item for item in place.ledger.everything()}
    assert [(evidence[id].path, evidence[id].start) for id in cited] == [("pkg/a.py", 2), ("pkg/a.py", 4)]
    assert [(evidence[id].start, evidence[id].end) for id in keys] == [(4, 7), (2, 2)]
    assert evidence[keys[0]].command == "sed -n 4,7p /m/config.json"


def test_a_line_of_the_log_that_a_reason_rests_on_is_evidence() -> None:
    ledger = Ledger(prefix="E")
    lines = tuple(LogLine(number=number, text=text) for number, text in enumerate(("", "starting", " `worker` gave up", "starting"), 1))
    log = LogFound(path="/var/log/a server.log", lines=lines)
    quoter = Quoter(ledger, MemoryTree({}), {}, log)
    assert quoter.reasons(f"the log says {in_backticks(lines[2].text)}; and more") == ("E1",)
    assert quoter.reasons("the log says `starting`") == ("E2",), "its first line alone"
    assert quoter.reasons("the log was not read") == quoter.reasons("the log says `another thing`") == ()
    assert [(item.start, item.command) for item in ledger.everything()] == [
        (3, "sed -n 3p '/var/log/a server.log'"),
        (2, "sed -n 2p '/var/log/a server.log'"),
    ]


def test_a_number_that_was_read_from_the_log_has_its_line() -> None:
    ledger = Ledger(prefix="E")
    texts = ("accept len: 2.00", "accept len: 1.00, 'x'", "ready")
    log = LogFound(path="/var/log/s.log", lines=tuple(LogLine(number=at, text=text) for at, text in enumerate(texts, 1)))
    quoter = Quoter(ledger, MemoryTree({}), {}, log)
    formula = r"number_at(log.lines, 'accept len:\s+(\d+\.\d+)')"
    assert quoter.counted(formula) == ("E1",)
    assert quoter.counted("config.target.hidden_size") == quoter.counted("number_at(log.lines, 'nowhere (x)')") == ()
    assert [(item.start, item.excerpt) for item in ledger.everything()] == [(2, texts[1])]


@pytest.mark.parametrize("mark", ["x", "é"])
def test_a_line_that_is_cut_comes_with_the_command_that_cuts_it(mark: str, tmp_path: Path) -> None:
    file, text = tmp_path / "server log", "start " + mark * 20_000
    file.write_text(f"first\n{text}\n")
    ledger = Ledger(prefix="E")
    quote(ledger, str(file), LogLine(number=2, text=text))
    (item,) = ledger.everything()
    printed = subprocess.run(item.command, shell=True, capture_output=True, check=True).stdout
    assert text.startswith(item.excerpt) and 16_000 < len(item.excerpt.encode()) < len(text.encode())
    assert printed.removesuffix(b"\n") == item.excerpt.encode()


def test_the_commands_behind_a_finding_read_each_file_once() -> None:
    lines = [samples.evidence(at, "source", path, line, "x", f"sed -n {line}p {path}") for at, (path, line) in enumerate(PLACES)]
    others = [
        samples.evidence(8, "process", "", 0, "x", "cat /proc/1/cmdline"),
        samples.evidence(9, "config", "c", 1, "x", "sed -n 1,3p c"),
    ]
    finding = samples.founding().findings[0]
    steps = tuple(replace(finding.chain[0], evidence=item.id) for item in lines)
    cited = replace(finding, cause=replace(finding.cause, evidence=("E8", "E9")), chain=steps)
    assert reproduce([cited], [*lines, *others]) == ("cat /proc/1/cmdline", "sed -n 1,3p c", "sed -n '3p;20p' a.py", "sed -n 7p 'b c.py'")


@pytest.mark.parametrize(
    ("number", "formulas"),
    [
        (7168, ["config.draft.hidden_size", "config.target.hidden_size"]),
        (
            21504,
            [
                "len(config.draft.eagle.layers) * config.draft.hidden_size = 3 x 7168",
                "len(config.draft.eagle.layers) * config.target.hidden_size = 3 x 7168",
            ],
        ),
        (12345, []),
        (3, []),
    ],
)
def test_numbers_from_configs(number: int, formulas: list[str]) -> None:
    configs = {
        "target": {"hidden_size": 7168, "flag": True, "small": 3},
        "draft": {"hidden_size": 7168, "eagle": {"layers": [2, 30, 58]}},
        "other": None,
    }
    assert [one.formula for one in explain((number,), configs)] == formulas


@given(
    st.lists(st.integers(0, 10**6), max_size=4),
    st.dictionaries(st.text(min_size=1, max_size=3), st.integers() | st.lists(st.integers(), max_size=3)),
)
def test_every_reading_is_true(numbers: list[int], config: dict[str, object]) -> None:
    for one in explain(tuple(numbers), {"target": config}):
        assert one.number in numbers
        if one.formula.startswith("config.target."):
            assert config[one.formula.removeprefix("config.target.")] == one.number

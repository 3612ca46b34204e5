"""Playbook files: validated with the path of the wrong entry, layered, matched with reasons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.domain.errors import PlaybookInvalid, UsageError
from agent.domain.facts import Facts
from agent.domain.investigation import Symptom
from agent.domain.launch import Launch
from agent.library import Library
from agent.library.reading import parse_playbook, read_playbook
from agent.library.templates import TemplateProblem, check, render

MINIMAL: dict[str, Any] = {
    "schema": "rca.playbook/1",
    "id": "demo",
    "title": "A demo",
    "summary": "Something is off.",
    "applies_to": [{"package": "shop", "versions": ">=1,<2"}],
    "match": {
        "symptom": ["slow"],
        "numbers": ["config.target.width"],
        "log": ["gave up"],
        "when": ["present(launch.flags.fast)"],
        "by_launch": True,
    },
    "targets": [{"id": "turbo", "query": "call:turbo"}, {"id": "mode", "setting": "mode"}],
    "hypotheses": [
        {
            "id": "why",
            "claim": "It is {{ launch.flags.fast }}",
            "role": "cause",
            "checks": [{"verdict": {"target": "turbo", "is": "never"}}],
        }
    ],
    "cause": {"kind": "flag", "name": "--fast"},
    "fix": {"summary": "Pass --fast."},
}

TEST: dict[str, Any] = {"name": "t", "launch": "serve", "tree": {"a.py": "1"}, "expect": "silent"}


def edited(path: str, value: Any) -> bytes:
    """The minimal playbook with one entry changed; ``...`` removes it."""
    playbook = yaml.safe_load(yaml.safe_dump(MINIMAL))
    *parents, last = [int(part) if part.isdigit() else part for part in path.split("/")]
    place = playbook
    for part in parents:
        place = place[part]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return yaml.safe_dump(playbook).encode()


def test_the_minimal_playbook_is_one() -> None:
    playbook = parse_playbook(yaml.safe_dump(MINIMAL).encode(), "demo.yaml")
    assert (playbook.id, playbook.target("mode").id, playbook.origin) == ("demo", "mode", "demo.yaml")


@pytest.mark.parametrize(
    ("path", "value", "where", "what"),
    [
        ("id", ..., "id", "is required"),
        ("id", "Not An Id", "id", "match"),
        ("schema", "rca.playbook/2", "schema", "rca.playbook/1"),
        ("colour", "red", "colour", "no such key"),
        ("targets/0/colour", "red", "targets[0].colour", "no such key"),
        ("targets/0/query", "what is this", "targets[0].query", "match"),
        ("targets/1/query", "call:x", "targets[1]", "exactly one of query and setting"),
        ("targets/1/id", "turbo", "targets[1].id", "given twice"),
        ("targets/1/fault", "asked != nothing", "targets[1].fault", "is no fact"),
        ("targets/0/versions", "newer", "targets[0].versions", "no version range"),
        ("targets/0/text", "(", "targets[0].text", "no regular expression"),
        ("match/when/0", "2 ** 2", "match.when[0]", "Pow"),
        ("match", {}, "match", "nothing by which"),
        ("hypotheses/0/claim", "{{ open", "hypotheses[0].claim", "line 1"),
        ("hypotheses/0/checks/0", {"verdict": {"target": "nowhere", "is": "never"}}, "hypotheses[0].checks[0].verdict.target", "no target"),
        ("hypotheses/0/checks/0", {"verdict": {"target": "turbo", "is": "sometimes"}}, "hypotheses[0].checks[0].verdict.is", "never"),
        ("hypotheses/0/checks/0", {"fact": "1 == 1", "log": {"pattern": "x"}}, "hypotheses[0].checks[0]", "exactly one"),
        ("hypotheses/0/checks", [], "hypotheses[0].checks", "at least 1"),
        ("hypotheses/0/role", "alternative", "hypotheses", "role `cause`"),
        ("applies_to/0/versions", ">=x", "applies_to[0].versions", "no version range"),
        ("cause/kind", "mood", "cause.kind", "flag"),
        ("tests", [{"name": "t", "launch": "serve", "expect": "silent"}], "tests[0]", "exactly one of release and tree"),
        ("targets/0/text", "{{ config.target.name }}(", "targets[0].text", "unterminated"),
        ("match/symptom/0", "(a+)+b", "match.symptom[0]", "takes for ever"),
        ("match/log/0", "(" * 3000 + ")" * 3000, "match.log[0]", "nested too deeply"),
        ("match/log/0", "a{99999999999}", "match.log[0]", "too large"),
        ("match/when/0", "matches(log.lines, '(x|x.?)*y')", "match.when[0]", "takes for ever"),
        ("match/when/0", "number_at(log.lines, '[0-9]+') > 1", "match.when[0]", "a group catches"),
        ("tests", [TEST | {"models": {"m": "../x.json"}}], "tests[0].models.m", "the name of a file in configs/"),
        ("tests", [TEST | {"models": {"m": 3}}], "tests[0].models.m", "the name of a file in configs/"),
        ("targets/0/file", "a*b*c*d*e*f", "targets[0].file", "more than 4 stars"),
        ("targets/0/function", "*.*.*.*.*", "targets[0].function", "more than 4 stars"),
        ("hypotheses/0/checks/0", {"file": {"path": "**/**/**/**/**"}}, "hypotheses[0].checks[0].file.path", "more than 4 stars"),
        ("fix/summary", "{{ 1 * nothing }}", "fix.summary", "no 'nothing'"),
        ("fix/summary", "x\n{% include '/etc/passwd' %}", "fix.summary", "line 2: Include"),
        ("fix/summary", "{% for i in range(9) %}{% endfor %}", "fix.summary", "Call is not part"),
        ("fix/summary", "{% set x = launch %}", "fix.summary", "Assign is not part"),
        ("fix/summary", "{% for a in launch.flags %}{% for b in a %}{% endfor %}{% endfor %}", "fix.summary", "a loop in a loop"),
        ("fix/summary", "{{ launch|pprint }}", "fix.summary", "no filter 'pprint'"),
        ("fix/summary", "{{" + "(" * 3000 + "1" + ")" * 3000 + "}}", "fix.summary", "nested too deeply"),
        ("fix/summary", "{{ launch }}" + "x" * 20_000, "fix.summary", "longer than"),
        ("hypotheses/0/claim", "red \x1b[31m", "hypotheses[0].claim", "control character"),
        ("title", "carriage\rreturn", "title", "control character"),
    ],
)
def test_an_error_names_the_entry(path: str, value: Any, where: str, what: str) -> None:
    with pytest.raises(PlaybookInvalid) as caught:
        parse_playbook(edited(path, value), "demo.yaml")
    assert caught.value.where == where
    assert what in caught.value.what
    assert caught.value.what.startswith(f"demo.yaml: {where}: ")


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        (b"id: a\nid: b\n", "line 2", "given twice"),
        (b"a: [1", "line 2", "expected"),
        (b"- 1\n", "file", "a mapping"),
        (b"a: !!python/object/apply:os.system [true]\n", "line 1", "could not determine a constructor"),
        (
            b"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [" + b",".join([b"*a"] * 100) + b"]\nc: [" + b",".join([b"*b"] * 100) + b"]\n",
            "file",
            "aliases",
        ),
        (b"x" * 600_000, "file", "larger than"),
        (b"a: &a [*a]\n", "line 1", "recursive"),
        (b"a: " + b"[" * 400 + b"]" * 400, "file", "nested too deeply"),
        (b"\n".join(b" " * depth + b"a:" for depth in range(700)), "file", "nested too deeply"),
        (b"a: 1\n? [b]\n: c\n", "line 2", "a key is a word"),
        (b"a: 2024-99-99\n", "line 1", "month"),
        (b"a: 1\nb: " + b"9" * 6000, "line 2", "digits"),
        (b"a: &a {b: 1}\nc:\n  <<: *a\n", "line 3", "merge keys"),
        (b"a: \xff\n", "file", "invalid leading UTF-8 octet"),
        (b"a: 1\n---\nb: 1\n", "line 2", "another document"),
    ],
)
def test_files_that_are_no_playbook(text: bytes, where: str, what: str) -> None:
    with pytest.raises(PlaybookInvalid) as caught:
        parse_playbook(text, "p.yaml")
    assert caught.value.where == where
    assert what in caught.value.what


def library(tmp_path: Path, *, user: bytes | None = None, extra: bytes | None = None) -> Library:
    for name in ("shipped", "user", "extra"):
        (tmp_path / name).mkdir()
    (tmp_path / "shipped" / "demo.yaml").write_bytes(yaml.safe_dump(MINIMAL).encode())
    (tmp_path / "shipped" / "notes.txt").write_text("not a playbook")
    if user is not None:
        (tmp_path / "user" / "mine.yml").write_bytes(user)
    files = []
    if extra is not None:
        files.append(tmp_path / "extra" / "x.yaml")
        files[0].write_bytes(extra)
    return Library(tmp_path / "shipped", tmp_path / "user", files)


def test_a_users_playbook_replaces_the_shipped_one_and_a_file_both(tmp_path: Path) -> None:
    assert library(tmp_path, user=edited("title", "Mine")).get("demo").title == "Mine"
    other = tmp_path / "again"
    other.mkdir()
    assert library(other, user=edited("title", "Mine"), extra=edited("title", "Given")).get("demo").title == "Given"


def test_a_broken_playbook_is_an_error_and_is_listed(tmp_path: Path) -> None:
    broken = library(tmp_path, user=edited("cause", ...))
    with pytest.raises(PlaybookInvalid, match=r"mine\.yml: cause: is required"):
        broken.all()
    assert [type(entry).__name__ for _, entry in broken.entries()] == ["Playbook", "PlaybookInvalid"]


def test_two_of_one_id_in_one_directory_are_an_error(tmp_path: Path) -> None:
    two = library(tmp_path, user=edited("title", "Mine"))
    (tmp_path / "user" / "other.yaml").write_bytes(edited("title", "Another"))
    with pytest.raises(PlaybookInvalid, match=r"other\.yaml: id: 'demo' is the id of mine\.yml as well"):
        two.all()


def test_a_link_that_leads_nowhere_is_an_error(tmp_path: Path) -> None:
    linked = library(tmp_path, user=edited("title", "Mine"))
    (tmp_path / "user" / "gone.yaml").symlink_to(tmp_path / "nowhere")
    with pytest.raises(PlaybookInvalid, match=r"gone\.yaml: file: cannot be read: No such file"):
        linked.all()


def test_an_unknown_id_is_answered_with_near_misses(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="demo"):
        library(tmp_path).get("dem")


def test_a_missing_user_directory_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "demo.yaml").write_bytes(yaml.safe_dump(MINIMAL).encode())
    assert [playbook.id for playbook in Library(tmp_path, tmp_path / "none").all()] == ["demo"]


def facts(**changes: Any) -> Facts:
    given: dict[str, Any] = {
        "package": "shop",
        "version": "1.5",
        "launch": Launch(argv=("serve", "--fast", "no")),
        "configs": {"target": {"width": 42}},
        "log": ("started", "worker gave up"),
    }
    return Facts(**{**given, **changes})


@pytest.mark.parametrize(
    ("text", "changes", "direct", "because"),
    [
        ("it is slow", {"log": ()}, True, ("the symptom says 'slow'", "`present(launch.flags.fast)` holds")),
        ("width 42", {"log": ()}, True, ("the symptom's number 42 is `config.target.width`", "`present(launch.flags.fast)` holds")),
        ("odd", {}, False, ("the log says `worker gave up`", "`present(launch.flags.fast)` holds")),
        ("odd", {"log": ()}, False, ("`present(launch.flags.fast)` holds",)),
    ],
)
def test_a_match_says_why(tmp_path: Path, text: str, changes: dict[str, Any], direct: bool, because: tuple[str, ...]) -> None:
    (match,) = library(tmp_path).match(Symptom.parse(text), facts(**changes))
    assert (match.direct, match.because) == (direct, because)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"package": "bakery"}, "it is about shop, not bakery"),
        ({"version": "2.1"}, "it is about shop >=1,<2, not 2.1"),
        ({"launch": Launch(argv=("serve",))}, "its condition `present(launch.flags.fast)` does not hold here"),
    ],
)
def test_a_playbook_that_does_not_apply_says_why_not(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    matches, ruled_out = library(tmp_path).consider(Symptom.parse("slow"), facts(**changes))
    assert not matches
    assert [one.why for one in ruled_out] == [why]


def test_an_undecided_condition_neither_speaks_for_nor_against(tmp_path: Path) -> None:
    (match,) = library(tmp_path).match(Symptom.parse("slow"), facts(launch=None, log=None))
    assert match.open_questions == ("`present(launch.flags.fast)`: the launch command was not found",)


def test_without_a_word_for_it_an_undecided_condition_is_no_match(tmp_path: Path) -> None:
    matches, ruled_out = library(tmp_path).consider(Symptom.parse("odd"), facts(launch=None, log=None, configs={}))
    assert (matches, ruled_out[0].why) == ((), "nothing in the symptom, the log or the launch speaks for it")


def test_conditions_alone_make_no_match_unless_they_say_so(tmp_path: Path) -> None:
    cautious = library(tmp_path, user=edited("match/by_launch", False))
    assert cautious.match(Symptom.parse("odd"), facts(log=())) == ()
    assert cautious.match(Symptom.parse("slow"), facts(log=()))


def test_an_unknown_version_does_not_rule_out(tmp_path: Path) -> None:
    assert library(tmp_path).match(Symptom.parse("slow"), facts(version=""))


def test_the_reports_own_words_go_before_what_the_launch_alone_suggests(tmp_path: Path) -> None:
    two = library(
        tmp_path, user=edited("match", {"when": ["present(launch.flags.fast)"], "by_launch": True}).replace(b"id: demo", b"id: other")
    )
    assert [match.playbook.id for match in two.match(Symptom.parse("slow"), facts())] == ["demo"]
    assert [match.playbook.id for match in two.match(Symptom.parse("odd"), facts(log=()))] == ["demo", "other"]


def test_templates_leave_no_hole_and_reach_nothing() -> None:
    assert render("{{ a.b }}!", {"a": {"b": 1}}) == "1!"
    for text in ("{{ missing }}", "{{ a.c }}", "{{ ''.__class__.__mro__ }}", "{{ a.update({}) }}", "{{ a + 1 }}", "{{ 1 / 0 }}"):
        with pytest.raises(TemplateProblem):
            render(text, {"a": {}})


@pytest.mark.parametrize("text", ["{{ 'x' * 10 ** 10 }}", "{{ '%1000000000d' % 1 }}", "{{ 9 ** 9 ** 9 }}", "{{ [1] * 10 ** 10 }}"])
def test_a_template_fills_no_memory(text: str) -> None:
    with pytest.raises(TemplateProblem, match="for numbers"):
        render(text, {})


def test_a_template_gives_a_text_of_bounded_length() -> None:
    with pytest.raises(TemplateProblem, match="gives more than"):
        render("{% for one in many %}{{ long }}{% endfor %}", {"many": range(10_000), "long": "x" * 10_000})


def test_texts_may_put_in_what_they_ask_for() -> None:
    text = "{% for name, value in launch.flags.items %}{% endfor %}{{ config.target.layers|join(', ') }}: {{ 3 * config.target.width }}"
    text += "{% if config.draft is not defined %} none{% endif %}"
    check(text)
    values = {"launch": {"flags": {"items": []}}, "config": {"target": {"layers": [1, 2], "width": 7168}}}
    assert render(text, values) == "1, 2: 21504 none"


def test_only_so_much_of_a_file_is_read() -> None:
    with pytest.raises(PlaybookInvalid, match="larger than"):
        read_playbook(Path("/dev/zero"))

"""Fixed or not: the founding story's second half, and the ways in which it could be told wrongly."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from agent.config import shipped_directory
from agent.domain.facts import Facts
from agent.domain.investigation import Cause, Investigation, TargetVerdict
from agent.domain.launch import Launch
from agent.domain.metrics import read_samples
from agent.domain.playbook import LogExpectation
from agent.domain.playbook import Verification as Plan
from agent.domain.verdict import Asked, AuditAnswer, Change, Counterfactual, Effective, Place, Setting
from agent.library import Library
from agent.verification.numbers import meaning, summarise
from agent.verification.verdict import Again, Now, Numbers, Verification, relocate, verify
from tests.engines import FakeEngine, FakeTree
from tests.reports.samples import RUNNER, founding, launch_command
from tests.verify.test_numbers import SGLANG, decode_line

SOURCE = "if is_eagle3:\n    self.eagle_use_aux_hidden_state = True\n    self.model.set_eagle3_layers_to_capture(\n    ids)"
TARGETS = (
    TargetVerdict(path=RUNNER, line=2, text="self.eagle_use_aux_hidden_state = True", verdict="never"),
    TargetVerdict(path=RUNNER, line=3, text="self.model.set_eagle3_layers_to_capture(", verdict="never"),
)
SCHEMA = Path(__file__).parents[2] / "docs" / "schema" / "rca.verify.1.json"
PLAYBOOK = Library(shipped_directory("playbooks")).get("eagle-vs-eagle3")


def before(**changes: Any) -> Investigation:
    base = founding()
    return replace(base, findings=(replace(base.findings[0], targets=TARGETS),), **changes)


def numbers(lines: list[str], version: str = "0.5.9") -> Numbers:
    samples = list(read_samples(lines, SGLANG))
    names = ("accept_length", "accept_rate", "throughput")
    found = {name: summarise(samples, name, means=meaning(SGLANG, name, version)) for name in names}
    return Numbers(series={name: series for name, series in found.items() if series is not None})


def now(algorithm: str = "EAGLE3", *, open_: bool = True, lines: list[str] | None = None, source: str = SOURCE, shift: int = 0) -> Now:
    verdict: str | int = "always" if open_ else 1 + shift
    launch = Launch(argv=tuple(launch_command(algorithm).split()), env=dict(founding().launch.env))  # type: ignore[union-attr]
    tree = FakeTree({RUNNER: source})
    engine = FakeEngine(tree=tree, launch=launch, verdicts={f"{RUNNER}:{n + shift}": verdict for n in (2, 3)})
    return Now(engine=engine, facts=Facts(), log=None if lines is None else tuple(lines), numbers=numbers(lines or []))


OLD = [decode_line(accept=1.0, speed=61.4)] * 40
NEW = [decode_line(accept=2.1, speed=82.3)] * 40


def judged(state: Now, **options: Any) -> Verification:
    return verify(before(), state, numbers_before=numbers(OLD), playbook=PLAYBOOK, **options)


def test_the_founding_story_is_fixed_and_still_slower() -> None:
    found = judged(now(lines=NEW), baseline=90.0)
    assert found.conclusion == "fixed"
    assert "accept length 1.00 before, 2.10 after" in found.words
    assert "throughput 61.40 before, 82.30 after at 1 running" in found.words
    assert "speculation still does not pay: 82.3 tok/s is slower than 90.0 tok/s" in found.words
    assert found.payoff is not None
    assert round(found.payoff.break_even, 2) == 2.30


def test_only_lines_that_the_fix_was_seen_to_open_have_to_run() -> None:
    """The handler beside them never ran and never should: it was no part of what the fix opens."""
    handler = TargetVerdict(path=RUNNER, line=4, text="ids)", verdict="never")
    base = before()
    finding = base.findings[0]
    assert finding.counterfactual is not None
    opens = tuple(Place(path=target.path, line=target.line) for target in TARGETS)
    changed = replace(finding, targets=(*TARGETS, handler), counterfactual=replace(finding.counterfactual, opens=opens))
    state = now(lines=NEW)
    found = verify(replace(base, findings=(changed,)), state, numbers_before=numbers(OLD), playbook=PLAYBOOK)
    assert [check.name for check in found.checks if check.kind == "guard"] == [f"{one.path}:{one.line} {one.text}" for one in TARGETS]
    assert found.conclusion == "fixed"


def test_the_same_command_as_before_is_not_fixed() -> None:
    found = judged(now("EAGLE", open_=False, lines=OLD))
    assert found.conclusion == "not_fixed"
    assert "still runs with the command of the stored run" in found.words


def test_a_new_command_that_leaves_the_guard_shut_is_not_fixed() -> None:
    found = judged(now("NEXTN", open_=False, lines=NEW))
    assert found.conclusion == "not_fixed"
    assert f"{RUNNER}:1 `is_eagle3` is false" in found.words


def test_an_open_guard_with_unchanged_numbers_is_not_fixed() -> None:
    assert judged(now(lines=OLD)).conclusion == "not_fixed"


@pytest.mark.parametrize("lines", [None, [], NEW[:9]])
def test_too_few_lines_leave_it_undecided(lines: list[str] | None) -> None:
    found = judged(now(lines=lines))
    assert found.conclusion == "undecided"
    assert "10 are needed" in found.words


def test_an_undecided_guard_leaves_it_undecided() -> None:
    state = now(lines=NEW)
    engine = replace(state.engine, verdicts={})
    assert judged(replace(state, engine=engine)).conclusion == "undecided"


def test_a_guard_that_is_open_whenever_the_line_is_called_is_open() -> None:
    state = now(lines=NEW)
    engine = replace(state.engine, verdicts={f"{RUNNER}:{n}": "whenever" for n in (2, 3)})
    assert judged(replace(state, engine=engine)).conclusion == "fixed"


def test_a_line_that_moved_is_found_again() -> None:
    moved = "# one\n# two\n" + SOURCE
    state = now(lines=NEW, source=moved, shift=2)
    assert [check.after for check in judged(state).checks if check.kind == "guard"] == ["always", "always"]


def test_a_line_that_is_gone_is_undecided_not_fixed() -> None:
    found = judged(now(lines=NEW, source="pass\n"))
    assert found.conclusion == "undecided"
    assert "not in the source any more" in found.words


def test_relocation_takes_the_nearest_line_of_the_same_text() -> None:
    engine = FakeEngine(tree=FakeTree({"a.py": "x\ny\nx\ny\nx\n"}))
    assert relocate(engine, TargetVerdict(path="a.py", line=4, text="x", verdict="never")) == (3, 5, 1)
    assert relocate(engine, TargetVerdict(path="a.py", line=1, text="z", verdict="never")) == ()
    assert relocate(engine, TargetVerdict(path="b.py", line=1, text="x", verdict="never")) == ()


@pytest.mark.parametrize("line", [decode_line(accept=0.0, speed=82.3), decode_line(accept=2.1, speed=0.0)])
def test_a_number_that_is_zero_tells_nothing_of_paying(line: str) -> None:
    found = judged(now(lines=[line] * 20), baseline=90.0)
    assert found.payoff is None
    assert "an accept length or a throughput is zero" in found.words


@pytest.mark.parametrize("digits", [400, 5000])
def test_what_a_log_writes_where_a_number_should_be_is_no_number(digits: int) -> None:
    line = decode_line(accept=2.1).replace("61.40", "9" * digits).replace("#running-req: 1,", f"#running-req: {'9' * digits},")
    found = judged(now(lines=[line] * 20), baseline=90.0)
    json.dumps(found.as_dict(), allow_nan=False)
    assert {one.metric: one.after for one in found.numbers}["throughput"] is None


def test_throughputs_of_several_ranks_are_not_compared_with_one() -> None:
    """Under data parallelism each rank writes its own part."""
    lines = [line for rank in ("DP0 TP0", "DP1 TP0") for line in [decode_line(accept=2.1, speed=82.3).replace("TP0", rank)] * 20]
    found = judged(now(lines=lines), baseline=90.0)
    (throughput,) = [one for one in found.numbers if one.metric == "throughput"]
    assert (throughput.comparable, throughput.why) == (False, "each rank tells its own: 1 rank before and 2 after")
    assert found.payoff is None and "2 ranks tell their own throughput each" in found.words
    same = verify(before(), now(lines=lines), numbers_before=numbers(lines), playbook=None, baseline=numbers(lines).get("throughput"))
    assert same.payoff is not None


def test_without_a_baseline_nothing_is_said_about_paying() -> None:
    assert judged(now(lines=NEW)).payoff is None


def test_a_run_without_findings_has_nothing_to_judge() -> None:
    found = verify(replace(before(), findings=()), now(lines=NEW), numbers_before=numbers(OLD))
    assert (found.conclusion, found.words.split(";")[0]) == ("undecided", "undecided: the stored run has nothing to judge again")


def test_a_run_without_findings_is_not_fixed_by_what_a_log_does_not_say() -> None:
    plan = Plan(log=(LogExpectation(pattern="falling back", present=False),))
    empty = replace(before(), findings=())
    found = verify(empty, now(lines=NEW), numbers_before=numbers(OLD), playbook=replace(PLAYBOOK, verify=plan))
    assert (found.conclusion, found.words.split(";")[0]) == ("undecided", "undecided: the stored run has nothing to judge again")


@pytest.mark.parametrize(("outcome", "conclusion"), [("silent", "fixed"), ("confirmed", "not_fixed"), ("undecided", "undecided")])
def test_the_runs_playbook_has_its_say(outcome: str, conclusion: str) -> None:
    found = judged(replace(now(lines=NEW), again=Again(playbook="p", outcome=outcome, why="a fact is missing")))
    assert found.conclusion == conclusion
    assert ("a fact is missing" in found.words) == (outcome != "silent")


@pytest.mark.parametrize(
    ("lines", "present", "status"),
    [(["capture ready"], True, "passed"), (["capture ready"], False, "failed"), ([], True, "failed"), (None, True, "undecided")],
)
def test_expected_log_lines(lines: list[str] | None, present: bool, status: str) -> None:
    plan = Plan(log=(LogExpectation(pattern="capture ready", present=present),))
    found = verify(before(), now(lines=lines), numbers_before=numbers([]), playbook=replace(PLAYBOOK, verify=plan))
    assert [check.status for check in found.checks if check.kind == "log"] == [status]


def test_numbers_of_another_release_are_shown_but_not_compared() -> None:
    state = replace(now(lines=NEW), numbers=numbers(NEW, "0.5.23"))
    found = judged(state)
    rate = next(one for one in found.numbers if one.metric == "accept_rate")
    assert not rate.comparable
    assert "accept rate" not in found.words


@pytest.mark.parametrize("options", [{}, {"baseline": 90.0}])
@pytest.mark.parametrize("lines", [None, NEW])
def test_the_json_form_fits_its_published_schema(lines: list[str] | None, options: dict[str, float]) -> None:
    plain = json.loads(json.dumps(judged(now(lines=lines), **options).as_dict()))
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(plain)


def test_a_line_of_the_same_place_is_itself_however_often_its_text_stands() -> None:
    engine = FakeEngine(tree=FakeTree({"a.py": "x\ny\nx\n"}))
    assert relocate(engine, TargetVerdict(path="a.py", line=3, text="x", verdict="never")) == (3,)
    longer = FakeEngine(tree=FakeTree({"a.py": "x = 10\nx = 1\n"}))
    assert relocate(longer, TargetVerdict(path="a.py", line=5, text="x = 1", verdict="never")) == (2,)


def test_a_moved_line_whose_text_is_there_twice_with_two_answers_is_undecided() -> None:
    state = now(lines=NEW, source=f"# moved\n{SOURCE}\n{SOURCE}")
    verdicts: dict[str, str | int] = {f"{RUNNER}:{line}": answer for line, answer in ((3, "always"), (4, "always"), (7, 6), (8, 6))}
    found = judged(replace(state, engine=replace(state.engine, verdicts=verdicts)))
    assert found.conclusion == "undecided"
    assert "there more than once" in found.words


def test_the_same_command_with_an_open_guard_was_fixed_by_something_else() -> None:
    found = judged(now("EAGLE", lines=NEW))
    assert found.conclusion == "fixed"
    assert "still runs with the command of the stored run" in next(check.why for check in found.checks if check.kind == "launch")


def test_what_changed_under_a_running_process_is_not_what_it_runs() -> None:
    found = judged(replace(now(lines=NEW), newer=(RUNNER, "a.py", "b.py", "c.py")))
    assert found.conclusion == "undecided"
    assert f"4 files changed after it began ({RUNNER}, a.py, b.py and 1 more): restart the server" in found.words
    old = judged(replace(now(lines=OLD), newer=(RUNNER,)))
    assert old.conclusion == "not_fixed"
    assert old.words.startswith("not fixed: accept_length") and "restart the server" in old.words


def test_a_log_of_the_process_before_says_nothing_of_this_one() -> None:
    found = judged(replace(now(lines=None), own_log=False))
    assert found.conclusion == "undecided"
    assert found.words.startswith("undecided: the log is this process's: the log's last start is that of the stored run")


@pytest.mark.parametrize(("present", "status"), [(True, "undecided"), (False, "undecided")])
def test_what_the_end_of_a_log_does_not_say_may_stand_before_it(present: bool, status: str) -> None:
    plan = Plan(log=(LogExpectation(pattern="capture ready", present=present),))
    state = replace(now(lines=["x"]), whole_log=False)
    found = verify(before(), state, numbers_before=numbers([]), playbook=replace(PLAYBOOK, verify=plan))
    assert [check.status for check in found.checks if check.kind == "log"] == [status]


def about_a_setting(**changes: Any) -> Investigation:
    """A run whose finding is a value: 8192 were asked, each rank got 2048, and the fix gives 8192."""
    base = founding()
    line = TargetVerdict(path=RUNNER, line=2, text="self.size = self.size // dp", verdict="always", setting="size")
    sets = (Change(name="size", from_=2048, to=8192),)
    counterfactual = Counterfactual(change=(Change(name="--size", from_=8192, to=32768),), opens=(), sets=sets)
    finding = replace(base.findings[0], targets=(line,), counterfactual=counterfactual, **changes)
    return replace(base, findings=(finding,))


def with_value(value: Any, asked: Any, *, source: str = "flag", status: str = "known", again: str = "confirmed") -> Now:
    effective = Effective(status=status, value=value if status == "known" else None, why="" if status == "known" else "torch is not known")
    row = Setting(name="size", flag="--size", asked=Asked(value=asked, source=source), effective=effective, verdict="overridden")
    engine = FakeEngine(tree=FakeTree({}), launch=Launch(argv=("serve", "--size", str(asked))), audited=AuditAnswer(settings=(row,)))
    return Now(engine=engine, facts=Facts(), log=None, numbers=numbers([]), again=Again(playbook="chunks", outcome=again))


@pytest.mark.parametrize(
    ("state", "conclusion", "status"),
    [
        (with_value(8192, 32768), "fixed", "passed"),  # as the fix was evaluated to make it, though the size is divided as ever
        (with_value(16384, 16384), "fixed", "passed"),  # another way: nothing divides it any more
        (with_value(2048, 8192), "not_fixed", "failed"),
        (with_value(4096, 16384), "not_fixed", "undecided"),  # the playbook, which finds its fault again, has the last word
        (with_value(4096, 16384, again="silent"), "undecided", "undecided"),
        (with_value(None, 8192, status="unknown", again="silent"), "undecided", "undecided"),
    ],
)
def test_of_a_finding_about_a_value_the_value_counts(state: Now, conclusion: str, status: str) -> None:
    found = verify(about_a_setting(), state, numbers_before=numbers([]))
    assert (found.conclusion, [check.status for check in found.checks if check.kind == "setting"]) == (conclusion, [status])
    assert not [check for check in found.checks if check.kind == "guard"], "the line that changes it may run as before"
    jsonschema.validate(found.as_dict(), json.loads(SCHEMA.read_text()))


def test_without_an_evaluated_fix_the_cause_says_what_it_was_and_should_be() -> None:
    cause = Cause(kind="flag", name="size", actual=2048, required=(8192,))
    run = about_a_setting(cause=cause)
    bare = replace(run, findings=(replace(run.findings[0], counterfactual=None),))
    assert verify(bare, with_value(8192, 4), numbers_before=numbers([])).conclusion == "fixed"
    assert verify(bare, with_value(2048, 4), numbers_before=numbers([])).conclusion == "not_fixed"
    other = replace(bare, findings=(replace(bare.findings[0], cause=replace(cause, name="--parallel")),))
    assert verify(other, with_value(4, 4), numbers_before=numbers([])).conclusion == "fixed"
    assert verify(other, with_value(2048, 4), numbers_before=numbers([])).conclusion == "not_fixed"


def test_a_setting_that_a_release_does_not_have_is_not_judged() -> None:
    state = replace(with_value(1, 1, again="silent"), engine=FakeEngine(tree=FakeTree({})))
    (check,) = [check for check in verify(about_a_setting(), state, numbers_before=numbers([])).checks if check.kind == "setting"]
    assert (check.status, check.why) == ("undecided", "this release has no such setting")

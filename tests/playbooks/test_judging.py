"""A playbook before an engine: states of targets, claims kind by kind, and what follows from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from agent.domain.facts import Facts
from agent.domain.investigation import Symptom
from agent.domain.launch import Launch
from agent.domain.playbook import Playbook
from agent.domain.values import Known, OneOf, Unknown
from agent.domain.verdict import Asked, AuditAnswer, ChangedBy, Effective, Guard, Operand, Place, Setting, WhyAnswer
from agent.library.reading import parse_playbook
from agent.subagents.playbook import PlaybookAnswer, investigate
from agent.subagents.playbook.targets import name_pattern, path_pattern
from tests.engines import FakeEngine, FakeTree

SOURCE = """\
class Base:
    def inherited(self): pass

class Runner(Base):
    def own(self):
        if self.fast:
            self.turbo(1)
        if self.slow:
            self.turbo(2)
        self.width = None

class Split(Base):
    size = 3

class Split:
    def only_here(self): pass
"""
TREE = FakeTree({"shop/run.py": SOURCE, "shop/sub/more.py": "class Other(Runner, extern.Thing):\n    pass\n"})
LAUNCH = Launch(argv=("serve", "--fast", "no"), env={"MODE": "a"})


def playbook(*, targets: list[Any] | None = None, hypotheses: list[Any] | None = None, **changes: Any) -> Playbook:
    base: dict[str, Any] = {
        "schema": "rca.playbook/1",
        "id": "demo",
        "title": "A demo",
        "summary": "Something is off.",
        "applies_to": [{"package": "shop"}],
        "match": {"symptom": ["slow"]},
        "targets": targets if targets is not None else [{"id": "turbo", "query": "call:turbo"}],
        "hypotheses": hypotheses
        or [
            {
                "id": "why",
                "claim": "--fast is {{ launch.flags.fast }}",
                "role": "cause",
                "checks": [{"verdict": {"target": "turbo", "is": "never"}}],
            }
        ],
        "cause": {"kind": "flag", "name": "--fast", "actual": "launch.flags.fast", "required": ["yes"]},
        "explanation": "Because --fast is {{ launch.flags.fast }}.",
        "fix": {"summary": "Pass yes.", "changes": [{"name": "--fast", "to": "yes"}], "warnings": ["Restart."]},
    }
    return parse_playbook(yaml.safe_dump({**base, **changes}).encode(), "demo.yaml")


def engine(**changes: Any) -> FakeEngine:
    given: dict[str, Any] = {"tree": TREE, "launch": LAUNCH, "verdicts": {"shop/run.py:7": 6, "shop/run.py:9": 8}}
    return FakeEngine(**{**given, **changes})


def judged(book: Playbook, asked: FakeEngine | None = None, **facts: Any) -> PlaybookAnswer:
    given: dict[str, Any] = {"package": "shop", "version": "1.0", "symptom": Symptom(text="slow"), "launch": LAUNCH}
    return investigate(book, asked or engine(), Facts(**{**given, **facts}))


def test_a_line_that_never_runs_is_confirmed_with_its_guard_and_an_evaluated_fix() -> None:
    opened = engine(verdicts={"shop/run.py:7": "always", "shop/run.py:9": "may"})
    answer = judged(playbook(), engine(changed=opened))
    assert answer.outcome == "confirmed"
    finding = answer.finding
    assert finding is not None and finding.guard is not None and finding.fix is not None and finding.counterfactual is not None
    assert (finding.guard.path, finding.guard.line, finding.guard.condition, finding.guard.truth) == (
        "shop/run.py",
        6,
        "self.fast",
        "false",
    )
    assert (finding.confidence, finding.summary) == ("proved", "Because --fast is no.")
    assert (finding.cause.name, finding.cause.actual, finding.cause.required) == ("--fast", "no", ("yes",))
    assert finding.fix.command == "serve --fast yes"
    assert [(place.path, place.line) for place in finding.counterfactual.opens] == [("shop/run.py", 7)], "what may run is not said to open"
    assert [(place.path, place.line) for place in finding.counterfactual.may] == [("shop/run.py", 9)]
    assert [step.role for step in finding.chain] == ["config", "guard", "effect"]


class Told(FakeEngine):
    """Its guards say where the value comes from: the nearest line first."""

    def why(self, query: str, *, counterfactuals: bool = True) -> WhyAnswer:
        found = super().why(query, counterfactuals=counterfactuals)
        origins = (Place(path="shop/set.py", line=2), Place(path="shop/kinds.py", line=1))
        operand = Operand(text="self.fast", value="Kind.SLOW", from_=origins)
        return replace(
            found, decisive=replace(found.decisive, operands=(operand,), decisive_operand="self.fast") if found.decisive else None
        )


def test_the_value_stands_beside_the_nearest_line_that_it_comes_from() -> None:
    files = {**TREE.contents, "shop/kinds.py": "SLOW = auto()\n", "shop/set.py": "class Set:\n    self.fast = kind_of(SLOW)\n"}
    finding = judged(playbook(), Told(tree=FakeTree(files), launch=LAUNCH, verdicts={"shop/run.py:7": 6, "shop/run.py:9": 8})).finding
    assert finding is not None
    assert [(step.text, step.value) for step in finding.chain if step.role == "definition"] == [
        ("SLOW = auto()", ""),
        ("self.fast = kind_of(SLOW)", "self.fast = Kind.SLOW"),
    ]


@pytest.mark.parametrize(
    ("verdicts", "outcome"),
    [
        ({"shop/run.py:7": 6, "shop/run.py:9": 8}, "confirmed"),
        ({"shop/run.py:7": 6, "shop/run.py:9": "always"}, "silent"),
        ({"shop/run.py:7": 6, "shop/run.py:9": "may"}, "undecided"),
        ({"shop/run.py:7": 6}, "undecided"),
        ({}, "undecided"),
        ({"shop/run.py:7": "always", "shop/run.py:9": "unknown"}, "silent"),
        ({"shop/run.py:7": "whenever", "shop/run.py:9": "unknown"}, "silent"),
    ],
)
def test_a_feature_is_off_only_if_every_place_is(verdicts: dict[str, Any], outcome: str) -> None:
    assert judged(playbook(), engine(verdicts=verdicts)).outcome == outcome


@pytest.mark.parametrize(
    ("verdicts", "outcome"),
    [
        ({"shop/run.py:7": 6, "shop/run.py:9": 8}, "silent"),
        ({"shop/run.py:7": 6, "shop/run.py:9": "always"}, "confirmed"),
        ({"shop/run.py:7": 6, "shop/run.py:9": "whenever"}, "confirmed"),
        ({"shop/run.py:7": 6, "shop/run.py:9": "may"}, "undecided"),
    ],
)
def test_a_line_that_should_rest_is_at_fault_if_some_place_runs(verdicts: dict[str, Any], outcome: str) -> None:
    target = {"id": "turbo", "query": "call:turbo", "expect": "rests"}
    hypothesis = {"id": "why", "claim": "x", "role": "cause", "checks": [{"verdict": {"target": "turbo", "is": "runs"}}]}
    assert judged(playbook(targets=[target], hypotheses=[hypothesis]), engine(verdicts=verdicts)).outcome == outcome


def test_a_target_that_the_release_does_not_have_leaves_it_undecided() -> None:
    answer = judged(playbook(targets=[{"id": "turbo", "query": "call:nowhere"}]))
    assert answer.outcome == "undecided"
    assert "this release has no call:nowhere" in answer.unknowns[0].why


def test_targets_and_claims_of_other_versions_are_left_out() -> None:
    targets = [{"id": "turbo", "query": "call:turbo"}, {"id": "later", "query": "call:nowhere", "versions": ">=2"}]
    checks = [{"verdict": {"target": "turbo", "is": "never"}}, {"guard": {"target": "later"}}]
    book = playbook(targets=targets, hypotheses=[{"id": "why", "claim": "x", "role": "cause", "checks": checks}])
    assert judged(book).outcome == "confirmed"
    assert judged(book, version="2.0").outcome == "undecided"


@pytest.mark.parametrize(
    ("hints", "lines"),
    [
        ({}, [7, 9]),
        ({"file": "shop/*.py"}, [7, 9]),
        ({"file": "shop/sub/*.py"}, []),
        ({"file": "**/run.py"}, [7, 9]),
        ({"text": r"turbo\(1"}, [7]),
        ({"text": "turbo.{{ launch.flags.one }}"}, [7]),
    ],
)
def test_hints_narrow_a_query(hints: dict[str, str], lines: list[int]) -> None:
    launch = Launch(argv=("serve", "--one", "1"))
    text = hints.get("text", "").replace("turbo.{{", r"turbo\({{")
    book = playbook(targets=[{"id": "turbo", "query": "call:turbo", **hints, **({"text": text} if text else {})}])
    answer = judged(book, engine(launch=launch), launch=launch)
    assert [place.line for place in answer.targets[0].places] == lines


def test_a_value_that_is_no_name_never_becomes_part_of_a_query() -> None:
    launch = Launch(argv=("serve", "--one", "(a+)+$"))
    answer = judged(playbook(targets=[{"id": "turbo", "query": "call:turbo", "text": "{{ launch.flags.one }}"}]), launch=launch)
    assert answer.outcome == "undecided"
    assert "is no name" in answer.targets[0].why


def setting(asked: Any, effective: Effective, changed: bool = True) -> AuditAnswer:
    guard = Guard(path="shop/args.py", line=3, condition="self.dp > 1", truth="true", function="f")
    by = (ChangedBy(path="shop/args.py", line=4, text="self.size //= 8", guards=(guard,)),) if changed else ()
    return AuditAnswer(
        settings=(Setting(name="size", flag="--size", asked=Asked(value=asked, source="flag"), effective=effective, changed_by=by),)
    )


@pytest.mark.parametrize(
    ("effective", "outcome"),
    [
        (Effective(status="known", value=4), "confirmed"),
        (Effective(status="known", value=32), "silent"),
        (Effective(status="candidates", values=(4, 32)), "undecided"),
        (Effective(status="unknown", why="dp is not known"), "undecided"),
    ],
)
def test_a_setting_that_is_not_as_asked(effective: Effective, outcome: str) -> None:
    checks = [{"guard": {"target": "size", "condition": "dp > 1", "truth": "true"}}]
    book = playbook(
        targets=[{"id": "size", "setting": "size"}], hypotheses=[{"id": "why", "claim": "x", "role": "cause", "checks": checks}]
    )
    answer = judged(book, engine(audited=setting(32, effective)))
    assert answer.outcome == outcome
    if answer.finding is not None:
        assert answer.finding.guard is not None
        assert (answer.finding.guard.line, answer.finding.guard.condition) == (3, "self.dp > 1")
        assert [(step.role, step.line) for step in answer.finding.chain[1:]] == [("guard", 3), ("effect", 4)]


def test_the_guard_of_a_supporting_target_is_told_where_no_required_one_has_any() -> None:
    target = {"id": "size", "setting": "size", "role": "supporting"}
    book = playbook(targets=[target], hypotheses=[{"id": "why", "claim": "x", "role": "cause", "checks": [{"fact": "1 == 1"}]}])
    finding = judged(book, engine(audited=setting(32, Effective(status="known", value=4)))).finding
    assert finding is not None and finding.guard is not None
    assert (finding.guard.line, finding.guard.condition) == (3, "self.dp > 1")


def test_of_several_guards_the_one_that_the_cause_claims_is_told() -> None:
    outer = Guard(path="shop/args.py", line=2, condition="is_sparse(config)", truth="true", function="f")
    row = setting(32, Effective(status="known", value=4)).settings[0]
    (changed,) = row.changed_by
    both = AuditAnswer(settings=(replace(row, changed_by=(replace(changed, guards=(outer, *changed.guards)),)),))
    checks = [{"guard": {"target": "size", "condition": "is_sparse", "truth": "true"}}]
    book = playbook(
        targets=[{"id": "size", "setting": "size"}], hypotheses=[{"id": "why", "claim": "x", "role": "cause", "checks": checks}]
    )
    finding = judged(book, engine(audited=both)).finding
    assert finding is not None and finding.guard is not None
    assert (finding.guard.line, finding.guard.condition) == (2, "is_sparse(config)")


def status(check: dict[str, Any], asked: FakeEngine | None = None, **facts: Any) -> tuple[str, str]:
    """Status and reason of one claim."""
    hypotheses = [
        {"id": "why", "claim": "x", "role": "cause", "checks": [{"fact": "1 == 1"}]},
        {"id": "it", "claim": "x", "checks": [check]},
    ]
    found = judged(playbook(hypotheses=hypotheses), asked, **facts).hypotheses[1]
    return found.status, found.why


CONFIGS = {"target": {"architectures": ["Other"], "text_config": {"width": 7}}}


@pytest.mark.parametrize(
    ("check", "expected", "why"),
    [
        ({"guard": {"target": "turbo", "condition": "fast"}}, "confirmed", "shop/run.py:6 `self.fast` is false"),
        ({"guard": {"target": "turbo", "condition": "never_there"}}, "refuted", "another guard decides: shop/run.py:6"),
        ({"guard": {"target": "turbo", "condition": "fast", "truth": "true"}}, "refuted", "shop/run.py:6 `self.fast` is false"),
        ({"verdict": {"target": "turbo", "is": "never"}}, "confirmed", "never runs"),
        ({"verdict": {"target": "turbo", "is": "runs"}}, "refuted", "never runs"),
        ({"method": {"class": "'Runner'", "name": "own"}}, "confirmed", "shop/run.py:5 defines Runner.own"),
        ({"method": {"class": "'Runner'", "name": "inherited"}}, "confirmed", "shop/run.py:2 defines Base.inherited"),
        ({"method": {"class": "config.target.architectures[0]", "name": "inherited"}}, "confirmed", "defines Base.inherited"),
        ({"method": {"class": "'Other'", "name": "nothing"}}, "refuted", "bases outside the tree: Thing"),
        ({"method": {"class": "'Other'", "name": "nothing", "present": False}}, "confirmed", "neither Other nor a base"),
        ({"method": {"class": "'Split'", "name": "only_here"}}, "undecided", "defines Split.only_here"),
        ({"method": {"class": "'Split'", "name": "size"}}, "undecided", "defines Split.size"),
        ({"method": {"class": "'Nobody'", "name": "x"}}, "undecided", "the tree has no class Nobody"),
        ({"method": {"class": "config.target.missing", "name": "x"}}, "undecided", "is absent"),
        ({"file": {"path": "shop/*.py"}}, "confirmed", "shop/run.py is there"),
        ({"file": {"path": "shop/speculative_*.py"}}, "refuted", "no file"),
        ({"file": {"path": "shop/x.py", "present": False}}, "confirmed", "no file"),
        ({"text": {"pattern": r"turbo\(2", "path": "**/*.py"}}, "confirmed", "shop/run.py:9"),
        ({"text": {"pattern": "nowhere", "path": "shop/**"}}, "refuted", "no line in shop/**"),
        ({"log": {"pattern": "gave up"}}, "confirmed", "the log says `worker gave up`"),
        ({"log": {"pattern": "gave in", "present": False}}, "confirmed", "no line of the log"),
        ({"config": {"key": "target.width"}}, "confirmed", "target config.json has width = 7"),
        ({"config": {"key": "target.height", "present": False}}, "confirmed", "target config.json has no height"),
        ({"config": {"key": "draft.width", "present": False}}, "undecided", "it was not read"),
        ({"fact": "launch.flags.fast == 'no'"}, "confirmed", "launch.flags.fast = 'no'"),
        ({"fact": "launch.flags.slow == 'no'"}, "refuted", "launch.flags.slow is absent"),
        ({"fact": "host.gpus > 1"}, "undecided", "gpus was not collected"),
        ({"value": {"setting": "mode", "is": "effective == 'a'"}}, "confirmed", "mode is 'a'"),
        ({"value": {"setting": "mode", "is": "effective == 'b'"}}, "refuted", "mode is 'a'"),
        ({"value": {"setting": "few", "is": "effective < 3"}}, "confirmed", "few is one of 1, 2"),
        ({"value": {"setting": "few", "is": "effective < 2"}}, "undecided", "few is one of 1, 2"),
        ({"value": {"setting": "none", "is": "effective < 2"}}, "undecided", "nobody knows"),
    ],
)
def test_claims(check: dict[str, Any], expected: str, why: str) -> None:
    settings = {"mode": Known(value="a"), "few": OneOf(values=(1, 2)), "none": Unknown(reason="nobody knows")}
    found, reason = status(check, engine(settings=settings), configs=CONFIGS, log=("start", "worker gave up"))
    assert (found, why in reason) == (expected, True), reason


def test_what_was_only_read_or_could_not_be_decided_is_an_assumption() -> None:
    """A playbook whose targets need not be at fault says what its words rest on."""
    cause = {"id": "why", "claim": "x", "role": "cause", "checks": [{"text": {"pattern": "turbo\\(", "path": "shop/*.py"}}]}
    target = {"id": "turbo", "query": "call:turbo", "role": "supporting", "why": "runs fast"}
    answer = judged(playbook(targets=[target], hypotheses=[cause]), engine(verdicts={}))
    assert answer.finding is not None and answer.finding.confidence == "assuming"
    undecided, words = answer.finding.assumptions
    assert undecided.startswith("that it runs fast, which is not decided: shop/run.py:7")
    assert words == "that the lines which were found by their words run: no guard on the way to them was evaluated"
    decided = judged(playbook(targets=[target], hypotheses=[cause])).finding
    assert decided is not None and decided.assumptions == ()


@pytest.mark.parametrize(
    ("effective", "expected", "why"),
    [
        (Effective(status="known", value="0"), "confirmed", "env:FAST is '0'"),
        (Effective(status="candidates", values=("0", "1")), "undecided", "env:FAST is one of '0', '1'"),
        (Effective(status="unknown", why="nobody knows"), "undecided", "nobody knows"),
    ],
)
def test_a_variable_is_what_the_program_makes_of_it(effective: Effective, expected: str, why: str) -> None:
    """The engine's own answers are about configuration; what becomes of the environment, its audit says."""
    variable = Setting(name="env:FAST", flag="", asked=Asked(value="1", source="env"), effective=effective)
    check = {"value": {"setting": "env:FAST", "is": "effective == '0'"}}
    found, reason = status(check, engine(audited=AuditAnswer(settings=(variable,))))
    assert (found, why in reason) == (expected, True), reason
    assert status(check) == ("undecided", "env:FAST: nothing in this release reads the environment variable FAST")


def test_a_guard_that_stands_otherwise_on_a_path_refutes() -> None:
    asked = engine(verdicts={"shop/run.py:7": "whenever", "shop/run.py:9": "may"})
    assert status({"guard": {"target": "turbo", "condition": "slow", "truth": "true"}}, asked)[0] == "refuted"
    assert status({"guard": {"target": "turbo", "condition": "other", "truth": "true"}}, asked)[0] == "refuted"
    unsure = engine(verdicts={"shop/run.py:7": "may", "shop/run.py:9": "may"})
    assert status({"guard": {"target": "turbo", "condition": "other", "truth": "true"}}, unsure)[0] == "undecided"


def test_without_a_log_nothing_is_absent_from_it() -> None:
    assert status({"log": {"pattern": "x", "present": False}}) == ("undecided", "the log was not read")


def test_a_wrong_cause_is_silent_and_an_undecided_one_undecided() -> None:
    wrong = [{"id": "why", "claim": "x", "role": "cause", "checks": [{"fact": "launch.flags.fast == 'yes'"}]}]
    open_ = [{"id": "why", "claim": "x", "role": "cause", "checks": [{"fact": "host.gpus > 1"}]}]
    assert judged(playbook(hypotheses=wrong)).outcome == "silent"
    answer = judged(playbook(hypotheses=open_))
    assert (answer.outcome, answer.unknowns[-1].what) == ("undecided", "demo: why")


def test_the_cause_that_holds_brings_its_own_fix() -> None:
    hypotheses = [
        {"id": "a", "claim": "x", "role": "cause", "checks": [{"fact": "launch.env.MODE == 'b'"}]},
        {
            "id": "b",
            "claim": "x",
            "role": "cause",
            "checks": [{"fact": "launch.env.MODE == 'a'"}],
            "cause": {"kind": "env", "name": "env:MODE", "actual": "launch.env.MODE"},
            "fix": {"summary": "Set MODE.", "changes": [{"name": "env:MODE", "formula": "'c'"}]},
        },
    ]
    finding = judged(playbook(hypotheses=hypotheses)).finding
    assert finding is not None and finding.fix is not None
    assert (finding.cause.name, finding.cause.actual, finding.fix.command) == ("env:MODE", "a", "MODE=c serve --fast no")


def test_an_obstacle_warns_of_the_fix() -> None:
    hypotheses = [
        {"id": "why", "claim": "x", "role": "cause", "checks": [{"verdict": {"target": "turbo", "is": "never"}}]},
        {
            "id": "wall",
            "claim": "There is a wall.",
            "role": "obstacle",
            "checks": [{"file": {"path": "shop/run.py"}}],
            "because": "It is high.",
        },
        {"id": "hole", "claim": "There is a hole.", "role": "obstacle", "checks": [{"file": {"path": "shop/hole.py"}}]},
    ]
    finding = judged(playbook(hypotheses=hypotheses)).finding
    assert finding is not None and finding.fix is not None
    assert finding.fix.warnings == ("Restart.", "There is a wall. It is high. (shop/run.py is there)")


def test_a_finding_that_asked_no_code_is_only_suspected() -> None:
    hypotheses = [
        {"id": "why", "claim": "x", "role": "cause", "checks": [{"fact": "launch.flags.fast == 'no'"}, {"log": {"pattern": "gave up"}}]}
    ]
    finding = judged(playbook(targets=[], hypotheses=hypotheses), log=("worker gave up",)).finding
    assert finding is not None
    assert (finding.confidence, finding.guard) == ("suspected", None)


def test_assumptions_of_the_engine_are_the_findings() -> None:
    class Assuming(FakeEngine):
        def why(self, query: str, *, counterfactuals: bool = True) -> Any:
            return replace(super().why(query), assumptions=("no plugin replaces it",))

    finding = judged(playbook(), Assuming(tree=TREE, launch=LAUNCH, verdicts={"shop/run.py:7": 6, "shop/run.py:9": 8})).finding
    assert finding is not None
    assert (finding.confidence, finding.assumptions) == ("assuming", ("no plugin replaces it",))


def test_numbers_are_explained_with_their_meaning_and_unknown_ones_left_out() -> None:
    numbers = [
        {"formula": "config.target.width", "means": "the width", "instead": "3 * config.target.width", "instead_means": "three of them"},
        {"formula": "config.draft.width", "means": "the draft's"},
    ]
    answer = judged(playbook(numbers=numbers), configs=CONFIGS)
    assert [(one.number, one.formula) for one in answer.numbers] == [
        (7, "config.target.width: the width"),
        (21, "3 * config.target.width = 3 x 7: three of them"),
    ]


def test_a_text_with_a_hole_says_so() -> None:
    answer = judged(playbook(explanation="{{ config.target.width }}"))
    assert answer.finding is not None
    assert "text not complete" in answer.finding.summary


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("a/*.py", "a/b.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/**", "a/b/c.py", True),
        ("a/**/*.py", "a/c.py", True),
        ("**/c.py", "a/b/c.py", True),
        ("**/c.py", "c.py", True),
        ("a/?.py", "a/b.py", True),
        ("a/b.py", "a/bxpy", False),
    ],
)
def test_path_patterns(glob: str, path: str, fits: bool) -> None:
    assert bool(path_pattern(glob).fullmatch(path)) is fits


def test_name_patterns() -> None:
    assert name_pattern("Runner.*").fullmatch("Runner.own")
    assert not name_pattern("Runner.*").fullmatch("Other.own")

"""A finished run as a playbook draft: lines become queries, what was read becomes conditions and tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from agent.domain.errors import UsageError
from agent.domain.investigation import Cause, Investigation, NumberExplained, TargetVerdict
from agent.domain.playbook import CodeTarget
from agent.library.reading import parse_playbook
from agent.library.templates import render
from agent.subagents.playbook.draft import draft, query_of
from agent.subagents.playbook.draft_tests import Remembered
from agent.subagents.playbook.origin import Origin
from tests.engines import FakeEngine, FakeTree
from tests.reports.samples import RUNNER, founding, nothing_found

LAYERS = "config.draft.eagle_config.eagle_aux_hidden_state_layer_ids"
CONFIGS = {
    "target": ("/shared/kimi-k2.5-int4/config.json", {"hidden_size": 7168}),
    "draft": ("/data/eagle3/output_10k_sglang/4/config.json", {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [2, 30, 58]}}),
}
REMEMBERED = Remembered(configs=CONFIGS, facts={"torch.cuda.is_available": True})


def run(**changes: Any) -> Investigation:
    numbers = (
        NumberExplained(number=7168, formula="config.target.hidden_size: the width of one hidden state"),
        NumberExplained(number=21504, formula=f"len({LAYERS}) * config.target.hidden_size = 3 x 7168"),
        NumberExplained(number=1, formula="accept length without gain"),
    )
    return founding(numbers=numbers, **changes)


@pytest.mark.parametrize(
    ("text", "query", "pattern"),
    [
        ("self.eagle_use_aux_hidden_state = True", "assign:eagle_use_aux_hidden_state", "= True$"),
        ("self.ids = config[", "assign:ids", ""),
        ("chunk: int = 7", "assign:chunk", "= 7$"),
        ("self.model.set_eagle3_layers_to_capture(", "call:set_eagle3_layers_to_capture", ""),
        ("return run(a, b)", "call:run", ""),
        ("if mode == 'triton':", "string:triton", ""),
        ("continue", "a/b.py:3", ""),
        ("if a == b:", "a/b.py:3", ""),
    ],
)
def test_a_line_becomes_a_query(text: str, query: str, pattern: str) -> None:
    assert query_of(TargetVerdict(path="a/b.py", line=3, text=text, verdict="never")) == (query, pattern)


def test_the_draft_of_the_founding_run_is_a_playbook() -> None:
    content = draft(run(), "mine", REMEMBERED, None)
    playbook = parse_playbook(yaml.safe_dump(content, sort_keys=False).encode(), "mine.yaml")
    queries = [(target.query, target.file, target.text) for target in playbook.targets if isinstance(target, CodeTarget)]
    assert queries == [
        ("assign:eagle_use_aux_hidden_state", "sglang/srt/model_executor/**", "= True$"),
        ("call:set_eagle3_layers_to_capture", "sglang/srt/model_executor/**", ""),
    ]
    assert [formula.text for formula in playbook.match.when] == [
        "launch.flags.speculative_algorithm == 'EAGLE'",
        "present(config.target.hidden_size)",
        f"present({LAYERS})",
    ]
    assert [formula.text for formula in playbook.match.numbers] == [
        "config.target.hidden_size",
        f"len({LAYERS}) * config.target.hidden_size",
    ]
    assert content["hypotheses"][0]["checks"][-1] == {
        "guard": {"target": "eagle-use-aux-hidden-state", "condition": r"\bis_eagle3\b", "truth": "false"}
    }
    assert content["cause"] == {
        "kind": "flag",
        "name": "--speculative-algorithm",
        "actual": "launch.flags.speculative_algorithm",
        "required": ["EAGLE3"],
    }
    assert content["fix"]["changes"] == [{"name": "--speculative-algorithm", "to": "EAGLE3"}]


def test_the_draft_brings_the_runs_launch_and_the_launch_under_its_fix_as_tests() -> None:
    faulty, healthy = draft(run(), "mine", REMEMBERED, None)["tests"]
    assert (faulty["expect"], faulty["guard"], faulty["assume"]) == (
        "confirmed",
        {"path": RUNNER, "line": 345},
        {"torch.cuda.is_available": True},
    )
    assert (faulty["target"], faulty["draft"]) == ("/shared/kimi-k2.5-int4", "/data/eagle3/output_10k_sglang/4")
    assert faulty["models"][faulty["target"]] == {"hidden_size": 7168}
    assert healthy["expect"] == "silent"
    assert "EAGLE3" in healthy["launch"] and "EAGLE" not in healthy["launch"]


def test_a_relative_model_path_stays_as_the_launch_names_it() -> None:
    base = run()
    assert base.launch is not None
    launch = replace(base.launch, argv=("serve", "--model-path", "models/x"), cwd="/srv")
    kept = Remembered(configs={"target": ("/srv/models/x/config.json", {"a": 1})}, facts={})
    assert draft(replace(base, launch=launch), "mine", kept, None)["tests"][0]["target"] == "models/x"


def test_a_model_from_the_download_cache_goes_by_its_name() -> None:
    base = run()
    assert base.launch is not None
    launch = replace(base.launch, argv=("serve", "--model-path", "org/name"))
    kept = Remembered(configs={"target": ("/root/.cache/hub/models--org--name/snapshots/abc/config.json", {"a": 1})}, facts={})
    assert draft(replace(base, launch=launch), "mine", kept, None)["tests"][0]["target"] == "org/name"


def test_a_query_that_means_too_much_is_narrowed_to_the_file() -> None:
    finding = replace(run().findings[0], targets=(TargetVerdict(path="a/b.py", line=2, text="turbo(1)", verdict="never"),))
    tree = FakeTree({"a/b.py": "if fast:\n    turbo(1)\n", "a/c.py": "turbo(1)\n"})
    engine = FakeEngine(tree=tree, verdicts={"a/b.py:2": 1, "a/c.py:1": "always"})
    (target,) = draft(run(findings=(finding,)), "mine", REMEMBERED, engine)["targets"]
    assert (target["query"], target["file"]) == ("call:turbo", "a/b.py")


def test_a_line_that_no_query_tells_apart_is_named_by_its_place() -> None:
    finding = replace(run().findings[0], targets=(TargetVerdict(path="a/b.py", line=2, text="turbo(1)", verdict="never"),))
    tree = FakeTree({"a/b.py": "if fast:\n    turbo(1)\nturbo(1)\n"})
    engine = FakeEngine(tree=tree, verdicts={"a/b.py:2": 1, "a/b.py:3": "always"})
    (target,) = draft(run(findings=(finding,)), "mine", REMEMBERED, engine)["targets"]
    assert (target["query"], target["file"]) == ("a/b.py:2", "")


def test_words_of_a_host_that_look_like_a_template_stay_words() -> None:
    hostile = "{{ 7 * 7 }} {%- endraw -%} {{ launch }} {# gone #} {"
    finding = replace(run().findings[0], summary=hostile)
    content = draft(run(findings=(finding,)), "mine", REMEMBERED, None)
    assert render(content["explanation"], {}) == hostile


def test_a_run_without_a_finding_gives_no_playbook_and_says_why() -> None:
    with pytest.raises(UsageError, match="found no cause \\(no fault found\\)"):
        draft(nothing_found(), "mine", REMEMBERED, None)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"confidence": "suspected"}, "is only suspected"),
        ({"targets": (), "counterfactual": None}, "names no line of code and no setting"),
    ],
)
def test_a_finding_that_proves_nothing_gives_no_playbook_and_says_why(changes: dict[str, Any], why: str) -> None:
    unsaid = run(findings=(replace(run().findings[0], **changes),))
    with pytest.raises(UsageError, match=f"{why}, and its playbook eagle3-aux-capture is not at hand"):
        draft(unsaid, "mine", REMEMBERED, None)
    with pytest.raises(UsageError, match="no playbook stands behind it"):
        draft(replace(unsaid, playbook=""), "mine", REMEMBERED, None)
    with pytest.raises(UsageError, match="would prove nothing"):
        draft(unsaid, "mine", REMEMBERED, None, origin(title="about something else"))


def test_a_run_of_an_unknown_release_gives_no_playbook_and_says_why() -> None:
    base = run()
    assert base.subject is not None
    with pytest.raises(UsageError, match=r"the release that run \S+ read is not known"):
        draft(replace(base, subject=replace(base.subject, version="")), "mine", REMEMBERED, None)


def origin(**changes: Any) -> Origin:
    """The playbook that the run followed: it asks the log and the launch, and no line."""
    content = {
        "schema": "rca.playbook/1",
        "id": "eagle3-aux-capture",
        "title": run().findings[0].title,
        "summary": "s",
        "applies_to": [{"package": "sglang"}],
        "match": {"symptom": ["dim"], "log": ["falling back"]},
        "targets": [{"id": "size", "setting": "chunked_prefill_size", "fault": "asked > effective"}],
        "hypotheses": [{"id": "log", "claim": "c", "role": "cause", "checks": [{"log": {"pattern": "accept len: 1\\.00"}}]}],
        "cause": {"kind": "code", "name": "x"},
        "explanation": "e",
        "fix": {"summary": "f"},
        **changes,
    }
    return Origin(playbook=parse_playbook(yaml.safe_dump(content).encode(), "origin.yaml"), content=content)


def test_a_finding_without_a_line_is_asked_again_as_its_playbook_asks_it() -> None:
    unsaid = run(findings=(replace(run().findings[0], confidence="suspected", targets=(), guard=None),))
    log = ("server_args=...", "accept len: 1.00, x", "accept len: 1.00, x", "ready")
    content = draft(unsaid, "mine", replace(REMEMBERED, log=log), None, origin())
    playbook = parse_playbook(yaml.safe_dump(content).encode(), "mine.yaml")
    assert (playbook.id, playbook.applies_to[0].versions, playbook.hypotheses[0].claim) == ("mine", "==0.5.9", "c")
    assert [(test.expect, test.log) for test in playbook.tests] == [("confirmed", log[1:2]), ("silent", log[1:2])]
    said_nothing = draft(unsaid, "mine", replace(REMEMBERED, log=("starting", "ready")), None, origin())
    assert said_nothing["tests"][0]["log"] == ["ready"], "a log that was read and says nothing of it"
    assert "log" not in draft(unsaid, "mine", REMEMBERED, None, origin())["tests"][0], "a log that was not read"


def test_a_setting_at_fault_stays_a_setting() -> None:
    line = TargetVerdict(path="sglang/srt/server_args.py", line=9, text="self.size = 1", verdict="always", setting="chunked_prefill_size")
    cause = Cause(kind="flag", name="--chunked-prefill-size", actual=2048, required=(8192,))
    base = run()
    assert base.launch is not None
    launch = replace(base.launch, argv=("serve", "--chunked-prefill-size", "8192"))
    finding = replace(base.findings[0], targets=(line,), cause=cause, counterfactual=None, guard=None)
    content = draft(replace(base, findings=(finding,), launch=launch), "mine", REMEMBERED, None)
    assert content["targets"] == [{"id": "chunked-prefill-size", "setting": "chunked_prefill_size", "fault": "asked != effective"}]
    assert content["hypotheses"][0]["checks"] == [{"value": {"setting": "chunked_prefill_size", "is": "effective == 2048"}}]
    assert content["match"]["when"][0] == "launch.flags.chunked_prefill_size == 8192", "what the launch says, not what became of it"
    assert content["cause"]["actual"] == "setting.chunked_prefill_size"
    parse_playbook(yaml.safe_dump(content).encode(), "mine.yaml")
    followed = draft(replace(base, findings=(finding,), launch=launch), "mine", REMEMBERED, None, origin())
    assert followed["targets"][0]["fault"] == "asked > effective", "as the playbook that was followed sees it"


def test_a_value_that_was_calculated_is_calculated_again() -> None:
    fix = {"summary": "f", "changes": [{"name": "--speculative-algorithm", "formula": "upper(launch.flags.speculative_algorithm)"}]}
    content = draft(run(), "mine", REMEMBERED, None, origin(fix=fix))
    assert content["fix"]["changes"] == [{"name": "--speculative-algorithm", "formula": "upper(launch.flags.speculative_algorithm)"}]
    other = draft(run(), "mine", REMEMBERED, None, origin(fix=fix, title="about something else"))
    assert other["fix"]["changes"] == [{"name": "--speculative-algorithm", "to": "EAGLE3"}]

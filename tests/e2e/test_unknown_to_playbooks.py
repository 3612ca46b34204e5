"""A symptom that no shipped playbook explains and no setting shows, with every playbook in the library: a warning in the log (S09 of the
public cases). The hop from the message to the condition that prints it is the model's, the verdict is the engine's. The trap, to say that
the checkpoint holds no scales, is tried as well: it can be claimed in no way that the source confirms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.demo.case import DemoCase
from agent.demo.stage import Stage
from tests.e2e.servers import Outcome, login, rca, serving
from tests.llm.endpoint import Endpoint, Exchange, calls, says, serving_beside
from tests.sshd import Sshd
from tests.wheels import WheelTree

CASES = Path(__file__).parents[1] / "data" / "cases" / "cases.jsonl"
CASE: dict[str, Any] = next(row for line in CASES.read_text("utf-8").splitlines() if (row := json.loads(line))["id"] == "S09")
RUNNER = "sglang/srt/model_executor/model_runner.py"
GUARD, TARGET = CASE["expect"]["guard"]["line"], CASE["targets"][0]["line"]
[MODEL] = CASE["models"]
CONFIG = f"{MODEL}/config.json"
LOG = f"Load weight begin.\n{CASE['symptom'].split(chr(34))[1]}. This may lead to less accurate results!\n"

Call = tuple[str, dict[str, Any]]
Turn = Sequence[Call] | Callable[[str], Sequence[Call]]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, wheel_tree: WheelTree) -> Iterator[Stage]:
    case = DemoCase(
        title=CASE["id"],
        symptom=CASE["symptom"],
        package=CASE["package"],
        version=CASE["release"],
        wheel_bytes=0,
        argv=tuple(CASE["argv"]),
        models={place: json.dumps(config, indent=1) for place, config in CASE["models"].items()},
        log=LOG,
    )
    with serving(tmp_path_factory.mktemp("stage"), case, wheel_tree(case.package, case.version)) as found:
        yield found


@pytest.fixture(scope="module")
def run(stage: Stage, sshd: Sshd, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Outcome]:
    home = tmp_path_factory.mktemp("home")

    def ask(*more: str) -> Outcome:
        where = [*login(sshd), "--pid", str(stage.pid)]
        return rca(home, "run", *where, "--symptom", CASE["symptom"], "--format", "json", *more, timeout=1800)

    return ask


# --- a model whose every part is written down ----------------------------------------------------------------------------------


def read_above(told: str) -> Sequence[Call]:
    """The lines above the message, wherever the search found it."""
    found = re.search(rf"{re.escape(RUNNER)}:(\d+)", told)
    assert found, "the message stands in the code"
    line = int(found.group(1))
    return [("read_lines", {"path": RUNNER, "start": line - 22, "end": line})]


def conclude_from_code(told: str) -> Sequence[Call]:
    """The condition whose other branch prints the message, and the first line below it."""
    lines = {int(number): text for number, text in re.findall(r"^(\d+): (.*)$", told, re.M)}
    condition = next((number for number, text in lines.items() if "quantization_param_path is not None" in text), GUARD)
    return [conclude({"kind": "guard_false", "path": RUNNER, "line": condition, "target": f"{RUNNER}:{condition + 2}"})]


def conclude(*claims: Any) -> Call:
    return ("conclude", {"verdict": "confirmed", "claims": list(claims)})


FINDS, ACCUSES = "a condition prints the warning whatever the checkpoint holds", "the checkpoint holds no scales"
PARTS: Mapping[str, Sequence[Turn]] = {
    FINDS: [[("grep", {"pattern": "no scaling factors", "scope": RUNNER})], read_above, conclude_from_code],
    ACCUSES: [
        [("config_value", {"file": CONFIG, "key": "quantization_config"})],
        [
            conclude(
                {"kind": "value_is", "name": f"config:{CONFIG}:quantization_config.kv_cache_scheme", "value": None},
                {"kind": "pattern_absent", "pattern": "k_scale", "scope": "sglang/srt/layers/quantization"},
            )
        ],
    ],
}
PLANNER: Sequence[Turn] = [[("grep", {"pattern": "no scaling factors"})], [("propose", {"hypotheses": list(PARTS)})]]


async def plays(exchange: Exchange) -> None:
    """Each role its part; a conclusion that is given back is given again."""
    messages = exchange.body["messages"]
    if messages[0]["content"].startswith("You summarise"):
        return await says("The checkpoint was saved without scales [h2.1].")(exchange)
    plans = messages[0]["content"].startswith("You plan")
    script = PLANNER if plans else next(turns for part, turns in PARTS.items() if f"\n{part}\n" in messages[1]["content"])
    turn = script[min(sum(one["role"] == "assistant" for one in messages), len(script) - 1)]
    return await calls(*(turn(messages[-1]["content"]) if callable(turn) else turn))(exchange)


@pytest.fixture(scope="module")
def asked(run: Callable[..., Outcome]) -> Outcome:
    return with_model(run)[0]


def with_model(run: Callable[..., Outcome], *more: str) -> tuple[Outcome, Endpoint]:
    with serving_beside(plays) as endpoint:
        return run("--model", "m", "--base-url", endpoint.url, "--budget-seconds", "1500", *more), endpoint


# --- the case ------------------------------------------------------------------------------------------------------------------


def test_no_playbook_and_no_setting_explains_it(run: Callable[..., Outcome]) -> None:
    alone = run()
    assert alone.code == 1 and alone.json["findings"] == []
    assert not [one for one in alone.json["hypotheses"] if one["status"] == "confirmed"]


def test_the_model_finds_the_condition_and_the_engine_agrees(asked: Outcome) -> None:
    assert asked.code == 0, asked.err
    [finding] = asked.json["findings"]
    guard = finding["guard"]
    assert (guard["path"], guard["line"], guard["truth"]) == (CASE["expect"]["guard"]["file"], GUARD, "false")
    assert [(one["path"], one["line"], one["verdict"]) for one in finding["targets"]] == [(RUNNER, TARGET, "never")]
    assert [(one["line"], one["role"]) for one in finding["chain"]][-2:] == [(GUARD, "guard"), (TARGET, "effect")]
    known = {item["id"] for item in asked.json["evidence"]}
    assert finding["cause"]["evidence"] and set(finding["cause"]["evidence"]) <= known


def test_what_ties_it_to_the_symptom_is_the_message_and_stays_an_assumption(asked: Outcome) -> None:
    [finding] = asked.json["findings"]
    assert finding["confidence"] == "assuming" and "proposed by a language model" in finding["assumptions"][0]
    assert "no scaling factors provided defaulting" in finding["assumptions"][0]


def test_the_checkpoint_is_not_accused(asked: Outcome) -> None:
    """Its claims were checked, refuted and told with what is there instead; the words of the summary went with them."""
    [ruled_out] = [one for one in asked.json["hypotheses"] if one["status"] == "refuted" and "kv_cache_scheme" in one["claim"]]
    assert "'num_bits': 8" in ruled_out["why"] and ruled_out["evidence"]
    assert "kv_cache_scheme" not in json.dumps(asked.json["findings"])
    assert "saved without scales" not in asked.out


def test_nothing_is_changed_about_a_launch_that_needs_no_change(asked: Outcome) -> None:
    [finding] = asked.json["findings"]
    assert finding["fix"] is None, "no value of the setting is known to be right"


def test_under_a_launch_that_gives_the_file_the_same_claim_is_ruled_out(run: Callable[..., Outcome]) -> None:
    found, endpoint = with_model(run, "--ask-always", "--launch", " ".join(CASE["negative_control"]["argv"]))
    assert endpoint.requests
    assert not [one for one in found.json["findings"] if one["guard"] and one["guard"]["line"] == GUARD]
    assert not [one for one in found.json["hypotheses"] if one["id"].startswith("model-") and one["status"] == "confirmed"]
    [ruled_out] = [one for one in found.json["hypotheses"] if one["id"].startswith("model-1") and one["status"] == "refuted"]
    assert f"{RUNNER}:{GUARD}" in ruled_out["claim"] and "true" in ruled_out["why"]

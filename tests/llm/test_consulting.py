"""A model among the other subagents: it is asked where nothing else explains the symptom, and takes nothing from them."""

from __future__ import annotations

import types
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

import pytest

from agent.config import Budget, load_settings
from agent.domain.errors import ModelError, UsageError
from agent.domain.investigation import Symptom
from agent.domain.launch import HostSpec
from agent.hosts.interface import Host
from agent.llm.interface import ModelClient
from agent.llm.scripted import Answer, ScriptedClient
from agent.orchestrator.concluding import Conclusions, conclude
from agent.orchestrator.consulting import Consultation, wanted
from agent.orchestrator.crew import Crew
from agent.orchestrator.judging import Judgement
from agent.orchestrator.quoting import Quoter
from agent.orchestrator.request import Model, Request, Silence, Tools
from agent.orchestrator.scene import Scene
from agent.subagents.model.investigation import ModelResult
from agent.subagents.shared_engine import SharedEngine
from tests.llm.fakes import AUDIT, SYMPTOM, MemoryFiles, engine
from tests.llm.test_investigation import GOOD

REQUEST = Request(symptom=Symptom.parse(SYMPTOM))


def scene() -> Scene:
    return Scene(files=cast(Any, MemoryFiles()))


def judgement() -> Judgement:
    return Judgement(engine=SharedEngine(engine()), audit=AUDIT, complete=True)


def crew() -> Crew:
    host = cast(Host, types.SimpleNamespace(spec=HostSpec(name="gpu1")))
    tools = cast(Tools, types.SimpleNamespace(progress=Silence(), products=(), environment=(), clock=lambda: "2026-05-01T15:20:01Z"))
    return Crew(host, tools)


def model(client: ModelClient, **options: Any) -> Model:
    return Model(name="scripted", open=lambda: client, **options)


async def consulted(script: dict[str, Iterable[Answer]]) -> tuple[Crew, ModelResult | None, list[bytes]]:
    kept: list[bytes] = []
    workers = crew()
    workers.desk("before")
    asked = model(ScriptedClient(script), keep=kept.append)
    agent = Consultation(model=asked, scene=scene(), judgement=judgement(), request=REQUEST)
    result = await workers.extra(agent, "lm")
    return workers, result, kept


def concluded(workers: Crew, result: ModelResult | None) -> Conclusions:
    quoter = Quoter(workers.desk("report").ledger, engine().tree, {})
    return conclude(scene(), judgement(), REQUEST, quoter, result)


async def test_what_the_model_found_stands_in_the_report_with_evidence_that_is_there() -> None:
    workers, result, kept = await consulted(GOOD)
    found = concluded(workers, result)
    assert found.outcome == "cause_confirmed" and [finding.id for finding in found.findings] == ["F1"]
    ids = {item.id for item in workers.evidence}
    cited = [*found.findings[0].cause.evidence, *(step.evidence for step in found.findings[0].chain), *found.hypotheses[-1].evidence]
    assert cited and set(cited) <= ids
    assert result and result.transcript == kept[0]
    [writer] = [record for record in result.agents if record.name == "model synthesiser"]
    assert "pkg/manager.py:7 is false [lm" in writer.summary and "[h1." not in writer.summary


async def test_the_numbers_of_the_others_evidence_stay_as_they_are() -> None:
    with_model, result, _ = await consulted(GOOD)
    without = crew()
    without.desk("before")
    assert result and with_model.desk("report").ledger.prefix == without.desk("report").ledger.prefix == "B"


async def test_a_model_that_fails_takes_nothing_from_the_run() -> None:
    workers, result, kept = await consulted({"planner": [ModelError("the endpoint answered 401", hint="set OPENAI_API_KEY")]})
    found = concluded(workers, result)
    assert found.findings == () and found.outcome != "failed" and kept
    assert result and "OPENAI_API_KEY" in result.agents[0].summary


def test_a_model_is_asked_only_where_nothing_else_explains_the_symptom() -> None:
    client, symptom = ScriptedClient({}), REQUEST.symptom
    open_question, known = judgement(), judgement()
    known.answers = (cast(Any, types.SimpleNamespace(finding=object(), playbook=None, hypotheses=())),)
    assert wanted(model(client), open_question, symptom) and not wanted(model(client), known, symptom)
    assert wanted(model(client, always=True), known, symptom)
    assert not wanted(None, open_question, symptom) and not wanted(model(client, always=True), Judgement(), symptom)
    assert not wanted(model(client), open_question, Symptom.parse("--chunk 32 is not used")), "the audit explains it"


async def test_what_was_found_already_is_not_found_twice() -> None:
    workers, result, _ = await consulted(GOOD)
    assert result
    twice = replace(result, findings=(*result.findings, replace(result.findings[0], title="again")))
    assert [finding.id for finding in concluded(workers, twice).findings] == ["F1"]


# --- settings ------------------------------------------------------------------------------------------------------------------


def test_the_environment_names_model_endpoint_and_budget() -> None:
    env = {"RCA_MODEL": "m", "OPENAI_BASE_URL": "http://x/v1", "OPENAI_API_KEY": "k", "RCA_MODEL_SECONDS": "60", "RCA_MODEL_TOKENS": "5000"}
    settings = load_settings({"RCA_HOME": "/nowhere", **env})
    assert (settings.model, settings.base_url, settings.ask_always) == ("m", "http://x/v1", False)
    assert settings.budget == Budget(seconds=60.0, seconds_each=60.0, total_tokens=5000, tokens=5000)
    assert "'k'" not in repr(settings), "keys are not shown"


@pytest.mark.parametrize("value", ["soon", "-1", "0", "nan"])
def test_a_budget_that_is_no_number_is_said(value: str) -> None:
    with pytest.raises(UsageError, match="RCA_MODEL_SECONDS"):
        load_settings({"RCA_HOME": "/nowhere", "RCA_MODEL_SECONDS": value})


def test_options_are_laid_over_the_settings() -> None:
    from agent.cli.model_options import ModelChoice

    settings = load_settings({"RCA_HOME": "/nowhere", "RCA_MODEL": "m"})
    assert ModelChoice(no_llm=True).over(settings).model == ""
    assert ModelChoice(model="n", parallel=2, budget_seconds=30.0).over(settings).budget.seconds_each == 30.0
    with pytest.raises(UsageError, match="contradict"):
        ModelChoice(no_llm=True, model="n").over(settings)


async def test_wiring_opens_what_the_name_says(tmp_path: Any) -> None:
    from agent import wiring

    _, result, _ = await consulted(GOOD)
    assert result
    (tmp_path / "c.jsonl").write_bytes(result.transcript)
    for name, shown in ((f"replay:{tmp_path}/c.jsonl", "scripted"), ("llama3.1:8b", "llama3.1:8b at http://127.0.0.1:9/v1")):
        settings = load_settings({"RCA_HOME": str(tmp_path), "RCA_MODEL": name, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
        made = wiring.model(settings, lambda conversation: None)
        assert made and made.open().name == shown
    assert wiring.model(load_settings({"RCA_HOME": str(tmp_path)}), lambda conversation: None) is None

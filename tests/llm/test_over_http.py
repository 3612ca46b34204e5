"""Whole investigations over real HTTP: an endpoint that plays its part by role, in both protocols, faults of real ones in between."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.config import Budget
from agent.domain.investigation import Symptom
from agent.domain.redaction import placeholder
from agent.domain.values import Fact, Known
from agent.llm.endpoint import EndpointClient, EndpointSettings
from agent.llm.replay import ReplayClient
from agent.llm.retry import Retry
from agent.llm.transcript import Transcript
from agent.subagents.model.investigation import ModelCase, ModelResult, investigate
from agent.tools.interface import Sources
from tests.llm import endpoint as wire
from tests.llm.endpoint import Behaviour, Endpoint, Exchange, serving, serving_beside
from tests.llm.fakes import AUDIT, FILES, MANAGER, SYMPTOM, MemoryFiles, engine, log

GUARD = {"kind": "guard_false", "path": MANAGER, "line": 7, "target": f"{MANAGER}:9"}
PROPOSE = ("propose", {"hypotheses": [{"claim": "only some algorithms report it"}]})
CONCLUDE = ("conclude", {"verdict": "confirmed", "claims": [GUARD]})
ROLES = {"You plan": "planner", "You investigate": "investigator", "You summarise": "synthesiser"}
BUDGET = Budget(steps=12, tokens=100_000, total_tokens=200_000, seconds=60.0, parallel=2)


async def no_wait(seconds: float) -> None:
    """Retries of these tests take no time."""


def case() -> ModelCase:
    sources = Sources(engine=engine(), files=MemoryFiles(), logs={"/l/s.log": log("spec accept rate: 0.80")}, audit=AUDIT)
    return ModelCase(symptom=Symptom.parse(SYMPTOM), sources=sources)


def by_role(script: Mapping[str, Iterable[Behaviour]]) -> Behaviour:
    """Each role has its own list of answers, the last of which it repeats."""
    left = {role: list(answers) for role, answers in script.items()}

    async def behave(exchange: Exchange) -> None:
        system = exchange.body["messages"][0]["content"]
        role = next(role for words, role in ROLES.items() if system.startswith(words))
        answers = left[role]
        await (answers.pop(0) if len(answers) > 1 else answers[0])(exchange)

    return behave


def in_text(name: str, arguments: Any) -> Behaviour:
    return wire.says(f"Let me see.\n{json.dumps({'tool': name, 'arguments': arguments})}")


async def run(endpoint: Endpoint, given: ModelCase | None = None) -> ModelResult:
    retry = Retry(tries=4, sleep=no_wait)
    settings = EndpointSettings(model="m", base_url=endpoint.url, retry=retry, first_seconds=2.0, stall_seconds=0.2)
    client = EndpointClient(settings)
    try:
        return await investigate(client, given or case(), BUDGET)
    finally:
        await client.close()


SUMMARY = [wire.says("The condition at pkg/manager.py:7 is false [h1.1]. The moon is full.")]
TOOLS = {
    "planner": [wire.calls(("grep", {"pattern": "spec_accept_rate"})), wire.calls(PROPOSE)],
    "investigator": [wire.calls(("why", {"target": f"{MANAGER}:9"})), wire.calls(CONCLUDE)],
    "synthesiser": SUMMARY,
}
TEXT = {
    "planner": [in_text("grep", {"pattern": "spec_accept_rate"}), in_text(*PROPOSE)],
    "investigator": [in_text("why", {"target": f"{MANAGER}:9"}), in_text(*CONCLUDE)],
    "synthesiser": SUMMARY,
}


@pytest.mark.parametrize(
    "behaviour",
    [by_role(TOOLS), wire.refuses_if(lambda body: "tools" in body, 400, "this model does not support tools", by_role(TEXT))],
    ids=["function calling", "text protocol"],
)
async def test_both_protocols_find_the_same(behaviour: Behaviour) -> None:
    async with serving(behaviour) as endpoint:
        result = await run(endpoint)
    [finding] = result.findings
    assert finding.guard and finding.guard.line == 7 and finding.targets[0].line == 9
    assert result.comment == ("The condition at pkg/manager.py:7 is false [h1.1].",)
    assert result.cut_bytes == len("The moon is full.") and not result.tokens_estimated
    again = await investigate(ReplayClient(Transcript.load(result.transcript)), case(), BUDGET)
    assert again.transcript == result.transcript


FAULTS: Mapping[str, Behaviour] = {
    "429": wire.fails(429, "slow down", headers={"retry-after": "3"}),
    "503": wire.fails(503, "busy"),
    "truncated stream": wire.breaks_off(politely=True),
    "lost connection": wire.breaks_off(politely=False),
    "stalled stream": wire.stalls(),
    "garbage": wire.streams_garbage(),
    "context length": wire.fails(400, "This model's maximum context length is 2500 tokens, however you requested 2600 tokens"),
    "malformed arguments": wire.calls(("grep", '{"pattern": "spec')),
    "unknown tool": wire.calls(("run_shell", {"command": "id"})),
    "empty answer": wire.says(""),
    "too many calls": wire.calls(*[("grep", {"pattern": f"p{n}"}) for n in range(8)]),
    "endless answer": wire.streams_for_ever(),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_in_the_middle_changes_nothing_in_the_end(fault: str) -> None:
    script = {role: [FAULTS[fault], *answers] for role, answers in TOOLS.items() if role != "synthesiser"}
    async with serving(by_role({**script, "synthesiser": SUMMARY})) as endpoint:
        result = await run(endpoint)
    assert [finding.guard and finding.guard.line for finding in result.findings] == [7]
    again = await investigate(ReplayClient(Transcript.load(result.transcript)), case(), BUDGET)
    assert again.transcript == result.transcript


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (wire.calls(("grep", {"pattern": "a"})), "asks the same again and again"),
        (wire.says(""), "without calling a tool"),
        (wire.says("I am thinking."), "without calling a tool"),
        (wire.fails(503, "busy"), "the endpoint answered 503"),
        (wire.breaks_off(politely=True), "cut off"),
        (wire.stalls(), "stalled"),
        (wire.fails(401, "no key"), "OPENAI_API_KEY"),
        (wire.fails(400, "maximum context length is 300 tokens"), "however short it is made"),
    ],
    ids=["loop", "empty", "prose", "busy", "truncated", "stalled", "no key", "tiny context"],
)
async def test_a_fault_without_end_ends_the_investigation_and_says_why(fault: Behaviour, why: str) -> None:
    async with serving(fault) as endpoint:
        result = await run(endpoint)
    assert result.findings == () and result.hypotheses == ()
    assert [record.status for record in result.agents] == ["failed"] and why in result.agents[0].summary


CONTEXT = 8192
READS = "pkg/long.py"
LONG = "def long():\n" + "\n".join(f"    value_{n} = compute({n}, '{'x' * 90}')" for n in range(900))
MANY_SETTINGS = replace(AUDIT, settings=AUDIT.settings + tuple(replace(AUDIT.settings[0], name=f"setting_{n}") for n in range(400)))


def holds(tokens: int, served: Behaviour, sizes: list[int]) -> Behaviour:
    """Counts a token for every three bytes of messages and tools, and refuses what does not fit, in the words of llama.cpp's server."""

    async def behave(exchange: Exchange) -> None:
        asked = len(json.dumps([exchange.body["messages"], exchange.body.get("tools", [])])) // 3 + exchange.body["max_tokens"]
        if asked > tokens:
            message = f"This model's maximum context length is {tokens} tokens. However, you requested {asked} tokens."
            await exchange.status(400, message, code_name="context_length_exceeded")
            return
        sizes.append(asked)
        await served(exchange)

    return behave


@pytest.mark.parametrize("text", [False, True], ids=["function calling", "text protocol"])
async def test_a_long_investigation_of_a_large_server_fits_into_a_context_of_8k(text: bool) -> None:
    """Prompts, tools and answers; the whole of every shortened result stays readable."""
    looks = [("read_lines", {"path": READS, "start": 1 + 100 * n, "end": 100 + 100 * n}) for n in range(6)]
    looks.append(("recall", {"pointer": "r1", "start": 3000}))
    made = in_text if text else lambda name, given: wire.calls((name, given))
    script = {"planner": [made(*look) for look in looks[:4]], "investigator": [made(*look) for look in looks], "synthesiser": SUMMARY}
    script["planner"].append(made(*PROPOSE))
    script["investigator"].append(made(*CONCLUDE))
    sizes: list[int] = []
    served = holds(CONTEXT, by_role(script), sizes)
    server = wire.refuses_if(lambda body: "tools" in body, 400, "this model does not support tools", served) if text else served
    large = replace(case().sources, engine=engine({**FILES, READS: LONG}), audit=MANY_SETTINGS)
    given = replace(case(), sources=large, facts=tuple(Fact(name=f"fact_{n}", value=Known(value="x" * 60)) for n in range(200)))
    async with serving(server) as endpoint:
        result = await run(endpoint, given)
    assert [finding.guard and finding.guard.line for finding in result.findings] == [7]
    assert max(sizes) <= CONTEXT and len(sizes) == 5 + 8 + 1
    events = [event for told in Transcript.load(result.transcript).conversations.values() for event in told]
    assert any(event.get("kind") == "ContextOverflow" for event in events) and any(event["event"] == "shortened" for event in events)
    last = json.dumps(endpoint.requests[-2]["messages"])
    assert 'recall(\\"r2\\") has the whole' in last and "value_3" in last
    again = await investigate(ReplayClient(Transcript.load(result.transcript)), given, BUDGET)
    assert again.transcript == result.transcript


async def test_every_message_is_fenced_and_says_what_a_masked_secret_looks_like() -> None:
    async with serving(by_role(TOOLS)) as endpoint:
        result = await run(endpoint, replace(case(), facts=(Fact(name="gpu.count", value=Known(value=8)),)))
    nonce = Transcript.load(result.transcript).header["nonce"]
    prompts = [body["messages"][1]["content"] for body in endpoint.requests]
    assert all(f"<<data {nonce} launch>>" in prompt for prompt in prompts[:2])
    assert all(len(json.dumps(body)) < 24_000 for body in endpoint.requests), "within a context of 8k tokens"
    planner, investigator = prompts[0], prompts[2]
    for fact in ("gpu.count", "chunk", SYMPTOM):
        assert fact in planner and fact in investigator, "what was computed already is given"
    roles = {body["messages"][0]["content"] for body in endpoint.requests}
    assert len(roles) == len(ROLES)
    masked = placeholder("x").replace(":x", ":NAME")
    for told in roles:
        assert f"Text like {masked} stands for a masked secret" in told and nonce in told


def asks_once(url: str) -> None:
    """A process that does what a run does with its model: opens the client, investigates, closes. Tells whom it connects to or looks up."""
    asked: list[str] = []

    def note(event: str, given: tuple[Any, ...]) -> None:
        if event == "socket.connect":
            asked.append("{}:{}".format(*given[1][:2]) if isinstance(given[1], tuple) else str(given[1]))
        elif event == "socket.getaddrinfo":
            asked.append("{}:{}".format(*given[:2]))

    sys.addaudithook(note)

    async def whole() -> ModelResult:
        return await run(Endpoint(url=url))

    result = asyncio.run(whole())
    print(json.dumps({"asked": sorted(set(asked)), "findings": len(result.findings)}))


def test_nobody_is_asked_but_the_endpoint() -> None:
    """In a process of its own, from the first import on: neither the SDK nor anything else calls elsewhere."""
    with serving_beside(by_role(TOOLS)) as endpoint:
        program = f"from tests.llm.test_over_http import asks_once; asks_once({endpoint.url!r})"
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=300, check=True
        )
    told = json.loads(done.stdout)
    assert told == {"asked": [endpoint.url.removeprefix("http://").removesuffix("/v1")], "findings": 1}
    assert len(endpoint.requests) == 5


async def test_as_many_investigators_as_allowed_work_at_the_same_time_and_by_default_five() -> None:
    """Nobody is answered before all of them have asked: one after another they would wait for ever."""
    together, waiting = asyncio.Event(), 0

    async def meets(exchange: Exchange) -> None:
        nonlocal waiting
        waiting += 1
        if waiting == Budget().parallel:
            together.set()
        await together.wait()
        await wire.calls(CONCLUDE)(exchange)

    eight = ("propose", {"hypotheses": [{"claim": f"mechanism {n}"} for n in range(8)]})
    async with serving(by_role({"planner": [wire.calls(eight)], "investigator": [meets], "synthesiser": SUMMARY})) as endpoint:
        client = EndpointClient(EndpointSettings(model="m", base_url=endpoint.url, first_seconds=60.0, retry=Retry(tries=1)))
        result = await investigate(client, case(), Budget())
        await client.close()
    assert Budget().parallel == waiting == 5
    records = [record for record in result.agents if record.name.startswith("model investigator")]
    assert [record.status for record in records] == ["done"] * 5

"""The client against a real HTTP endpoint: the wire format, and every fault that an endpoint is known to have."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agent.domain.errors import ModelError
from agent.llm.dialect import Dialect, DialectMemory
from agent.llm.endpoint import EndpointClient, EndpointSettings
from agent.llm.interface import BudgetSpent, ContextOverflow, Message, Reply, Request, ToolCall, ToolSpec, TransientFailure
from agent.llm.retry import Retry
from tests.llm import endpoint as wire
from tests.llm.endpoint import Endpoint, serving

GREP = ToolSpec(
    name="grep",
    description="finds",
    parameters={"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]},
)
HELLO = (Message(role="system", content="be short"), Message(role="user", content="hello"))


class Waits:
    """A sleep that takes no time and remembers what was asked for."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def client(
    endpoint: Endpoint, *, memory: DialectMemory | None = None, waits: Waits | None = None, stall: float = 5.0, first: float = 5.0
) -> EndpointClient:
    retry = Retry(tries=4, sleep=waits or Waits(), draw=lambda low, high: high)
    settings = EndpointSettings(
        model="m", base_url=endpoint.url, key="k-test", retry=retry, stall_seconds=stall, first_seconds=first, connect_seconds=2.0
    )
    return EndpointClient(settings, memory)


async def ask(endpoint: Endpoint, *, tools: tuple[ToolSpec, ...] = (), messages: tuple[Message, ...] = HELLO, **options: Any) -> Reply:
    asked = client(endpoint, **options)
    try:
        return await asked.complete(Request(conversation="t", messages=messages, tools=tools, max_tokens=64))
    finally:
        await asked.close()


async def test_streams_prose_and_counts_the_tokens_that_the_endpoint_reports() -> None:
    async with serving(wire.says("good day to you")) as endpoint:
        reply = await ask(endpoint)
    assert reply.text == "good day to you"
    assert (reply.usage.prompt, reply.usage.completion, reply.usage.estimated) == (50, 10, False)
    sent = endpoint.requests[0]
    assert sent["stream"] is True and sent["max_tokens"] == 64 and sent["temperature"] == 0.0 and "tools" not in sent
    assert endpoint.headers[0]["authorization"] == "Bearer k-test"


async def test_streams_tool_calls_in_pieces() -> None:
    async with serving(wire.calls(("grep", {"pattern": "a"}), ("grep", {"pattern": "b"}))) as endpoint:
        reply = await ask(endpoint, tools=(GREP,))
    assert [(c.name, json.loads(c.arguments)["pattern"]) for c in reply.calls] == [("grep", "a"), ("grep", "b")]
    assert endpoint.requests[0]["tools"][0]["function"]["name"] == "grep"


@pytest.mark.parametrize("index", [lambda n: 0, lambda n: None], ids=["every index is 0", "no index"])
async def test_parallel_calls_of_servers_that_number_them_badly(index: Any) -> None:
    async with serving(wire.calls(("grep", {"pattern": "a"}), ("grep", {"pattern": "b"}), index=index)) as endpoint:
        reply = await ask(endpoint, tools=(GREP,))
    assert [json.loads(c.arguments)["pattern"] for c in reply.calls] == ["a", "b"]


async def test_malformed_arguments_reach_the_caller_as_they_are() -> None:
    async with serving(wire.calls(("grep", '{"pattern": "a'))) as endpoint:
        reply = await ask(endpoint, tools=(GREP,))
    assert reply.calls[0].arguments == '{"pattern": "a'


async def test_earlier_calls_with_malformed_arguments_are_sent_as_json_again() -> None:
    """Servers parse the history's arguments: what was no JSON would be refused at every later turn."""
    spoilt = (*HELLO, Message(role="assistant", content="", calls=(ToolCall(id="c1", name="grep", arguments='{"pattern": "a'),)))
    spoilt = (*spoilt, Message(role="tool", content="no JSON", call_id="c1", tool="grep"))
    async with serving(wire.says("ok")) as endpoint:
        await ask(endpoint, tools=(GREP,), messages=spoilt)
    assert endpoint.requests[0]["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{}"


# --- dialects ------------------------------------------------------------------------------------------------------------------

IN_TEXT = wire.says('I will look.\n```json\n{"tool": "grep", "arguments": {"pattern": "a"}}\n```')


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (400, "registry/x does not support tools"),
        (404, "No endpoints found that support tool use"),
        (422, "Extra inputs are not permitted: tools"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (400, "bad request"),
    ],
)
async def test_an_endpoint_without_tools_gets_the_text_protocol(code: int, message: str, tmp_path: Path) -> None:
    memory = DialectMemory(tmp_path / "dialects.json")
    async with serving(wire.refuses_if(lambda body: "tools" in body, code, message, IN_TEXT)) as endpoint:
        reply = await ask(endpoint, tools=(GREP,), memory=memory)
        assert [(c.name, c.arguments) for c in reply.calls] == [("grep", '{"pattern": "a"}')]
        assert '"tool": NAME' in endpoint.requests[-1]["messages"][0]["content"]
        again = DialectMemory(tmp_path / "dialects.json")
        await ask(endpoint, tools=(GREP,), memory=again)
        assert len(endpoint.requests) == 3, "the second client does not try tools again"


async def test_text_protocol_turns_calls_and_results_into_alternating_turns() -> None:
    history = (*HELLO, Message(role="assistant", content="", calls=(ToolCall(id="c1", name="grep", arguments='{"pattern": "a"}'),)))
    history = (*history, Message(role="tool", content="found", call_id="c1", tool="grep"), Message(role="user", content="go on"))
    memory = DialectMemory()
    async with serving(IN_TEXT) as endpoint:
        memory.put(endpoint.url, "m", Dialect(tools=False), lasting=False)
        await ask(endpoint, tools=(GREP,), messages=history, memory=memory)
    turns = endpoint.requests[0]["messages"]
    assert [t["role"] for t in turns] == ["system", "user", "assistant", "user"]
    assert json.loads(turns[2]["content"]) == {"tool": "grep", "arguments": {"pattern": "a"}}
    assert turns[3]["content"] == "Result of grep:\nfound\n\ngo on"


async def test_a_model_that_ignores_its_tools_gets_the_text_protocol_but_only_for_this_run(tmp_path: Path) -> None:
    memory = DialectMemory(tmp_path / "dialects.json")
    async with serving(wire.says("let me think about it")) as endpoint:
        asked = client(endpoint, memory=memory)
        for _ in range(3):
            await asked.complete(Request(conversation="t", messages=HELLO, tools=(GREP,)))
        await asked.close()
        assert ["tools" in body for body in endpoint.requests] == [True, True, False]
        assert DialectMemory(tmp_path / "dialects.json").get(endpoint.url, "m").tools


async def test_reasoning_models_get_no_temperature_and_the_other_limit() -> None:
    def wrong(name: str) -> Any:
        return lambda body: name in body

    answer = wire.refuses_if(
        wrong("max_tokens"),
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        wire.refuses_if(wrong("temperature"), 400, "Unsupported value: 'temperature' does not support 0.0", wire.says("thought")),
    )
    async with serving(answer) as endpoint:
        assert (await ask(endpoint)).text == "thought"
    last = endpoint.requests[-1]
    assert "temperature" not in last and "max_tokens" not in last and last["max_completion_tokens"] == 64


@pytest.mark.parametrize(
    "refusal",
    ["Unsupported value: 'messages[0].role' does not support 'system' with this model.", "System role not supported"],
    ids=["a reasoning model", "a chat template"],
)
async def test_a_model_without_a_system_role_is_told_in_the_users_turn(refusal: str, tmp_path: Path) -> None:
    memory = DialectMemory(tmp_path / "dialects.json")
    first = lambda body: body["messages"][0]["role"] == "system"  # noqa: E731
    async with serving(wire.refuses_if(first, 400, refusal, wire.says("understood"))) as endpoint:
        assert (await ask(endpoint, memory=memory)).text == "understood"
        await ask(endpoint, memory=DialectMemory(tmp_path / "dialects.json"))
    assert len(endpoint.requests) == 3, "what was refused is remembered"
    [turn] = endpoint.requests[-1]["messages"]
    assert turn == {"role": "user", "content": "\n\n".join(message.content for message in HELLO)}


async def test_thinking_is_progress_and_no_answer() -> None:
    made = [
        wire.chunk({"reasoning_content": "hm, "}),
        wire.chunk({"content": "<think>no</think>yes"}),
        wire.chunk({}, finish="stop"),
        "[DONE]",
    ]
    async with serving(wire.events(made)) as endpoint:
        assert (await ask(endpoint)).text == "yes"


async def test_endpoints_without_usage_in_streams_give_estimated_tokens() -> None:
    async with serving(
        wire.refuses_if(lambda b: "stream_options" in b, 400, "unknown field stream_options", wire.says("x" * 320))
    ) as endpoint:
        reply = await ask(endpoint)
    assert reply.usage.estimated and reply.usage.completion == pytest.approx(100, abs=2)


async def test_an_endpoint_that_cannot_stream_is_asked_for_the_whole_answer() -> None:
    async with serving(
        wire.refuses_if(lambda b: "stream" in b, 400, "streaming is not supported by this server", wire.says("whole"))
    ) as endpoint:
        reply = await ask(endpoint)
    assert reply.text == "whole" and reply.usage.prompt == 40


async def test_an_endpoint_that_answers_a_stream_with_plain_json_is_asked_again_without() -> None:
    async def plain(exchange: wire.Exchange) -> None:
        exchange.body.pop("stream", None)
        await wire.says("plain")(exchange)

    async with serving(plain) as endpoint:
        assert (await ask(endpoint)).text == "plain"


# --- faults --------------------------------------------------------------------------------------------------------------------


async def test_429_waits_as_long_as_it_is_told_and_5xx_backs_off() -> None:
    waits = Waits()
    faults = (wire.fails(429, "slow down", headers={"retry-after": "7"}), wire.fails(503, "busy"), wire.fails(500, "oops"))
    async with serving(*faults, wire.says("at last")) as endpoint:
        assert (await ask(endpoint, waits=waits)).text == "at last"
    assert waits.seconds == [7.5, 1.0, 2.0], "the endpoint's wait and jitter on top; then bounds that double"


async def test_used_up_tries_are_an_error_with_the_endpoints_words() -> None:
    async with serving(wire.fails(429, "too many people")) as endpoint:
        with pytest.raises(TransientFailure, match=r"429: .*too many people"):
            await ask(endpoint)
    assert len(endpoint.requests) == 4


async def test_a_used_up_quota_is_not_retried() -> None:
    async with serving(wire.fails(429, "You exceeded your current quota", code_name="insufficient_quota")) as endpoint:
        with pytest.raises(ModelError, match="quota"):
            await ask(endpoint)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(("code", "hint"), [(401, "OPENAI_API_KEY"), (404, "--base-url"), (405, "--base-url")])
async def test_errors_that_no_retry_mends_say_what_to_do(code: int, hint: str) -> None:
    async with serving(wire.fails(code, "no")) as endpoint:
        with pytest.raises(ModelError, match=hint):
            await ask(endpoint)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("code", [400, 401, 503])
async def test_an_endpoint_that_repeats_the_key_does_not_get_it_into_a_record(code: int) -> None:
    async with serving(wire.fails(code, "no such key: k-test, nor hf_abcdefghijklmnopqrstuvwxyz0123 \x1b[31m")) as endpoint:
        with pytest.raises(ModelError, match="no such key") as caught:
            await ask(endpoint)
    told = str(caught.value)
    assert "k-test" not in told and "hf_abc" not in told and "\x1b" not in told


async def test_a_login_in_the_address_is_not_told() -> None:
    asked = EndpointClient(
        EndpointSettings(model="m", base_url="http://me:hunter2@127.0.0.1:9/v1", retry=Retry(tries=1), connect_seconds=2.0)
    )
    with pytest.raises(ModelError) as caught:
        await asked.complete(Request(conversation="t", messages=HELLO))
    await asked.close()
    assert "hunter2" not in str(caught.value) + asked.name and "127.0.0.1:9" in asked.name


async def test_nobody_listens() -> None:
    async with serving(wire.says("x")) as endpoint:
        pass
    with pytest.raises(ModelError, match="no connection to http://127"):
        await ask(endpoint)


@pytest.mark.parametrize(
    "fault",
    [
        wire.breaks_off(politely=True),
        wire.breaks_off(politely=False),
        wire.streams_garbage(),
        wire.streams_error("the worker died"),
        wire.stalls(),
        wire.never_answers(),
    ],
    ids=["truncated", "connection lost", "garbage", "error in the stream", "stalled", "no answer"],
)
async def test_a_broken_stream_is_asked_for_again_and_half_an_answer_is_none(fault: wire.Behaviour) -> None:
    async with serving(fault, wire.says("whole")) as endpoint:
        reply = await ask(endpoint, stall=0.1, first=0.3)
    assert reply.text == "whole" and len(endpoint.requests) == 2


async def test_an_answer_without_end_is_cut() -> None:
    async with serving(wire.streams_for_ever()) as endpoint:
        reply = await ask(endpoint)
    assert reply.finish == "length" and 64 * 16 < len(reply.text) < 64 * 16 + 20_000


async def test_an_empty_answer_is_an_answer() -> None:
    async with serving(wire.says("")) as endpoint:
        reply = await ask(endpoint)
    assert (reply.text, reply.calls, reply.finish) == ("", (), "stop")


@pytest.mark.parametrize(
    ("code", "message", "limit"),
    [
        (400, "This model's maximum context length is 2048 tokens, however you requested 3000 tokens", 2048),
        (400, "the request exceeds the available context size, try increasing it", 0),
        (500, "Requested tokens (3000) exceed context window of 2048", 2048),
        (400, "The input (3000 tokens) is longer than the model's context length (4096 tokens).", 4096),
        (413, "Payload too large", 0),
    ],
)
async def test_a_context_that_is_too_small_is_told_apart(code: int, message: str, limit: int) -> None:
    async with serving(wire.fails(code, message)) as endpoint:
        with pytest.raises(ContextOverflow) as caught:
            await ask(endpoint)
    assert caught.value.limit == limit and len(endpoint.requests) == 1


async def test_a_context_error_inside_of_a_stream() -> None:
    async with serving(wire.streams_error("context_length_exceeded")) as endpoint:
        with pytest.raises(ContextOverflow):
            await ask(endpoint)


async def test_the_askers_time_ends_a_request() -> None:
    async with serving(wire.never_answers()) as endpoint:
        asked = client(endpoint)
        with pytest.raises(BudgetSpent):
            await asked.complete(Request(conversation="t", messages=HELLO, seconds=0.2))
        await asked.close()


async def test_no_waiting_beyond_the_askers_time() -> None:
    waits = Waits()
    async with serving(wire.fails(429, "later", headers={"retry-after": "60"})) as endpoint:
        asked = client(endpoint, waits=waits)
        with pytest.raises(BudgetSpent):
            await asked.complete(Request(conversation="t", messages=HELLO, seconds=5.0))
        await asked.close()
    assert waits.seconds == []


async def test_a_server_that_crashes_on_tools_is_asked_in_text() -> None:
    answer = wire.refuses_if(lambda body: "tools" in body, 500, "internal error", IN_TEXT)
    async with serving(answer) as endpoint:
        reply = await ask(endpoint, tools=(GREP,))
    assert reply.calls[0].name == "grep"


async def test_no_request_before_the_first_question_and_none_after_closing() -> None:
    async with serving(wire.says("x")) as endpoint:
        asked = client(endpoint)
        assert "m at http://127" in asked.name
        await asked.close()
        await asked.close()
    assert endpoint.requests == []


async def test_cancelling_leaves_nothing_running() -> None:
    async with serving(wire.stalls()) as endpoint:
        asked = client(endpoint, stall=60.0)
        task = asyncio.create_task(asked.complete(Request(conversation="t", messages=HELLO)))
        while not endpoint.requests:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asked.close()

"""Any OpenAI-compatible endpoint, through the ``openai`` SDK's async client: it says the same thing until the endpoint understands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from agent.config import Settings
from agent.domain.errors import ModelError
from agent.domain.redaction import placeholder, redact_text
from agent.domain.visible import one_line
from agent.llm import failures, wire
from agent.llm.dialect import Dialect, DialectMemory, adapted
from agent.llm.interface import BudgetSpent, ContextOverflow, Reply, Request, TransientFailure, Usage
from agent.llm.retry import Retry
from agent.llm.streaming import Assembly, assemble
from agent.llm.tokens import estimate, estimate_prompt

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_ADAPTATIONS = 8
_TOOL_LESS = 2
"""Answers in prose, one after another, until tools are taken to be unsupported."""
_CRASHES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """Where the model is. ``base_url`` empty is the SDK's default; times in seconds; ``key`` is sent to the endpoint alone."""

    model: str
    base_url: str = ""
    key: str = field(default="", repr=False)
    first_seconds: float = 300.0
    stall_seconds: float = 60.0
    connect_seconds: float = 10.0
    temperature: float = 0.0
    retry: Retry = field(default_factory=Retry)


def open_endpoint(model: str, settings: Settings) -> EndpointClient:
    """The model behind the endpoint of the settings; what it refuses is remembered in the cache directory."""
    chosen = EndpointSettings(model=model, base_url=settings.base_url.rstrip("/"), key=settings.api_key)
    return EndpointClient(chosen, DialectMemory(settings.cache_dir / "endpoints.json"))


class EndpointClient:
    """A ModelClient over HTTP. No request is made before the first ``complete``."""

    def __init__(self, settings: EndpointSettings, memory: DialectMemory | None = None) -> None:
        self._settings = settings
        self._memory = memory or DialectMemory()
        self._sdk: AsyncOpenAI | None = None
        self._tool_less = 0
        self._tools_worked = False
        self._crashes = 0

    @property
    def name(self) -> str:
        return f"{self._settings.model} at {self._place}"

    @property
    def _place(self) -> str:
        """An address may hold a login."""
        return redact_text(self._settings.base_url) or "the default endpoint"

    @property
    def dialect(self) -> Dialect:
        return self._memory.get(self._settings.base_url, self._settings.model)

    async def complete(self, request: Request) -> Reply:
        try:
            async with asyncio.timeout(request.seconds or None):
                reply = await self._settings.retry.call(lambda: self._understood(request), seconds=request.seconds)
        except TimeoutError:
            raise BudgetSpent("the time for this investigation ended while the model was answering") from None
        decoded = wire.decode(reply, request.tools)
        self._watch_tools(request, reply, decoded)
        return decoded

    async def close(self) -> None:
        if self._sdk is not None:
            sdk, self._sdk = self._sdk, None
            await sdk.close()

    # --- one request, said in the endpoint's dialect ---------------------------------------------------------------------------

    async def _understood(self, request: Request) -> Reply:
        """Leaves out what the endpoint refuses, one thing at a time, and remembers it."""
        for _ in range(_ADAPTATIONS):
            dialect = self.dialect
            try:
                return await self._once(request, dialect)
            except failures.Refused as refusal:
                changed = adapted(dialect, refusal.message) or self._without_tools(request, dialect)
                if changed is None:
                    raise refusal.error from None
                self._remember(changed, lasting=True)
            except TransientFailure as failure:
                self._crashes += failure.status == 500
                if self._crashes < _CRASHES or not self._may_be_tools(request, dialect):
                    raise
                # Some servers crash on tools instead of refusing them: say it without, but do not hold it against them for ever.
                self._remember(replace(dialect, tools=False), lasting=False)
        raise ModelError("the endpoint refuses every form of the request", hint="check --base-url and --model")

    def _may_be_tools(self, request: Request, dialect: Dialect) -> bool:
        return bool(request.tools) and dialect.tools and not self._tools_worked

    def _without_tools(self, request: Request, dialect: Dialect) -> Dialect | None:
        """A refusal that names no reason: tools are the likeliest, as long as they never worked."""
        return replace(dialect, tools=False) if self._may_be_tools(request, dialect) else None

    def _remember(self, dialect: Dialect, *, lasting: bool) -> None:
        self._memory.put(self._settings.base_url, self._settings.model, dialect, lasting=lasting)

    def _watch_tools(self, request: Request, raw: Reply, decoded: Reply) -> None:
        """A model that has tools and keeps answering in prose gets the text protocol from then on."""
        if not request.tools or not self.dialect.tools:
            return
        self._tools_worked = self._tools_worked or bool(raw.calls)
        self._tool_less = 0 if raw.calls else self._tool_less + 1
        if self._tool_less >= _TOOL_LESS and not self._tools_worked:
            self._remember(replace(self.dialect, tools=False), lasting=False)

    async def _once(self, request: Request, dialect: Dialect) -> Reply:
        arguments = self._arguments(request, dialect)
        answer = await self._collect(arguments, dialect, request.max_tokens)
        if not answer.events:
            if not dialect.stream:
                raise TransientFailure("the endpoint gave an empty answer")
            self._remember(replace(dialect, stream=False), lasting=False)
            raise TransientFailure("the endpoint streamed nothing", retry_after=0.0)
        said = "".join(answer.text) + "".join("".join(p.arguments) for p in answer.parts)
        guessed = Usage(prompt=estimate_prompt(request.messages, request.tools), completion=estimate(said), estimated=True)
        return answer.reply(guessed)

    def _arguments(self, request: Request, dialect: Dialect) -> dict[str, Any]:
        arguments: dict[str, Any] = {"model": self._settings.model, **wire.encode(request, dialect)}
        arguments[dialect.completion_limit] = request.max_tokens
        if dialect.temperature:
            arguments["temperature"] = self._settings.temperature
        if dialect.stream:
            arguments["stream"] = True
            if dialect.usage_in_stream:
                arguments["stream_options"] = {"include_usage": True}
        return arguments

    async def _collect(self, arguments: dict[str, Any], dialect: Dialect, max_tokens: int) -> Assembly:
        import openai

        try:
            return await self._receive(arguments, dialect, max_tokens)
        except openai.APIStatusError as error:
            raise failures.of_status(error.status_code, self._safe(_message(error)), error.response.headers) from None
        except openai.APITimeoutError:
            raise TransientFailure("the endpoint did not answer in time") from None
        except openai.APIConnectionError as error:
            raise TransientFailure(f"no connection to {self._place}: {self._safe(str(error.__cause__ or error))}") from None
        except openai.APIError as error:
            said = self._safe(_message(error))
            raise failures.overflow(said) or TransientFailure(f"the endpoint broke off: {said[:200]}") from None
        except openai.OpenAIError as error:
            raise ModelError(f"the model client cannot start: {self._safe(str(error))}", hint="set OPENAI_API_KEY and --base-url") from None
        except (TransientFailure, ContextOverflow, asyncio.CancelledError):
            raise
        except Exception as error:
            if isinstance(error, (ValueError, OSError)) or type(error).__module__.startswith("http"):
                broken = self._safe(str(error))
                raise TransientFailure(f"the endpoint's answer is broken: {type(error).__name__}: {broken}") from None
            raise

    def _safe(self, text: str) -> str:
        """An endpoint's words, for records and reports: some endpoints repeat the key that they refuse."""
        key = self._settings.key
        return one_line(redact_text(text.replace(key, placeholder("api-key")) if key else text))

    async def _receive(self, arguments: dict[str, Any], dialect: Dialect, max_tokens: int) -> Assembly:
        patience = {"first_seconds": self._settings.first_seconds, "stall_seconds": self._settings.stall_seconds}
        answer = await self._client().chat.completions.create(**arguments)
        if not dialect.stream:
            return await assemble(_single(answer), max_tokens=max_tokens, **patience)
        try:
            return await assemble(aiter(answer), max_tokens=max_tokens, **patience)
        finally:
            await answer.close()

    def _client(self) -> AsyncOpenAI:
        if self._sdk is None:
            import openai

            own = self._settings
            timeout = openai.Timeout(own.first_seconds, connect=own.connect_seconds)
            # Local servers want no key, and the SDK wants one.
            key = own.key or ("none" if own.base_url else None)
            self._sdk = openai.AsyncOpenAI(api_key=key, base_url=own.base_url or None, timeout=timeout, max_retries=0)
        return self._sdk


def _message(error: Any) -> str:
    body = getattr(error, "body", None)
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False) if body else ""
    return f"{error.message} {text}".strip() if text and text not in error.message else str(error.message)


async def _single(answer: Any) -> AsyncIterator[Any]:
    yield answer

"""What an endpoint's error means: try again, say it otherwise, make it shorter, or give up with words a person can act on."""

from __future__ import annotations

import re
from typing import Any

from agent.domain.errors import ModelError
from agent.llm.interface import ContextOverflow, TransientFailure

_OVERFLOW = re.compile(
    r"context_length_exceeded|maximum context length|context (size|window|length)|exceeds? the (available )?context|longer than the model|"
    r"too many tokens|prompt is too long|maximum (input|prompt) length|input is too long",
    re.I,
)
_LIMIT = re.compile(r"(?:context (?:length|size|window)|n_ctx|maximum)\D{0,40}?(\d{3,8})", re.I)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing", re.I)

_BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_HINTS = {
    401: "set OPENAI_API_KEY",
    403: "the key may not use this model",
    404: "check --base-url (it usually ends in /v1) and --model",
    405: "check --base-url (it usually ends in /v1)",
}


class Refused(Exception):
    """A 400, 404 or 422: saying it otherwise may help; ``error`` is what to raise where it does not."""

    def __init__(self, message: str, error: ModelError) -> None:
        super().__init__(message)
        self.message = message
        self.error = error


def retry_after(headers: Any) -> float | None:
    """Seconds asked for by ``Retry-After`` (or the millisecond form); None where absent or a date."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except (ValueError, AttributeError, TypeError):
            continue
        if 0 <= seconds < 86_400:
            return seconds
    return None


def overflow(message: str) -> ContextOverflow | None:
    """Whether the endpoint says that the messages are too long, and for which limit."""
    if not _OVERFLOW.search(message):
        return None
    found = _LIMIT.search(message)
    return ContextOverflow(f"the messages do not fit the model's context: {message[:200]}", limit=int(found.group(1)) if found else 0)


def of_status(status: int, message: str, headers: Any) -> Exception:
    """The error of an HTTP status with the endpoint's message."""
    if status == 429 and _QUOTA.search(message):
        return ModelError(f"the endpoint's quota is used up: {message[:200]}")
    if status != 429 and (too_long := overflow(message)):
        return too_long
    if status == 413:
        return ContextOverflow(f"the endpoint says the request is too large: {message[:200]}")
    if status in _BUSY:
        return TransientFailure(f"the endpoint answered {status}: {message[:200]}", retry_after=retry_after(headers), status=status)
    error = ModelError(f"the endpoint answered {status}: {message[:300]}", hint=_HINTS.get(status, ""))
    return Refused(message, error) if status in (400, 404, 422) else error

"""The JSON report, contract ``rca.report/1``, and the way back."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from agent.domain.errors import StoreError
from agent.domain.investigation import Investigation
from agent.domain.restore import restore

_ACTS_ON_A_TERMINAL = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e0fff]")


class JsonReport:
    """Keys in the contract's order, two spaces of indent."""

    name = "json"
    media_type = "application/json"
    suffix = ".json"

    def render(self, investigation: Investigation) -> str:
        return dump(investigation.as_dict())


def dump(plain: Any) -> str:
    """Valid JSON for any plain value, safe on a terminal: what could act there stands as a ``\\u`` escape."""
    text = json.dumps(_finite(plain), indent=2, ensure_ascii=False, allow_nan=False, default=str)
    return _ACTS_ON_A_TERMINAL.sub(_escaped, text) + "\n"


def from_dict(plain: Any) -> Investigation:
    """The investigation whose ``as_dict()`` this is; raises StoreError for another schema or a wrong shape."""
    schema = plain.get("schema") if isinstance(plain, dict) else None
    if schema != "rca.report/1":
        raise StoreError(f"not an rca.report/1 document: schema is {schema!r}", hint="was it written by a newer rca?")
    return restore(Investigation, plain)


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity: they are written as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


def _escaped(match: re.Match[str]) -> str:
    """Only strings can hold these characters, so an escape is always in place; outside the BMP as a surrogate pair."""
    units = match.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))

"""What the running server's own log says of its settings, beside what its code makes of the launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent.domain.redaction import is_secret, placeholder
from agent.domain.verdict import AuditAnswer, Observed, Setting
from agent.probes.log import LogReading, parse_pairs

RECORD, LIMITS, ANSWER = "log", "limits_log", "server_info"


def observed(audit: AuditAnswer, reading: LogReading, told: Mapping[str, Any] | None = None) -> AuditAnswer:
    """The audit with the values of the start-up record, and of the lines after it that tell a limit, beside its own.

    ``told``: what the server itself answers now; it goes before the log.
    """
    record = reading.record.values if reading.record else {}
    limits: dict[str, Any] = {}
    for line in reading.limits:
        limits.update(parse_pairs(line.text))
    if not record and not limits and not told:
        return audit
    return replace(audit, settings=tuple(_beside(setting, record, limits, told or {}) for setting in audit.settings))


def _beside(setting: Setting, record: Mapping[str, Any], limits: Mapping[str, Any], told: Mapping[str, Any]) -> Setting:
    """A later line counts only for what the record leaves open: it tells what the server worked out for itself."""
    name = setting.name
    if name in told:
        return replace(setting, observed=Observed(value=_shown(name, told[name]), source=ANSWER))
    if record.get(name) is not None or (name in record and name not in limits):
        return replace(setting, observed=Observed(value=_shown(name, record[name]), source=RECORD))
    if name in limits:
        return replace(setting, observed=Observed(value=_shown(name, limits[name]), source=LIMITS))
    return setting


def _shown(name: str, value: Any) -> Any:
    return placeholder(name) if is_secret(name, str(value)) else value

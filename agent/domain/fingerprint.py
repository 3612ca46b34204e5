"""When are two findings the same fault? Package, guard and cause decide; lines, releases and hosts do not."""

from __future__ import annotations

import json

from agent.domain.investigation import Cause, Finding
from agent.domain.source import sha256


def fingerprint(finding: Finding, package: str) -> str:
    """Sixteen hex digits, the same for the same guard condition and cause wherever the line stands."""
    return _digest(package, _guard_text(finding), finding.cause.kind, finding.cause.name, _portable(finding.cause))


def cause_fingerprint(finding: Finding, package: str) -> str:
    """The wider one: the same cause in the same package, behind whatever guard."""
    return _digest(package, finding.cause.kind, finding.cause.name, _portable(finding.cause))


def _guard_text(finding: Finding) -> str:
    """The condition without its layout, with the function it stands in where known; without a guard, the first target."""
    if finding.guard is not None:
        return "".join(finding.guard.condition.split()) + "@" + finding.guard.function
    return "".join(finding.targets[0].text.split()) if finding.targets else finding.title


def _portable(cause: Cause) -> str:
    """The value as text; a path, which differs from host to host, counts as "a path"."""
    text = cause.actual if isinstance(cause.actual, str) else json.dumps(cause.actual, sort_keys=True, default=str)
    return "a path" if "/" in text else text


def _digest(*parts: str) -> str:
    return sha256(json.dumps(parts).encode())[:16]

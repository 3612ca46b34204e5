"""SARIF 2.1.0 (OASIS), for code-scanning views: one result per finding, at its guard, with the chain as a code flow."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from agent.domain.fingerprint import cause_fingerprint, fingerprint
from agent.domain.investigation import ChainStep, Finding, Investigation, UnknownThing
from agent.domain.visible import one_line, visible
from agent.reports import wording
from agent.reports.json import dump

_LEVELS = {"proved": "error", "assuming": "warning", "suspected": "note"}
_ROOT = "SRCROOT"


class SarifReport:
    """Paths are relative to the source root; files outside of it, such as a log, are given by what they are."""

    name = "sarif"
    media_type = "application/sarif+json"
    suffix = ".sarif"

    def render(self, investigation: Investigation) -> str:
        log = {
            "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
            "version": "2.1.0",
            "runs": [_run(investigation)],
        }
        return dump(log)


def _run(x: Investigation) -> dict[str, Any]:
    package = x.subject.package if x.subject else ""
    return {
        "tool": {"driver": {"name": "rca", "version": x.run.rca_version, "rules": [_rule(finding, package) for finding in x.findings]}},
        "automationDetails": {"id": f"rca/{quote(x.run.id, safe='')}"},
        "invocations": [_invocation(x)],
        **({"originalUriBaseIds": {_ROOT: {"uri": _root_uri(x.subject.root)}}} if x.subject else {}),
        "results": [_result(finding, at, package) for at, finding in enumerate(x.findings)],
        "columnKind": "unicodeCodePoints",
        "properties": {
            "outcome": x.outcome,
            "symptom": visible(x.symptom.text),
            "host": visible(x.run.host),
            "playbook": visible(x.playbook),
        },
    }


def _rule(finding: Finding, package: str) -> dict[str, Any]:
    """A rule is a cause: the same flag or key behind other guards is the same rule."""
    return {
        "id": _rule_id(finding, package),
        "name": "SilentlyDisabled",
        "shortDescription": _message(finding.title),
        "fullDescription": _message(finding.summary),
        "defaultConfiguration": {"level": _LEVELS.get(finding.confidence, "note")},
    }


def _rule_id(finding: Finding, package: str) -> str:
    return f"rca/{cause_fingerprint(finding, package)}"


def _result(finding: Finding, index: int, package: str) -> dict[str, Any]:
    where = finding.guard or (finding.targets[0] if finding.targets else None)
    flow = [_step(step) for step in finding.chain]
    return {
        "ruleId": _rule_id(finding, package),
        "ruleIndex": index,
        "level": _LEVELS.get(finding.confidence, "note"),
        "message": _message(_sentence(finding)),
        "locations": [_location(where.path, where.line)] if where and where.path else [],
        "relatedLocations": [
            {"id": at, **_location(target.path, target.line, f"{target.verdict}: {target.text}")}
            for at, target in enumerate(finding.targets, 1)
            if target.path
        ],
        **({"codeFlows": [{"threadFlows": [{"locations": flow}]}]} if flow else {}),
        "partialFingerprints": {"rcaFault/v1": fingerprint(finding, package)},
        "properties": {"confidence": finding.confidence, "assumptions": [visible(one) for one in finding.assumptions]},
    }


def _sentence(finding: Finding) -> str:
    """Cause, guard and fix: what a viewer shows without opening anything."""
    cause = finding.cause
    needed = f", needed {wording.required(cause)}" if cause.required else ""
    guard = f" {finding.guard.condition} is {finding.guard.truth}." if finding.guard else ""
    fix = f" Fix: {finding.fix.summary} {finding.fix.command}" if finding.fix else ""
    return f"{finding.summary} {wording.plainly(cause.name)} is {wording.shown(cause.actual)}{needed}.{guard}{fix}".strip()


def _step(step: ChainStep) -> dict[str, Any]:
    text = f"{step.text}  = {step.value}" if step.value else step.text
    location = _location(step.path, step.line, text) if step.path else {"message": _message(text)}
    return {"location": location, "importance": "essential" if step.role == "guard" else "important", "kinds": [step.role]}


def _location(path: str, line: int, text: str = "") -> dict[str, Any]:
    outside = path.startswith("/")
    uri = quote(visible(path), safe="/")
    artifact = {"uri": f"file://{uri}"} if outside else {"uri": uri, "uriBaseId": _ROOT}
    region = {"region": {"startLine": line}} if line > 0 else {}
    return {"physicalLocation": {"artifactLocation": artifact, **region}, **({"message": _message(text)} if text else {})}


def _root_uri(root: str) -> str:
    return "file://" + quote("/" + visible(root).strip("/"), safe="/").rstrip("/") + "/"


def _invocation(x: Investigation) -> dict[str, Any]:
    return {
        "executionSuccessful": x.outcome != "failed",
        "startTimeUtc": x.run.started_at,
        "toolExecutionNotifications": [_notification(unknown) for unknown in x.unknowns],
    }


def _notification(unknown: UnknownThing) -> dict[str, Any]:
    settle = f" Settled by: {unknown.settle_by}" if unknown.settle_by else ""
    return {"level": "note", "message": _message(f"Not determined: {unknown.what}: {unknown.why}.{settle}")}


def _message(text: str) -> dict[str, str]:
    """SARIF text may hold ``[links](1)`` and ``{0}`` placeholders, both with a backslash or a doubling as their escape."""
    flat = one_line(text) or "(empty)"
    return {"text": flat.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace("{", "{{").replace("}", "}}")}

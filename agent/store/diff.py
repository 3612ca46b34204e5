"""Two runs side by side: what the launch, the software and the findings have in common, and what not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agent.domain.fingerprint import fingerprint
from agent.domain.investigation import Finding, Investigation, LaunchInfo, Subject
from agent.domain.serialize import Plain, to_plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Plain):
    """One thing with two values; None on a side where it does not exist. ``area``: outcome, subject, flag, env, ..."""

    area: str
    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDiff(Plain):
    """What differs between two runs, in the order of the report."""

    schema: str = "rca.diff/1"
    before: str
    after: str
    differences: tuple[Difference, ...]
    same_findings: tuple[str, ...]
    """Titles of the findings that both have, by fingerprint."""


def compare(before: Investigation, after: Investigation) -> RunDiff:
    """Findings match by fingerprint, flags by name, hypotheses by claim; times, ids and costs are left out."""
    old, new = _findings(before), _findings(after)
    return RunDiff(
        before=before.run.id,
        after=after.run.id,
        differences=tuple(_differences(before, after, old, new)),
        same_findings=tuple(new[key].title for key in new if key in old),
    )


def _differences(
    before: Investigation, after: Investigation, old: Mapping[str, Finding], new: Mapping[str, Finding]
) -> Iterable[Difference]:
    yield from _changed("outcome", {"": before.outcome}, {"": after.outcome})
    yield from _changed("run", {"host": before.run.host}, {"host": after.run.host})
    yield from _changed("subject", _subject(before.subject), _subject(after.subject))
    yield from _changed("flag", flags(_argv(before.launch)), flags(_argv(after.launch)))
    yield from _changed("env", _env(before.launch), _env(after.launch))
    yield from _changed("finding", _only(old, new), _only(new, old))
    for key in new:
        if key in old:
            yield from _changed(f"finding {new[key].title}", _traits(old[key]), _traits(new[key]))
    yield from _changed("hypothesis", {h.claim: h.status for h in before.hypotheses}, {h.claim: h.status for h in after.hypotheses})
    yield from _changed("unknown", {u.what: u.why for u in before.unknowns}, {u.what: u.why for u in after.unknowns})


def flags(argv: Iterable[str]) -> dict[str, Any]:
    """``--name value``, ``--name=value`` and bare switches (True); what stands before the first flag is the ``command``.

    A flag given twice has the list of its values; several words after one flag are its list too.
    """
    found: dict[str, list[str]] = {"command": []}
    name = "command"
    for word in argv:
        if word.startswith("-") and not _number(word):
            name, equals, value = word.partition("=")
            found.setdefault(name, []).extend([value] if equals else [])
        else:
            found[name].append(word)
    return {key: _plain(key, values) for key, values in found.items()}


def _plain(key: str, values: list[str]) -> Any:
    if key == "command":
        return " ".join(values)
    return True if not values else values[0] if len(values) == 1 else values


def _number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _changed(area: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[Difference]:
    for name in {**before, **after}:
        if before.get(name) != after.get(name):
            yield Difference(area=area, name=name, before=before.get(name), after=after.get(name))


def _findings(investigation: Investigation) -> dict[str, Finding]:
    package = investigation.subject.package if investigation.subject else ""
    return {fingerprint(finding, package): finding for finding in investigation.findings}


def _only(these: Mapping[str, Finding], others: Mapping[str, Finding]) -> dict[str, str]:
    return {finding.title: finding.confidence for key, finding in these.items() if key not in others}


def _traits(finding: Finding) -> dict[str, Any]:
    """What may differ while it is still the same fault."""
    guard = finding.guard
    return {
        "guard": f"{guard.path}:{guard.line}" if guard else None,
        "confidence": finding.confidence,
        "assumptions": to_plain(finding.assumptions),
        "targets": {f"{target.path}: {target.text}": target.verdict for target in finding.targets},
    }


def _subject(subject: Subject | None) -> dict[str, Any]:
    return {} if subject is None else subject.as_dict()


def _argv(launch: LaunchInfo | None) -> tuple[str, ...]:
    return () if launch is None else launch.argv


def _env(launch: LaunchInfo | None) -> dict[str, str]:
    return {} if launch is None else launch.env

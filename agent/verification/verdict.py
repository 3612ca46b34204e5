"""Is it fixed? Guards, launch, log and numbers of a stored run against those of now."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent.domain import reached
from agent.domain.counting import counted
from agent.domain.errors import TargetNotFound
from agent.domain.facts import ABSENT, Answer, Facts
from agent.domain.investigation import Investigation, TargetVerdict
from agent.domain.metrics import ACCEPT_LENGTH, ACCEPT_RATE, THROUGHPUT
from agent.domain.playbook import LogExpectation, Playbook, Threshold
from agent.domain.reached import reading
from agent.domain.serialize import Plain, to_plain
from agent.domain.source import Absent, Unreadable
from agent.domain.truth import Truth
from agent.domain.values import Known
from agent.evaluation.interface import Engine
from agent.verification.check import FAILED, OPEN, PASSED, Check
from agent.verification.numbers import ENOUGH, Comparison, Series, compare
from agent.verification.payoff import Payoff, payoff
from agent.verification.settings import check_setting, wanted

_PER_BATCH: Final = {ACCEPT_LENGTH: False, ACCEPT_RATE: False, THROUGHPUT: True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The series of one log by metric."""

    series: Mapping[str, Series]

    def get(self, metric: str) -> Series | None:
        return self.series.get(metric)


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """What the run's playbook says now: confirmed, silent or undecided, and why it is not decided."""

    playbook: str
    outcome: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """What was read after the fix. ``log`` None: no log was read, which is not an empty one.

    ``newer``: files, source or config, that changed after the process began: it does not run what the engine reads.
    ``own_log`` False: the log's last start is that of the stored run, of a process that is gone; its numbers are not given then.
    ``again``: the run's playbook on the server as it is now, None where there is none; it finds its lines wherever they have moved.
    ``whole_log`` False: only its end was read, and what is not there may have been before.
    """

    engine: Engine
    facts: Facts
    log: tuple[str, ...] | None
    numbers: Numbers
    newer: tuple[str, ...] = ()
    own_log: bool = True
    again: Again | None = None
    whole_log: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification(Plain):
    """Contract ``rca.verify/1``. ``conclusion``: fixed, not_fixed, undecided; ``words`` says it in one sentence."""

    schema: str = "rca.verify/1"
    run: str
    conclusion: str
    words: str
    checks: tuple[Check, ...]
    numbers: tuple[Comparison, ...]
    payoff: Payoff | None = None

    def as_dict(self) -> dict[str, Any]:
        plain: dict[str, Any] = to_plain(self)
        return plain


def verify(
    before: Investigation, now: Now, *, numbers_before: Numbers, playbook: Playbook | None = None, baseline: float | Series | None = None
) -> Verification:
    """Judges every finding of the stored run again. ``baseline``: tokens per second without speculation, or a log's series."""
    comparisons = tuple(compare(name, numbers_before.get(name), now.numbers.get(name), per_batch=per) for name, per in _PER_BATCH.items())
    guards, values = list(_guards(before, now)), list(_settings(before, now))
    opened = any(check.status == PASSED for check in (*guards, *values))
    checks = [*_process(now), *_launch(before, now, opened=opened), *guards, *values, *_playbook(now, values)]
    if playbook is not None:
        checks += [_log_line(expected, now) for expected in playbook.verify.log]
        checks += [_threshold(threshold, comparisons, now) for threshold in playbook.verify.metrics]
    pays, pays_words = _pays(comparisons, now, baseline)
    conclusion = _conclusion(checks) if before.findings else "undecided"
    return Verification(
        run=before.run.id,
        conclusion=conclusion,
        words=_words(conclusion, checks if before.findings else [], comparisons, pays_words),
        checks=tuple(checks),
        numbers=tuple(one for one in comparisons if one.before is not None or one.after is not None),
        payoff=pays,
    )


def _process(now: Now) -> Iterator[Check]:
    """Files that changed under a running process are what its next start will run."""
    if now.newer:
        number = len(now.newer)
        shown = ", ".join(now.newer[:3]) + (f" and {number - 3} more" if number > 3 else "")
        why = f"{counted(number, 'file')} changed after it began ({shown}): restart the server, then verify again"
        yield Check(kind="process", name="the process runs what was read", before="", after="not known", status=OPEN, why=why)
    if not now.own_log:
        why = "the log's last start is that of the stored run: wait until this process has written its own, or use --watch"
        yield Check(kind="process", name="the log is this process's", before="", after="not yet", status=OPEN, why=why)


def _launch(before: Investigation, now: Now, *, opened: bool) -> Iterator[Check]:
    """The same command as before cannot have fixed what a command caused, unless a guard is open by now: then something else did."""
    if before.launch is None:
        return
    old, new = shlex.join(before.launch.argv), shlex.join(now.engine.launch.argv)
    flags = any(finding.cause.kind in ("flag", "env") for finding in before.findings)
    same = old == new and dict(before.launch.env) == dict(now.engine.launch.env)
    why = "the server still runs with the command of the stored run" if same else ""
    status = FAILED if same and flags and not opened else PASSED
    yield Check(kind="launch", name="launch command", before=old, after=new, status=status, why=why)


def _playbook(now: Now, values: Sequence[Check]) -> Iterator[Check]:
    """A playbook about a value may find its condition under the fix too: where every value is as it should be, that is no fault."""
    if now.again is None:
        return
    settled = bool(values) and all(check.status == PASSED for check in values)
    status = PASSED if settled else {"silent": PASSED, "confirmed": FAILED}.get(now.again.outcome, OPEN)
    why = "the value is as it should be all the same" if settled and now.again.outcome == "confirmed" else now.again.why
    yield Check(kind="playbook", name=now.again.playbook, before="confirmed", after=now.again.outcome, status=status, why=why)


def _settings(before: Investigation, now: Now) -> Iterator[Check]:
    """Of a finding about a value the value counts, wherever the line that changes it stands, and whether or not it still runs."""
    asked = [one for finding in before.findings for one in wanted(finding)]
    if asked:
        audit = now.engine.audit()
        yield from (check_setting(one, audit) for one in asked)


def _guards(before: Investigation, now: Now) -> Iterator[Check]:
    """A line that is gone is left to the playbook, where that has an answer."""
    answered = now.again is not None and now.again.outcome in ("silent", "confirmed")
    for finding in before.findings:
        for target in finding.touched:
            lines = () if target.setting else relocate(now.engine, target)
            if lines or not (answered or target.setting):
                yield _guard(target, lines, now)


def _guard(target: TargetVerdict, lines: Sequence[int], now: Now) -> Check:
    """A line that never ran has to run now, and one that always ran and should not has to rest."""
    name = f"{target.path}:{target.line} {target.text}"
    made = [_guard_at(name, target, line, now.engine) for line in lines]
    if len({check.status for check in made}) == 1:
        return made[0]
    apart = "the line moved, its text is there more than once, and they have different answers"
    why = apart if made else "this line is not in the source any more"
    return Check(kind="guard", name=name, before=target.verdict, after="unknown", status=OPEN, why=why)


def _guard_at(name: str, target: TargetVerdict, line: int, engine: Engine) -> Check:
    try:
        answer = engine.why(f"{target.path}:{line}", counterfactuals=False)
    except TargetNotFound as problem:
        return Check(kind="guard", name=name, before=target.verdict, after="unknown", status=OPEN, why=problem.what)
    shut = answer.decisive
    why = f"{shut.path}:{shut.line} `{shut.condition}` is {shut.truth}" if shut and answer.verdict == "never" else answer.reason
    return Check(
        kind="guard", name=name, before=target.verdict, after=answer.verdict, status=_moved(target.verdict, reading(answer)), why=why
    )


def _moved(before: str, after: str) -> str:
    """What never ran has to run, and what ran and should not has to rest."""
    if after == reached.OPEN:
        return OPEN
    return FAILED if (before == "never") == (after == reached.NEVER) else PASSED


def relocate(engine: Engine, target: TargetVerdict) -> tuple[int, ...]:
    """Where the target may be now: the same line if its text is, else every line of that text in the file, the nearest first."""
    content = engine.tree.read(target.path)
    wanted = target.text.strip().splitlines()[0] if target.text.strip() else ""
    if isinstance(content, (Absent, Unreadable)) or not wanted:
        return ()
    lines = [line.strip() for line in content.decode("utf-8", "replace").splitlines()]
    exact = [number for number, line in enumerate(lines, 1) if line == wanted]
    same = exact or [number for number, line in enumerate(lines, 1) if line.startswith(wanted)]
    return (target.line,) if target.line in same else tuple(sorted(same, key=lambda number: abs(number - target.line)))


def _log_line(expected: LogExpectation, now: Now) -> Check:
    wanted = "present" if expected.present else "absent"
    name = expected.means or expected.pattern
    if now.log is None:
        return Check(kind="log", name=name, before="", after="unknown", status=OPEN, why="the log was not read")
    found = any(re.search(expected.pattern, line) for line in now.log)
    if not found and not now.whole_log:
        return Check(kind="log", name=name, before="", after="unknown", status=OPEN, why="only the end of the log was read")
    status = PASSED if found == expected.present else FAILED
    return Check(kind="log", name=name, before="", after="present" if found else "absent", status=status, why=f"expected {wanted}")


def _threshold(threshold: Threshold, comparisons: Iterable[Comparison], now: Now) -> Check:
    found = next((one for one in comparisons if one.metric == threshold.metric), None)
    series = now.numbers.get(threshold.metric)
    before = _number(found.before) if found and found.comparable else ABSENT
    after = _number(found.after) if found else ABSENT
    shown = {"before": _shown(before), "after": _shown(after)}
    name = f"{threshold.metric}: {threshold.means or threshold.formula.text}"
    if series is None or series.count < ENOUGH:
        why = f"only {series.count if series else 0} lines with this number, {ENOUGH} are needed"
        return Check(kind="number", name=name, status=OPEN, why=why, **shown)
    truth = threshold.formula.truth(now.facts, {"before": before, "after": after})
    status = {Truth.TRUE: PASSED, Truth.FALSE: FAILED, Truth.UNKNOWN: OPEN}[truth]
    why = f"`{threshold.formula.text}`" if truth is not Truth.UNKNOWN else f"`{threshold.formula.text}`: {found.why if found else ''}"
    return Check(kind="number", name=name, status=status, why=why, **shown)


def _number(value: float | None) -> Answer:
    return ABSENT if value is None else Known(value=value)


def _shown(value: Answer) -> str:
    return f"{value.value:.2f}" if isinstance(value, Known) else "not there"


def _pays(comparisons: Iterable[Comparison], now: Now, baseline: float | Series | None) -> tuple[Payoff | None, str]:
    """Needs speculation, a throughput and a baseline at one batch size; without a baseline nothing is said."""
    length, speed = now.numbers.get(ACCEPT_LENGTH), now.numbers.get(THROUGHPUT)
    if baseline is None:
        return None, ""
    if length is None or speed is None:
        return None, "whether speculation pays is not known: the log has no accept length or no throughput yet"
    found = next(one for one in comparisons if one.metric == THROUGHPUT)
    if isinstance(baseline, Series):
        found = compare(THROUGHPUT, baseline, speed, per_batch=True)
        if not found.comparable:
            return None, f"whether speculation pays is not known: {found.why.replace('before', 'in the baseline').replace('after', 'here')}"
    elif speed.ranks > 1:
        why = f"{speed.ranks} ranks tell their own throughput each, and the baseline is one number: give a log of such a server"
        return None, f"whether speculation pays is not known: {why}"
    without, accepted = baseline if not isinstance(baseline, Series) else found.before or 0.0, _at_size(length, found.at)
    if not found.after or min(without, found.after, accepted) <= 0:
        return None, "whether speculation pays is not known: an accept length or a throughput is zero"
    made = payoff(accepted, found.after, without)
    return made, ("speculation pays: " if made.pays else "speculation still does not pay: ") + made.words


def _at_size(series: Series, size: int) -> float:
    """The mean at one batch size, where there is one."""
    return series.by_running[size][1] if size in series.by_running else series.mean


def _conclusion(checks: Sequence[Check]) -> str:
    """A failed check is a fault that is still there; without any judged guard or number nothing was shown."""
    statuses = {check.status for check in checks}
    if FAILED in statuses:
        return "not_fixed"
    shown = any(check.status == PASSED and check.kind != "launch" for check in checks)
    return "fixed" if shown and OPEN not in statuses else "undecided"


def _words(conclusion: str, checks: Sequence[Check], comparisons: Sequence[Comparison], pays: str) -> str:
    parts = [_CONCLUSIONS[conclusion](checks)]
    for one in comparisons:
        if one.comparable and one.before is not None and one.after is not None:
            at = f" at {one.at} running" if one.at else ""
            parts.append(f"{_NAMES[one.metric]} {one.before:.2f} before, {one.after:.2f} after{at}")
    return "; ".join([*parts, pays] if pays else parts)


_NAMES: Final = {ACCEPT_LENGTH: "accept length", ACCEPT_RATE: "accept rate", THROUGHPUT: "throughput"}


def _not_fixed(checks: Sequence[Check]) -> str:
    failed = next(check for check in checks if check.status == FAILED)
    stale = "".join(f"; {check.why}" for check in checks if check.kind == "process")
    return f"not fixed: {failed.name}: {failed.why or failed.after}{stale}"


def _undecided(checks: Sequence[Check]) -> str:
    open_ = next((check for check in checks if check.status == OPEN), None)
    return f"undecided: {open_.name}: {open_.why or open_.after}" if open_ else "undecided: the stored run has nothing to judge again"


_CONCLUSIONS: Final[Mapping[str, Callable[[Sequence[Check]], str]]] = {
    "fixed": lambda checks: "fixed",
    "not_fixed": _not_fixed,
    "undecided": _undecided,
}

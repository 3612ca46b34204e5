"""The check of a claim: by the engine where it speaks of conditions and values, by reading again where it quotes."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from agent.domain.errors import RcaError, TargetNotFound
from agent.domain.redaction import is_redacted, is_secret
from agent.domain.source import Absent, Unreadable
from agent.domain.values import Known, OneOf, Unknown, Value
from agent.domain.verdict import Guard, WhyAnswer
from agent.domain.visible import in_backticks, one_line
from agent.subagents.model.claims import REFUTED, SUPPORTED, UNVERIFIABLE, Checked, Claim
from agent.subagents.model.fence import clean
from agent.tools.config_value import at_key, known_file, parsed
from agent.tools.effective_value import setting_name, told, value_of
from agent.tools.grep import command_shown, search
from agent.tools.interface import Bench
from agent.tools.patterns import compile_pattern
from agent.tools.reading import NotRead, clean_path, lines_of, shown_lines_of
from agent.tools.why import rendered

_NEXT_LINES = 6
"""Lines after a condition in which the first statement that it controls is looked for."""
_SHORTEST_QUOTE = 4
_LONGEST_VALUE = 200
"""Characters of a value or a line that are told; a claim is checked against the whole."""
_KEY = re.compile(r"[\w.-]{1,120}")
_VARIABLE = re.compile(r"[A-Za-z_]\w{0,120}")


def check(claim: Claim, id_: str, bench: Bench) -> Checked:
    """Supported, refuted, or unverifiable with the reason. Never raises for anything a claim can hold."""
    try:
        found = _CHECKS[claim.kind](claim, bench)
    except RcaError as error:
        found = _Outcome(UNVERIFIABLE, "", counter=str(error))
    except Exception as error:
        # As for tools: what cannot be checked is not known, whatever the reason.
        found = _Outcome(UNVERIFIABLE, "", counter=f"this claim could not be checked ({type(error).__name__})")
    safe = bench.sources.masked_code
    return Checked(
        id=id_, claim=claim, status=found.status, said=one_line(safe(found.said)), counter=one_line(safe(found.counter)),
        evidence=found.evidence, answer=found.answer, guard=found.guard,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Outcome:
    status: str
    said: str
    counter: str = ""
    evidence: tuple[str, ...] = ()
    answer: WhyAnswer | None = None
    guard: Guard | None = None


def _quoted(text: str) -> str:
    """What a host or a model wrote, in a sentence of ours: it cannot end its own quotation."""
    return in_backticks(_brief(text))


def _brief(text: str) -> str:
    flat = one_line(text)
    return flat if len(flat) <= _LONGEST_VALUE else f"{flat[:_LONGEST_VALUE]}..."


# --- conditions ----------------------------------------------------------------------------------------------------------------


def _guard_is(wanted: str) -> Callable[[Claim, Bench], _Outcome]:
    def check_guard(claim: Claim, bench: Bench) -> _Outcome:
        path = clean_path(claim.path, bench.sources.tree)
        for target in _targets(claim, path, bench):
            try:
                answer = bench.sources.engine.why(target, counterfactuals=False)
            except TargetNotFound:
                continue
            guards = guards_at(answer, path, claim.line)
            if guards:
                return _judged(wanted, guards, answer, target, bench)
        where = f" on the way to {claim.target}" if claim.target else ""
        return _Outcome(UNVERIFIABLE, "", counter=f"the engine knows no condition at {path}:{claim.line}{where}")

    return check_guard


def _targets(claim: Claim, path: str, bench: Bench) -> Iterator[str]:
    """The target that was named; else the statements right after the condition, of which the first one it controls will do."""
    if claim.target:
        yield _clean_target(claim.target, bench)
        return
    lines = lines_of(bench.sources.tree, path)
    if isinstance(lines, NotRead):
        return
    for number in range(claim.line + 1, min(claim.line + 1 + _NEXT_LINES, len(lines) + 1)):
        if lines[number - 1].strip():
            yield f"{path}:{number}"


def _clean_target(target: str, bench: Bench) -> str:
    path, colon, line = target.strip().rpartition(":")
    return f"{clean_path(path, bench.sources.tree)}:{line}" if colon and line.isdigit() else target.strip()


def guards_at(answer: WhyAnswer, path: str, line: int) -> list[Guard]:
    """This condition as it stands on each path to the target; two instances of a class may give two answers."""
    every = [*([answer.decisive] if answer.decisive else []), *(g for p in answer.paths for g in p.guards)]
    return [guard for guard in every if guard.path == path and guard.line == line]


def _judged(wanted: str, guards: list[Guard], answer: WhyAnswer, target: str, bench: Bench) -> _Outcome:
    truths = sorted({guard.truth for guard in guards})
    guard = guards[0]
    place, condition = f"{guard.path}:{guard.line}", _quoted(guard.condition)
    ids = (_source_line(bench, guard.path, guard.line), _verdict(bench, answer, target))
    if truths == [wanted]:
        return _Outcome(SUPPORTED, f"{condition} at {place} is {wanted}", evidence=ids, answer=answer, guard=guard)
    if len(truths) > 1:
        return _Outcome(UNVERIFIABLE, "", counter=f"{condition} at {place} is {' or '.join(truths)}, by path", evidence=ids)
    status = UNVERIFIABLE if truths == ["unknown"] else REFUTED
    return _Outcome(status, "", counter=f"{condition} at {place} is {truths[0]}", evidence=ids, answer=answer, guard=guard)


def _source_line(bench: Bench, path: str, line: int) -> str:
    lines = shown_lines_of(bench.sources.tree, path)
    text = lines[line - 1] if isinstance(lines, list) and line <= len(lines) else ""
    return bench.ledger.add("source", text, path=path, start=line)


def _verdict(bench: Bench, answer: WhyAnswer, target: str) -> str:
    said = bench.sources.masked_code("\n".join(rendered(answer)))
    return bench.ledger.add("command", said, path=answer.target.path, start=answer.target.line, command=f"rca why {target}")


# --- values --------------------------------------------------------------------------------------------------------------------


def _value_is(claim: Claim, bench: Bench) -> _Outcome:
    family, _, rest = claim.name.strip().partition(":")
    if rest and family in _FAMILIES:
        return _FAMILIES[family](claim, rest, bench)
    name = setting_name(claim.name)
    value = value_of(bench.sources, name)
    evidence = bench.ledger.add("command", bench.sources.masked(f"{name} = {told(value, name)}"), command=f"rca audit  # {name}")
    return _compared(name, name, value, claim.value, evidence)


def _compared(name: str, key: str, value: Value, claimed: Any, evidence: str) -> _Outcome:
    """``key`` tells whether the value is a secret: then nothing is said of it, least of all whether a guess is right."""
    if not isinstance(value, Unknown) and any(_holds_secret(key, v) for v in _candidates(value)):
        return _Outcome(UNVERIFIABLE, "", counter=f"{name} is a secret", evidence=(evidence,))
    if isinstance(value, Known):
        if same(value.value, claimed):
            return _Outcome(SUPPORTED, f"{name} is {_told_briefly(value, key)}", evidence=(evidence,))
        return _Outcome(REFUTED, "", counter=f"{name} is {_told_briefly(value, key)}", evidence=(evidence,))
    if isinstance(value, OneOf) and not any(same(candidate, claimed) for candidate in value.values):
        return _Outcome(REFUTED, "", counter=f"{name} is {_told_briefly(value, key)}", evidence=(evidence,))
    return _Outcome(UNVERIFIABLE, "", counter=f"{name} is {_told_briefly(value, key)}", evidence=(evidence,))


def _told_briefly(value: Value, key: str) -> str:
    """A value that is cut would leave its own quotation open, and a backtick one that follows."""
    text = told(value, key)
    return text if len(text) <= _LONGEST_VALUE and "`" not in text else _quoted(text)


def _holds_secret(key: str, value: Any) -> bool:
    """Whether the value is one, or has one inside."""
    if isinstance(value, dict) and any(_holds_secret(str(inner), item) for inner, item in value.items()):
        return True
    if isinstance(value, (list, tuple)) and any(_holds_secret(key, item) for item in value):
        return True
    return is_redacted(value) or is_secret(key, str(value))


def _candidates(value: Known | OneOf) -> tuple[Any, ...]:
    return (value.value,) if isinstance(value, Known) else value.values


def same(actual: Any, claimed: Any) -> bool:
    """Equal as JSON: a list is a tuple, True is not 1; a claim may spell ``None`` and numbers as text."""
    if isinstance(claimed, str) and not isinstance(actual, str):
        claimed = _literal(claimed)
    if isinstance(actual, bool) or isinstance(claimed, bool):
        return actual is claimed
    if isinstance(actual, (list, tuple)) and isinstance(claimed, (list, tuple)):
        return len(actual) == len(claimed) and all(same(a, c) for a, c in zip(actual, claimed, strict=True))
    return type(actual) is type(claimed) and bool(actual == claimed) if isinstance(actual, (str, type(None))) else bool(actual == claimed)


def _literal(text: str) -> Any:
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return text


def _config_is(claim: Claim, rest: str, bench: Bench) -> _Outcome:
    file, _, key = rest.rpartition(":")
    if not _KEY.fullmatch(key):
        return _Outcome(UNVERIFIABLE, "", counter="the claim names no key of a file")
    path = known_file(bench.sources, file)
    if path is None:
        return _Outcome(UNVERIFIABLE, "", counter=f"{file} is not one of the collected files")
    document = parsed(bench.sources, path)
    if isinstance(document, NotRead):
        return _Outcome(UNVERIFIABLE, "", counter=document.why)
    try:
        value = at_key(document, key)
    except KeyError:
        return _Outcome(
            REFUTED, "", counter=f"{path} has no key {key}", evidence=(bench.ledger.add("absence", f"no key {key}", path=path),)
        )
    excerpt = bench.sources.masked(f"{key} = {json.dumps(value, ensure_ascii=False)}")
    return _compared(f"{key} in {path}", key, Known(value=value), claim.value, bench.ledger.add("config", excerpt, path=path))


def _env_is(claim: Claim, rest: str, bench: Bench) -> _Outcome:
    if not _VARIABLE.fullmatch(rest):
        return _Outcome(UNVERIFIABLE, "", counter="the claim names no environment variable")
    launch = bench.sources.engine.launch
    value = launch.env.get(rest)
    if value is None and not launch.lacks(rest):
        return _Outcome(UNVERIFIABLE, "", counter=f"the environment variable {rest} was not read")
    evidence = bench.ledger.add("environment", bench.sources.masked(f"{rest}={value}" if value is not None else f"{rest} is not set"))
    return _compared(f"the environment variable {rest}", rest, Known(value=value), claim.value, evidence)


_FAMILIES: dict[str, Callable[[Claim, str, Bench], _Outcome]] = {"config": _config_is, "env": _env_is}


# --- text ----------------------------------------------------------------------------------------------------------------------


def _line_says(claim: Claim, bench: Bench) -> _Outcome:
    path = clean_path(claim.path, bench.sources.tree)
    is_log = path in bench.sources.logs
    line = _log_line(path, claim.line, bench) if is_log else _tree_line(path, claim.line, bench)
    if isinstance(line, _Outcome):
        return line
    mask = bench.sources.masked if is_log else bench.sources.masked_code
    actual, quoted = as_seen(line), as_seen(mask(claim.text))
    evidence = (bench.ledger.add("log" if is_log else "source", line, path=path, start=claim.line),)
    reads = f"{path}:{claim.line} reads {_quoted(actual)}"
    if quoted == actual or (len(quoted.replace(" ", "")) >= _SHORTEST_QUOTE and quoted in actual):
        return _Outcome(SUPPORTED, reads, evidence=evidence)
    return _Outcome(REFUTED, "", counter=reads, evidence=evidence)


def _log_line(path: str, number: int, bench: Bench) -> str | _Outcome:
    """A collected line; of a long log only a part was collected."""
    found = next((line.text for line in bench.sources.logs[path] if line.number == number), None)
    missing = _Outcome(UNVERIFIABLE, "", counter=f"line {number} of {path} was not collected")
    return missing if found is None else bench.sources.masked(found)


def _tree_line(path: str, number: int, bench: Bench) -> str | _Outcome:
    lines = shown_lines_of(bench.sources.tree, path)
    if isinstance(lines, NotRead):
        return _Outcome(REFUTED if lines.absent else UNVERIFIABLE, "", counter=lines.why)
    return lines[number - 1] if number <= len(lines) else _Outcome(REFUTED, "", counter=f"{path} has {len(lines)} lines")


def as_seen(text: str) -> str:
    """A masked line as a model saw it: without control characters, white space made even."""
    return " ".join(clean(text).split())


def _pattern_absent(claim: Claim, bench: Bench) -> _Outcome:
    tree = bench.sources.tree
    scope = clean_path(claim.scope, tree)
    found = search(tree, compile_pattern(claim.pattern), scope, most=3)
    where = scope or "the tree"
    if not found.files:
        return _Outcome(UNVERIFIABLE, "", counter=f"there is nothing under {where}")
    if found.hits:
        ids = tuple(bench.ledger.add("source", h.text, path=h.path, start=h.line) for h in found.hits)
        first = found.hits[0]
        return _Outcome(REFUTED, "", counter=f"{first.path}:{first.line} reads {_quoted(first.text)}", evidence=ids)
    if found.unread:
        return _Outcome(UNVERIFIABLE, "", counter=f"{len(found.unread)} files under {where} could not be read")
    said = f"no line of the {found.files} source files of {where} matches {_quoted(claim.pattern)}"
    evidence = bench.ledger.add("absence", said, path=scope, command=command_shown(claim.pattern, scope))
    return _Outcome(SUPPORTED, said, evidence=(evidence,))


def _file_absent(claim: Claim, bench: Bench) -> _Outcome:
    tree = bench.sources.tree
    path = clean_path(claim.path, tree)
    known = known_file(bench.sources, path)
    if known is None and (path.startswith("/") or ".." in path.split("/")):
        return _Outcome(UNVERIFIABLE, "", counter=f"{path} is neither in the source tree nor a collected file")
    content = bench.sources.files.read(known) if known is not None else tree.read(path)
    if isinstance(content, Unreadable):
        return _Outcome(UNVERIFIABLE, "", counter=f"{path} cannot be read: {content.reason}")
    if isinstance(content, Absent) and any(file.startswith(path.rstrip("/") + "/") for file in tree.files()):
        return _Outcome(REFUTED, "", counter=f"{path} is a directory")
    if isinstance(content, Absent) and known is None and not path.endswith(".py"):
        # A snapshot holds Python sources; that it lacks another file says nothing about the host.
        return _Outcome(UNVERIFIABLE, "", counter=f"{path} was not looked up: only Python sources are at hand")
    if isinstance(content, Absent):
        said = f"there is no file {_quoted(path)}"
        return _Outcome(SUPPORTED, said, evidence=(bench.ledger.add("absence", said, path=path),))
    return _Outcome(REFUTED, "", counter=f"{path} exists", evidence=(bench.ledger.add("source", "", path=path),))


_CHECKS: dict[str, Callable[[Claim, Bench], _Outcome]] = {
    "guard_false": _guard_is("false"),
    "guard_true": _guard_is("true"),
    "value_is": _value_is,
    "line_says": _line_says,
    "pattern_absent": _pattern_absent,
    "file_absent": _file_absent,
}

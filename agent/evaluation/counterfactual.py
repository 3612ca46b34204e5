"""The smallest change that opens a closed target: candidates from what the deciding values were made of, each tried from the start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent.analysis import ir
from agent.analysis.walk import SUITE_FIELDS, walk
from agent.domain.verdict import Change, Counterfactual, Guard, NextEvent, Place, WhyAnswer
from agent.evaluation.models.argument_parser import command_line
from agent.evaluation.settings import final_cell, outward
from agent.evaluation.values import ClassV

if TYPE_CHECKING:
    from agent.evaluation.engine import LaunchEngine

MAX_TRIED = 6
MAX_FOUND = 1
"""A change is tried by running the launch from the start, so few are; the first that opens the target lies nearest to the guard."""


def with_counterfactuals(engine: LaunchEngine, query: str, answer: WhyAnswer) -> WhyAnswer:
    """The answer with the changes that open its target."""
    return replace(answer, counterfactuals=counterfactuals(engine, query, answer))


def counterfactuals(engine: LaunchEngine, query: str, answer: WhyAnswer) -> tuple[Counterfactual, ...]:
    """Changes of one input each, evaluated from the start; in the order in which their inputs lie nearest to the guard."""
    found: list[Counterfactual] = []
    place = f"{answer.target.path}:{answer.target.line}"
    for tried, change in enumerate(_candidates(engine, answer)):
        if tried >= MAX_TRIED or len(found) >= MAX_FOUND:
            break
        changed = engine.under((change,))
        if _refused(changed):
            continue
        opened = changed.judged(changed.targets(place)[0])
        if opened.verdict != "never":
            found.append(Counterfactual(change=(change,), opens=_opened(answer), next=_next(engine, changed, opened)))
    return tuple(found)


def after(engine: LaunchEngine, query: str, changes: Sequence[Change]) -> Counterfactual | None:
    """Given changes, evaluated from the start; see ``interface.Engine.after``."""
    before = engine.why(query, counterfactuals=False)
    changed = engine.under(changes)
    if _refused(changed):
        return None
    then = changed.judged(before.target)
    opens = _opened(before) if before.verdict == "never" != then.verdict else ()
    return Counterfactual(change=tuple(changes), opens=opens, next=_next(engine, changed, then))


def _refused(changed: LaunchEngine) -> bool:
    """Whether the changed launch does not start at all."""
    machine = changed.machine
    return changed.refused is not None or (any(r.certain for r in machine.raised) and not machine.settled)


def _opened(closed: WhyAnswer) -> tuple[Place, ...]:
    """What opens with a closed target: itself and the guard that decided."""
    opens = [Place(path=closed.target.path, line=closed.target.line)]
    if closed.decisive is not None:
        opens.append(Place(path=closed.decisive.path, line=closed.decisive.line))
    return tuple(dict.fromkeys(opens))


def _next(engine: LaunchEngine, changed: LaunchEngine, opened: WhyAnswer) -> tuple[NextEvent, ...]:
    """What the changed launch raises that the old one did not, what it swallows, and which of its settings it then overrides."""
    before = {(r.place, r.type) for r in engine.machine.raised}
    found: list[NextEvent] = []
    for item in changed.machine.raised:
        if (item.place, item.type) not in before and item.certain:
            found.append(NextEvent(kind="raises", path=item.place.path, line=item.place.line, text=f"{item.type}: {item.message}"))
    for guard in (g for path in opened.paths for g in path.guards if g.kind == "except"):
        found.append(NextEvent(kind="swallowed", path=guard.path, line=guard.line, text=guard.condition))
    found += _missing_methods(changed, opened)
    return tuple(dict.fromkeys(found))


def _missing_methods(changed: LaunchEngine, opened: WhyAnswer) -> list[NextEvent]:
    """The target calls a method on the model: does the model class of the given architecture have it?"""
    from agent.evaluation.model_class import lacks_method

    return lacks_method(changed, opened.target)


# --- candidates --------------------------------------------------------------------------------------------------------------


def _candidates(engine: LaunchEngine, answer: WhyAnswer) -> Iterator[Change]:
    """Inputs that the guards' operands came from, with other values they could have."""
    seen: set[tuple[str, str]] = set()
    guards = [g for g in ([answer.decisive] if answer.decisive else []) + [g for p in answer.paths for g in p.guards] if g is not None]
    for name in _inputs(engine, guards):
        for change in _values(engine, name, guards):
            key = (change.name, repr(change.to))
            if key not in seen:
                seen.add(key)
                yield change


def _inputs(engine: LaunchEngine, guards: list[Guard]) -> list[str]:
    """Configuration fields that the guards rest on, guard by guard."""
    return list(dict.fromkeys(name for guard in guards for name in _behind(engine, guard)))


def _behind(engine: LaunchEngine, guard: Guard) -> list[str]:
    """Fields written where the guard's operands come from, or named in its text; only where there are none, those such a line names.

    A line that passes twenty settings on names nineteen that have nothing to do with the guard.
    """
    m = engine.machine
    origins = dict.fromkeys((p.path, p.line) for op in guard.operands for p in op.from_)
    texts = [guard.condition, *(op.text for op in guard.operands)]
    fields = [field for obj in reversed(list(m.settled)) if isinstance(obj.cls, ClassV) for field in (obj.cls.fields or {}).values()]
    names = [*(field.name for field in fields), *command_line(m).options]
    near = [field.name for field in fields if (field.path, field.line) in origins]
    near += [name for name in names if any(_mentions(text, name) for text in texts)]
    if near:
        return near
    lines = [_text_at(engine, path, line) for path, line in sorted(origins)]
    return [name for name in names if any(_mentions(text, name) for text in lines)]


def _text_at(engine: LaunchEngine, path: str, line: int) -> str:
    """The simple statement around a line; of any other, the line."""
    from agent.analysis.targets import line_text

    if path not in engine.index.files:
        return ""
    statement = engine.index.statement_at(path, line)
    if statement is None or SUITE_FIELDS[type(statement)]:
        return line_text(engine.index, path, line)
    return engine.index.module(path).source[statement.start_byte : statement.end_byte].decode(errors="replace")


def _mentions(text: str, name: str) -> bool:
    position = text.find(name)
    while position >= 0:
        before, after = text[position - 1 : position], text[position + len(name) : position + len(name) + 1]
        if not (before.isalnum() or before == "_") and not (after.isalnum() or after == "_"):
            return True
        position = text.find(name, position + 1)
    return False


def _values(engine: LaunchEngine, name: str, guards: list[Guard]) -> list[Change]:
    m = engine.machine
    option = command_line(m).options.get(name) or next(
        (o for o in command_line(m).options.values() if any(f.lstrip("-").replace("-", "_") == name for f in o.flags)), None
    )
    if option is None:
        return []
    flag = next((f for f in option.flags if f.startswith("--")), "")
    cell = final_cell(m, name)
    current = outward(m, cell[1].value) if cell is not None else None
    value = getattr(current, "value", None)
    return [Change(name=flag, from_=value, to=other) for other in _others(engine, option, value, guards) if other != value] if flag else []


def _others(engine: LaunchEngine, option: Any, value: Any, guards: list[Guard]) -> list[Any]:
    """Declared choices, the other truth value, and literals that the guards compare with."""
    choices = _choices(engine, option)
    if choices:
        return choices
    if isinstance(value, bool):
        return [not value]
    return [literal for guard in guards for literal in _literals(engine, guard)]


def _choices(engine: LaunchEngine, option: Any) -> list[Any]:
    parsers = engine.machine.singletons.get("parsers", {})
    for real in parsers.values():
        for action in getattr(real, "_actions", ()):
            if action.option_strings and action.option_strings[0] == option.flags[0] and action.choices:
                return [c for c in action.choices if isinstance(c, (str, int))]
    return []


def _literals(engine: LaunchEngine, guard: Guard) -> list[Any]:
    if guard.path not in engine.index.files:
        return []
    statement = engine.index.statement_at(guard.path, guard.line)
    if statement is None:
        return []
    test = getattr(statement, "test", statement)
    constants = [node.value for node in walk(test) if isinstance(node, ir.Constant)]
    return list(dict.fromkeys(value for value in constants if isinstance(value, (str, int)) and not isinstance(value, bool)))

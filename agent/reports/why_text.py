"""The answer of ``rca why`` as a tree a person can read: verdict, deciding guard, call paths, what would open it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agent.domain.verdict import CallStep, Counterfactual, Guard, Operand, PathCondition, Place, Used, WhyAnswer
from agent.domain.visible import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

_VERDICTS = {
    "never": ("never runs", "bold red"),
    "always": ("always runs", "bold green"),
    "may": ("may run", "bold yellow"),
    "unknown": ("could not be decided", "bold yellow"),
}
_STATES = {True: ("open", "green"), False: ("closed", "red"), None: ("undecided", "yellow")}
_MARKS = {True: ("+", "green"), False: ("x", "red"), None: ("?", "yellow")}
_EVENTS = {
    "raises": "then it raises",
    "closed_guard": "then this stays closed",
    "override": "then this overrides it",
    "swallowed": "then an error is swallowed",
}
_FULL_PATHS = 2
_CODE = 100
_PIPED = 10_000


def show_why(answer: WhyAnswer, console: Console, *, everything: bool = False) -> None:
    """Two call paths are shown in full, the others as one line unless ``everything``; rich honours NO_COLOR and pipes."""
    from rich.text import Text
    from rich.tree import Tree

    target = answer.target
    words, style = _VERDICTS.get(answer.verdict, (answer.verdict, "bold"))
    root = Tree(
        Text.assemble((f"{target.path}:{target.line}", "bold"), f" in {one_line(target.function)} ", (words, style)), guide_style="dim"
    )
    root.add(Text(_code(target.text), style="cyan"))
    if answer.reason:
        root.add(Text(f"because {one_line(answer.reason)}"))
    if answer.decisive is not None:
        _add_guard(root.add(Text("decided by", style="bold")), answer.decisive)
    if answer.depends_on is not None:
        _add_guard(root.add(Text("it depends on", style="bold")), answer.depends_on)
    _add_uses(root, answer.uses)
    _add_paths(root, answer, everything)
    for counterfactual in answer.counterfactuals:
        _add_counterfactual(root, counterfactual)
    if answer.assumptions:
        branch = root.add(Text("assuming", style="bold"))
        for text in answer.assumptions:
            branch.add(Text(one_line(text)))
    if not console.is_terminal:
        console.width = _PIPED  # a pipe has no width: nothing is wrapped or cut
    console.print(root)


def _add_uses(root: Tree, uses: Sequence[Used]) -> None:
    """What the line reads, with the lines that gave it and the conditions under which the nearest of them ran."""
    from rich.text import Text

    from agent.reports.audit_text import value_words

    branch = root.add(Text("it reads", style="bold")) if uses else root
    for each in uses:
        on = f" of {one_line(each.instance)}" if each.instance else ""
        text = Text.assemble((_code(each.text), "bold"), on, " = ", (one_line(value_words(each.text, each.effective)), "magenta"))
        if each.from_:
            text.append(f"  from {_places(each.from_)}", style="dim")
        twig = branch.add(text)
        for guard in each.guards:
            _add_guard(twig, guard)


def is_met(guard: Guard) -> bool | None:
    """Whether the guard lets through; None is undecided."""
    return None if guard.truth not in ("true", "false") else (guard.truth == "true") == guard.polarity


def _add_paths(root: Tree, answer: WhyAnswer, everything: bool) -> None:
    from rich.text import Text

    total = len(answer.paths)
    for number, path in enumerate(answer.paths, 1):
        state, style = _STATES[path.open]
        title = Text.assemble((f"path {number} of {total}: ", "bold"), (state, style))
        if not everything and number > _FULL_PATHS:
            root.add(Text.assemble(title, Text(f" {_route(path.calls)}", style="dim")))
            continue
        branch = root.add(title)
        for call in path.calls:
            instance = f" [{one_line(call.instance)}]" if call.instance else ""
            branch.add(Text.assemble((f"{call.path}:{call.line}", "dim"), f" {one_line(call.function)}{instance}"))
        for guard in _shown_guards(path, answer.decisive):
            _add_guard(branch, guard)


def _shown_guards(path: PathCondition, decisive: Guard | None) -> Iterator[Guard]:
    """In order; the decisive one stands above already."""
    return (guard for guard in path.guards if guard != decisive)


def _route(calls: Sequence[CallStep]) -> str:
    return " > ".join(one_line(call.function) for call in calls[-4:])


def _add_guard(branch: Tree, guard: Guard) -> None:
    from rich.text import Text

    mark, style = _MARKS[is_met(guard)]
    needed = "true" if guard.polarity else "false"
    line = Text.assemble((f"{mark} ", style), (f"{guard.path}:{guard.line} ", "dim"), _code(guard.condition))
    line.append(f"  must be {needed}, is {guard.truth}", style=style)
    twig = branch.add(line)
    for operand in guard.operands:
        twig.add(_operand(operand, decisive=operand.text == guard.decisive_operand))


def _operand(operand: Operand, *, decisive: bool) -> Text:
    from rich.text import Text

    text = Text.assemble((_code(operand.text), "bold" if decisive else ""), " = ", (one_line(operand.value), "magenta"))
    if operand.from_:
        text.append(f"  from {_places(operand.from_)}", style="dim")
    return text


def _places(places: Sequence[Place]) -> str:
    return " < ".join(f"{place.path}:{place.line}" for place in places)


def _add_counterfactual(root: Tree, counterfactual: Counterfactual) -> None:
    from rich.text import Text

    changes = ", ".join(f"{one_line(change.name)} {change.from_!r} -> {change.to!r}" for change in counterfactual.change)
    branch = root.add(Text.assemble(("it would run with ", "bold"), (one_line(changes), "green")))
    if counterfactual.opens:
        branch.add(Text(f"opens {', '.join(f'{place.path}:{place.line}' for place in counterfactual.opens)}", style="dim"))
    for event in counterfactual.next:
        words = _EVENTS.get(event.kind, event.kind)
        branch.add(Text.assemble((f"{words}: ", "yellow"), f"{event.path}:{event.line} {_code(event.text)}"))


def _code(text: str) -> str:
    shown = " ".join(one_line(text).split())
    return shown if len(shown) <= _CODE else f"{shown[: _CODE - 3]}..."

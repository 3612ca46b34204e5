"""Guards on the way to a place, against samples that carry their expectation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent.analysis import ir
from agent.analysis.control import guards
from agent.analysis.exits import ControlGuard
from agent.analysis.outline import Outline
from agent.analysis.syntax import parse, text_of
from agent.analysis.walk import walk

SAMPLES = sorted((Path(__file__).parent.parent / "golden" / "control").glob("*.py"))


def shown(module: ir.Module, guard: ControlGuard) -> str:
    """``kind: [not] what``, with the alternatives."""
    return f"{guard.kind}: {_what(module, guard)}"


def _what(module: ir.Module, guard: ControlGuard) -> str:
    condition = "" if guard.condition is None else text_of(module, guard.condition)
    if guard.asks == "matches":
        pattern = guard.node.pattern if isinstance(guard.node, ir.Case) else guard.node
        text = f"{condition} matches {'case ' if isinstance(guard.node, ir.Case) else ''}{text_of(module, pattern)}"
    else:
        text = condition if guard.asks == "true" else f"{guard.asks} {condition}".strip()
    alternatives = "".join(f" unless {_what(module, each)}" for each in guard.unless)
    return ("" if guard.polarity else "not ") + text + alternatives


def place(module: ir.Module, outline: Outline, line: int) -> ir.Node:
    """The call ``here()`` on the line, or else its statement."""
    for root in module.body:
        for node in walk(root):
            if isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id == "here" and node.line == line:
                return node
    statement = outline.statement_at(line)
    assert statement is not None
    return statement


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_guards_of_each_marked_line(sample: Path) -> None:
    source = sample.read_bytes()
    module = parse(sample.name, source)
    outline = Outline(module)
    expected, actual = {}, {}
    for number, line in enumerate(source.decode().splitlines(), 1):
        mark = re.search(r"#@(.*)$", line)
        if mark:
            expected[number] = mark[1].strip()
            actual[number] = "; ".join(shown(module, guard) for guard in guards(outline, place(module, outline, number)))
    assert actual == expected
    assert len(expected) > 5

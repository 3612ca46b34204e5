"""The names that a ``setattr`` with a worked-out name can mean, where the source lists them all."""

from __future__ import annotations

from agent.analysis import ir
from agent.analysis.index import Index, once_a_word
from agent.analysis.walk import walk
from agent.analysis.written_out import ANY, Place, Sites, Ways, WrittenOut, sites_by_name

Names = frozenset[str] | None
"""None: any name."""


def names_written(index: Index, path: str, line: int) -> Names:
    """What ``setattr(x, name, value)`` on that line may write."""
    return _at(index, f"{path}:{line}")


def may_write(index: Index, path: str, line: int, name: str) -> bool:
    """Whether the ``setattr`` on that line may write an attribute of this name."""
    names = names_written(index, path, line)
    return names is None or name in names


def ways_of_writing(index: Index, path: str, line: int, sites: Sites) -> Ways:
    """The names, by the calls that hand them in; those that the function writes out itself have none."""
    statement = index.statement_at(path, line)
    calls = [node for node in walk(statement) if isinstance(node, ir.Call) and _is_setattr(node)] if statement is not None else []
    function = next((node for node in reversed(index.enclosing(path, line)) if isinstance(node, ir.FunctionDef)), None)
    if function is None or not calls:
        return ANY
    return tuple(way for call in calls for way in WrittenOut(index, sites).texts(Place(path, function), call.args[1]))


@once_a_word
def _at(index: Index, place: str) -> Names:
    path, _, line = place.rpartition(":")
    found = [way.texts for way in ways_of_writing(index, path, int(line), lambda _, function: sites_by_name(index, function))]
    return None if None in found else frozenset(name for names in found if names is not None for name in names)


def _is_setattr(call: ir.Call) -> bool:
    return isinstance(call.func, ir.Name) and call.func.id == "setattr" and len(call.args) == 3

"""Each statement of a file under the launch: always, never, may, unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.analysis import ir
from agent.analysis.callers import Reference
from agent.analysis.control import only_as_program, scope_of
from agent.analysis.outline import Definition
from agent.analysis.syntax import statement_lines
from agent.analysis.targets import resolve_file
from agent.domain.verdict import ReachAnswer
from agent.evaluation.attributes import class_attribute
from agent.evaluation.definitions import underlying
from agent.evaluation.exceptions import instance_of
from agent.evaluation.machine import Machine
from agent.evaluation.makers import only_asked
from agent.evaluation.unreached import has_outside_base
from agent.evaluation.values import ClassV, ExternV
from agent.evaluation.why import in_vague_handler

if TYPE_CHECKING:
    from agent.evaluation.engine import LaunchEngine

MAX_DEPTH = 8
"""Callers of callers."""
_ACTION = "argparse.Action"
Ranges = tuple[tuple[int, int], ...]


def reach(engine: LaunchEngine, asked: str) -> ReachAnswer:
    """Judges every statement of a file by what the forward run saw of it."""
    path = resolve_file(engine.index, asked)
    machine = engine.machine
    outline = engine.index.outline(path)
    closed = Closed(engine)
    lines: dict[str, list[tuple[int, int]]] = {"always": [], "never": [], "may": [], "unknown": []}
    for statement, first, last in statement_lines(engine.index.module(path)):
        if _no_code(statement):
            continue
        scope = scope_of(outline, statement)
        if isinstance(scope, ir.FunctionDef):
            lines[closed.verdict(path, scope, statement)].append((first, last))
        else:
            lines[_of_module(engine, statement)].append((first, last))
    return ReachAnswer(
        file=path,
        always=_joined(lines["always"]),
        never=_joined(lines["never"]),
        may=_joined(lines["may"]),
        unknown=_joined(lines["unknown"]),
        assumptions=tuple(machine.assumptions),
    )


def _no_code(statement: ir.Stmt) -> bool:
    """Docstrings, ``global`` and bare annotations run nothing."""
    if isinstance(statement, (ir.Global, ir.Nonlocal)):
        return True
    if isinstance(statement, ir.AnnAssign) and statement.value is None:
        return True
    return isinstance(statement, ir.ExprStmt) and isinstance(statement.value, ir.Constant)


def _of_module(engine: LaunchEngine, statement: ir.Stmt) -> str:
    """Globals are evaluated on demand, so a top-level statement that was not needed may well have run."""
    marks = engine.machine.marks
    return "always" if marks.get(statement) else "may"


class Closed:
    """Whether everybody who could call a function has been followed."""

    def __init__(self, engine: LaunchEngine) -> None:
        self.engine = engine
        self.machine = engine.machine
        self.known: dict[ir.Node, bool] = {}
        self.supposed: list[ir.Node] = []
        self.ended = _ended(engine.machine)

    def verdict(self, path: str, function: ir.FunctionDef, statement: ir.Stmt) -> str:
        """The verdict of one statement of a function."""
        mark = self.machine.marks.get(statement)
        if mark is not None:
            return "always" if mark else "may"
        if not self.machine.finished or self.machine.broken or function in self.machine.detached:
            return "unknown"
        if in_vague_handler(self.machine, self.engine.index.outline(path), statement):
            return "unknown"
        return "never" if self.closed(path, function) else "unknown"

    def closed(self, path: str, function: ir.FunctionDef, depth: int = 0) -> bool:
        """True when each call of the function stands in code that is closed itself: once followed, it may be called again elsewhere."""
        if function in self.known:
            return self.known[function]
        before = len(self.supposed)
        self.supposed.append(function)
        self.known[function] = True  # callers that call each other are closed unless somebody else calls one of them
        found = self._closed(path, function, depth)
        if not found:
            for each in self.supposed[before:]:
                if self.known.get(each):
                    del self.known[each]
            del self.supposed[before:]
            self.known[function] = False
        return found

    def _closed(self, path: str, function: ir.FunctionDef, depth: int) -> bool:
        machine = self.machine
        if function in machine.frontier or function in machine.unfollowed or depth > MAX_DEPTH:
            return False
        outline = self.engine.index.outline(path)
        definition = outline.definition_of(function)
        found = self.engine.demand.definitions.function(definition) if definition is not None else None
        if found is None:
            return definition is not None and self._around(definition, depth)
        if found[1] is not None and found[1].opaque == (_ACTION,):
            return function.name == "__call__" and self._parser_asked(found[1])
        if function.name == "__init__" and found[1] is not None:
            return not has_outside_base(found[1]) and self._never_made(found[1], depth)
        if function.name.startswith("_") and function.name.endswith("_") and function.name != "__post_init__":
            return False  # Python, or an enumeration's own machinery, calls it
        if function.name == "__post_init__" and found[1] is not None and not self.engine.demand.receivers.is_record(found[1]):
            return all(ref.kind != "base" and self._site_closed(ref, depth) for ref in self._uses(found[1]))
        if found[1] is not None and has_outside_base(found[1]):
            return False
        if function.decorators and not all(_plain(d) for d in function.decorators):
            return False
        named = [ref for ref in self.engine.demand.call_sites.references(function.name) if ref.kind in ("decorator", "getattr")]
        sites = [*self.engine.demand.call_sites.of(*found), *named]
        if found[1] is not None and function not in machine.entered and self.engine.demand.call_sites.called_by_name(found[0]):
            return False
        return len(sites) <= 12 and all(self._site_closed(site, depth) for site in sites)

    def _parser_asked(self, action: ClassV) -> bool:
        """An action of argparse is called by its parser alone: closed where the class is given to nobody but parsers that were followed."""
        return all(ref.role == "argument" and ref.statement in self.machine.marks for ref in self._uses(action))

    def _never_made(self, cls: ClassV, depth: int) -> bool:
        """Each use of the class, and of the classes derived from it, stands in code that never runs."""
        if cls.node is None or cls.node.decorators:
            return False
        for ref in self._uses(cls):
            if ref.kind == "base" and isinstance(ref.statement, ir.ClassDef):
                definition = next(d for d in self.engine.index.outline(ref.path).definitions if d.node is ref.statement)
                derived = self.engine.demand.definitions.class_of(definition)
                if derived is None or not self._never_made(derived, depth + 1):
                    return False
            elif not self._site_closed(ref, depth):
                return False
        return True

    def _uses(self, cls: ClassV) -> list[Reference]:
        """References to a class but for imports and annotations; a module with a class of its own by that name means that one."""
        others = {each.path for each in self.engine.index.classes_named(cls.name) if each.node is not cls.node}
        calls = self.engine.demand.call_sites
        found = (ref for ref in calls.references(cls.name) if ref.path not in others)
        harmless = (_same_name, lambda ref, _: only_asked(ref), self._reads_value)
        return [ref for ref in found if ref.kind not in ("import", "annotation") and not any(each(ref, cls) for each in harmless)]

    def _reads_value(self, ref: Reference, cls: ClassV) -> bool:
        """``Class.attribute``, where that is no function: a read, by which nothing is made."""
        around = self.engine.index.outline(ref.path).parents.get(ref.node)
        if not isinstance(around, ir.Attribute):
            return False
        held = class_attribute(self.machine, cls, around.attr)
        return held is not None and underlying(held[0]) is None

    def _around(self, definition: Definition, depth: int) -> bool:
        """A nested function: closed with the function around it."""
        outer = definition.chain[-1] if definition.chain else None
        return isinstance(outer, ir.FunctionDef) and outer not in self.machine.entered and self.closed(definition.path, outer, depth + 1)

    def _site_closed(self, site: Reference, depth: int) -> bool:
        around: ir.Node | None = site.chain[-1] if site.chain else None
        if site.role == "default":
            return self._default_closed(site, depth)
        if self.ended and self._kept_for_later(site, around):
            return True
        if not isinstance(around, ir.FunctionDef):
            return not site.chain and self._at_module_level(site)
        if site.statement in self.machine.marks:
            if self.ended and not _put_elsewhere(site):
                return True
            if site.call is None or site.call not in self.machine.calls:
                return False
        return self.closed(site.path, around, depth + 1)

    def _kept_for_later(self, site: Reference, around: ir.Node | None) -> bool:
        """``kind = Class`` in a class's body, where nobody takes it from there while modules are imported."""
        if not isinstance(around, ir.ClassDef) or around.decorators or around.keywords or site.kind != "value" or site.role != "assigned":
            return False
        name = _assigned_name(site.statement)
        taken = (ref for ref in self.engine.demand.call_sites.references(name) if ref.statement is not site.statement) if name else ()
        return bool(name) and all(ref.kind == "annotation" or any(isinstance(each, ir.FunctionDef) for each in ref.chain) for ref in taken)

    def _default_closed(self, site: Reference, depth: int) -> bool:
        """A parameter's default is used by its own function alone."""
        parents = self.engine.index.outline(site.path).parents
        node: ir.Node | None = site.node
        while node is not None and not isinstance(node, (ir.FunctionDef, ir.Lambda)):
            node = parents.get(node)
        return isinstance(node, ir.FunctionDef) and node not in self.machine.entered and self.closed(site.path, node, depth + 1)

    def _at_module_level(self, site: Reference) -> bool:
        """At the top of the entry module: followed, or the run never came there. Elsewhere: only where a module is run as the program."""
        if site.path != self.machine.entry_path:
            return only_as_program(self.engine.index.outline(site.path), site.statement)
        return site.call is not None and (site.call in self.machine.calls or site.statement not in self.machine.marks)


def _ended(machine: Machine) -> bool:
    """Whether the launch certainly fails before anything was started that runs by itself: nothing runs but what was followed.

    ``sys.exit`` is no failure: a program that ends well ends by it too, and what runs at its end is not waited for.
    """
    followed = machine.finished and not (machine.drained or machine.frontier or machine.unfollowed or machine.detached)
    return followed and any(raised.certain and instance_of(raised.value, ExternV("builtins.Exception")) for raised in machine.raised)


def _assigned_name(statement: ir.Node) -> str:
    """``x`` of ``x = ...`` and ``x: T = ...``; empty for any other statement."""
    targets = statement.targets if isinstance(statement, ir.Assign) else [statement.target] if isinstance(statement, ir.AnnAssign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ir.Name) else ""


def _put_elsewhere(site: Reference) -> bool:
    """``sys.excepthook = function``: assigned to something else than a name, it may be called from outside the tree."""
    return site.kind == "value" and site.role == "assigned" and not _assigned_name(site.statement)


def _same_name(ref: Reference, cls: ClassV) -> bool:
    """``Engine = LazyImport("package.engine", "Engine")``, ``__all__ = ["Engine"]``: whoever uses it uses the same name."""
    targets = ref.statement.targets if isinstance(ref.statement, ir.Assign) and ref.kind == "string" and not ref.chain else []
    return any(isinstance(target, ir.Name) and target.id in (cls.name, "__all__") for target in targets)


def _plain(decorator: ir.Expr) -> bool:
    return isinstance(decorator, ir.Name) and decorator.id in ("staticmethod", "classmethod", "property")


def _joined(ranges: list[tuple[int, int]]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(set(ranges)):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)

"""Places where settings get lost silently, as far as the forward run touched them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.analysis import ir
from agent.analysis.walk import walk
from agent.domain.verdict import Smell
from agent.evaluation import explain
from agent.evaluation.machine import Machine
from agent.evaluation.order_smells import read_before_write
from agent.evaluation.values import ClassV, FuncV
from agent.evaluation.wrapper_smells import lacking_wrappers

if TYPE_CHECKING:
    from agent.evaluation.engine import LaunchEngine

MAX_SMELLS = 40


def smells(engine: LaunchEngine) -> tuple[Smell, ...]:
    """In path and line order: bare handlers around writes, predicates of unequal width on one enumeration, gates that skip, fields that are
    read before they are settled, classes that lack a method of what they are around.
    """
    m = engine.machine
    found = [*_swallowing(m), *_uneven_predicates(m), *_skipping(m), *read_before_write(m), *lacking_wrappers(engine)]
    return tuple(sorted(found, key=lambda s: (s.path, s.line, s.kind))[:MAX_SMELLS])


def _swallowing(m: Machine) -> list[Smell]:
    """``except:`` or ``except Exception:`` whose body hides that a write in the ``try`` did not happen."""
    found = []
    for path in sorted({f.module.path for f in _functions(m)}):
        for node in _tries(m, path):
            if not any(inner in m.marks for inner in node.body):
                continue
            for handler in node.handlers:
                if _broad(handler) and not any(isinstance(n, ir.Raise) for part in handler.body for n in walk(part)) and _writes(node):
                    shown = explain.text(m.index, path, handler.type) if handler.type is not None else "bare except"
                    why = "a write in the try is skipped without a word when anything in it raises"
                    found.append(Smell(kind="swallowed_write", path=path, line=handler.line, text=f"except {shown}", why=why))
    return found


def _functions(m: Machine) -> list[FuncV]:
    return [func for seen in m.calls.values() for func, _, _ in seen]


def _tries(m: Machine, path: str) -> list[ir.Try]:
    return [node for node in m.index.outline(path).statements_naming(b"except") if isinstance(node, ir.Try)]


def _broad(handler: ir.Handler) -> bool:
    return handler.type is None or (isinstance(handler.type, ir.Name) and handler.type.id in ("Exception", "BaseException"))


def _writes(node: ir.Try) -> bool:
    return any(isinstance(n, ir.Assign) and any(isinstance(t, ir.Attribute) for t in n.targets) for part in node.body for n in walk(part))


def _uneven_predicates(m: Machine) -> list[Smell]:
    """Sibling predicates ``is_a``, ``is_a_b`` of one enumeration that accept different numbers of members."""
    bound: dict[object, list[ClassV]] = {module: [] for module in m.modules.values()}
    for (owner, _), cell in m.root.own.items():
        if owner in bound and isinstance(cell.value, ClassV) and cell.value.enum_members:
            bound[owner].append(cell.value)
    return list(dict.fromkeys(smell for enums in bound.values() for cls in enums for smell in _of_enum(m, cls)))


def _of_enum(m: Machine, cls: ClassV) -> list[Smell]:
    widths: dict[str, tuple[int, int]] = {}
    for node in cls.node.body if cls.node is not None else ():
        if isinstance(node, ir.FunctionDef) and node.name.startswith("is_") and len(node.body) == 1 and isinstance(node.body[0], ir.Return):
            names = {n.attr for n in walk(node.body[0]) if isinstance(n, ir.Attribute) and n.attr in (cls.enum_members or {})}
            widths[node.name] = (len(names), node.line)
    found = []
    for name, (width, line) in widths.items():
        for other, (narrow, at) in widths.items():
            if other != name and other.startswith(name) and width > narrow == 1:
                text = f"{cls.name}.{other} beside {name} (line {line})"
                why = (
                    f"{name}() accepts {width} members and {other}() only {narrow}: "
                    f"code behind {other}() is off for a value that {name}() accepts"
                )
                found.append(Smell(kind="uneven_predicates", path=cls.module.path, line=at, text=text, why=why))
    return found


def _skipping(m: Machine) -> list[Smell]:
    """``if hasattr(x, "method"):`` without an else, which came out false each time: that a wrapper lacks the method goes unnoticed."""
    found = []
    for node, seen in list(m.tests.items()):
        if not isinstance(node, ir.If) or node.orelse or any(tested.truth is not False for tested in seen):
            continue
        name = _asked_for(node.test)
        place = seen[0].frame.module.path if seen else ""
        owners = [each for each in m.index.functions_named(name) if each.chain and isinstance(each.chain[-1], ir.ClassDef)] if name else []
        if owners and place:
            why = f"{owners[0].chain[-1].name} has {name}(), what comes here has not: what stands under the gate is skipped without a word"
            found.append(Smell(kind="hasattr_gate", path=place, line=node.line, text=explain.text(m.index, place, node.test), why=why))
    return found


def _asked_for(node: ir.Node) -> str:
    """The name that ``hasattr`` asks for, where nothing else is asked."""
    if not (isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id == "hasattr" and len(node.args) == 2):
        return ""
    name = node.args[1]
    return name.value if isinstance(name, ir.Constant) and isinstance(name.value, str) else ""

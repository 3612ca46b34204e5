"""Has a class a method, its own or inherited from a class of the tree?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent.analysis import ir
from agent.analysis.syntax import parse
from agent.domain.source import Absent, SourceTree, Unreadable
from agent.domain.truth import Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """``present`` is FALSE only where every base inside the tree was looked at."""

    present: Truth
    why: str


def find_method(tree: SourceTree, class_name: str, method: str) -> Found:
    """Searches the class and, breadth first, its bases; two classes of one name that disagree leave it unknown."""
    outside: dict[str, None] = {}
    queue, seen = [class_name], set[str]()
    while queue:
        name = queue.pop(0)
        if name in seen:
            continue
        seen.add(name)
        definitions = list(_definitions(tree, name))
        owners = [(path, line) for path, definition in definitions if (line := _line_of(definition, method))]
        if owners:
            path, line = owners[0]
            present = Truth.TRUE if len(owners) == len(definitions) else Truth.UNKNOWN
            return Found(present=present, why=f"{path}:{line} defines {name}.{method}")
        if not definitions:
            outside[name] = None
        queue += [base for _, definition in definitions for base in _bases(definition)]
    if class_name in outside:
        return Found(present=Truth.UNKNOWN, why=f"the tree has no class {class_name}")
    beyond = f" (bases outside the tree: {', '.join(outside)})" if outside else ""
    return Found(present=Truth.FALSE, why=f"neither {class_name} nor a base of it in the tree defines {method}{beyond}")


def _definitions(tree: SourceTree, name: str) -> Iterator[tuple[str, ir.ClassDef]]:
    for path in tree.containing([b"class " + name.encode()]):
        content = tree.read(path)
        if not isinstance(content, (Absent, Unreadable)):
            yield from ((path, found) for found in _classes(parse(path, content).body) if found.name == name)


def _classes(body: list[ir.Stmt]) -> Iterator[ir.ClassDef]:
    """At any depth of if and try, not inside functions."""
    for statement in body:
        if isinstance(statement, ir.ClassDef):
            yield statement
        elif not isinstance(statement, ir.FunctionDef):
            for block in _blocks(statement):
                yield from _classes(block)


def _blocks(statement: ir.Stmt) -> Iterator[list[ir.Stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield block
    for handler in getattr(statement, "handlers", ()):
        yield handler.body


def _line_of(definition: ir.ClassDef, method: str) -> int:
    """Where the class body defines or assigns the name; 0 where it does not."""
    for statement in _statements(definition.body):
        if isinstance(statement, ir.FunctionDef) and statement.name == method:
            return statement.line
        if isinstance(statement, ir.Assign) and any(isinstance(to, ir.Name) and to.id == method for to in statement.targets):
            return statement.line
    return 0


def _statements(body: list[ir.Stmt]) -> Iterator[ir.Stmt]:
    for statement in body:
        yield statement
        if not isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
            for block in _blocks(statement):
                yield from _statements(block)


def _bases(definition: ir.ClassDef) -> Iterator[str]:
    """Last names: ``nn.Module`` is Module, ``Base[T]`` is Base."""
    for base in definition.bases:
        named = base.value if isinstance(base, ir.Subscript) else base
        if isinstance(named, ir.Attribute):
            yield named.attr
        elif isinstance(named, ir.Name):
            yield named.id

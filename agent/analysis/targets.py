"""What a target query means: ``path:line``, a symbol, ``call:``, ``assign:``, ``define:``, ``string:``; with near misses when nothing."""

from __future__ import annotations

import difflib
import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from weakref import WeakKeyDictionary

from agent.analysis import ir
from agent.analysis.callers import references
from agent.analysis.hierarchy import ends_with
from agent.analysis.index import Index
from agent.analysis.outline import Def, Definition, qualname
from agent.analysis.resolve import dotted_text
from agent.analysis.walk import statements, walk
from agent.analysis.writers import Writer, attribute_writers
from agent.domain.errors import TargetNotFound
from agent.domain.verdict import Target

_PLACE = re.compile(r"^(?P<path>.+?):(?P<line>\d+)$")
_SHOWN = 5
"""Near misses and places named in a message."""


def resolve(index: Index, query: str) -> tuple[Target, ...]:
    """The places that a query means, in path and line order. Raises TargetNotFound, with near misses, for none."""
    kind, colon, rest = query.partition(":")
    row = _KINDS.get(kind) if colon else None
    if row is not None:
        found = row(index, rest.strip())
    elif (place := _PLACE.match(query)) is not None:
        found = [_at_line(index, place["path"], int(place["line"]))]
    else:
        found = _symbol(index, query)
    return tuple(sorted(dict.fromkeys(found), key=lambda each: (each.path, each.line)))


def _target(index: Index, path: str, line: int, chain: tuple[Def, ...]) -> Target:
    return Target(path=path, line=line, text=line_text(index, path, line), function=qualname(chain))


def line_text(index: Index, path: str, line: int) -> str:
    """A source line without its indentation; empty behind the end of the file."""
    module = index.module(path)
    source = module.source.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in module.source else module.source
    starts = _STARTS.get(module)
    if starts is None:
        starts = _STARTS[module] = array("I", (0, *(found.end() for found in _NEWLINE.finditer(source))))
    if not 0 < line <= len(starts):
        return ""
    end = starts[line] - 1 if line < len(starts) else len(source)
    return source[starts[line - 1] : end].decode("utf-8", "replace").strip()


_NEWLINE = re.compile(b"\n")
_STARTS: WeakKeyDictionary[ir.Module, array[int]] = WeakKeyDictionary()
"""Where each line starts: the lines of one file are asked for one by one, and many times."""


# --- path:line ---------------------------------------------------------------------------------------------------------------


def _at_line(index: Index, asked: str, line: int) -> Target:
    path = resolve_file(index, asked)
    statement = index.statement_at(path, line)
    if statement is None:
        near = tuple(f"{path}:{each.line}" for each in index.outline(path).nearest(line, _SHOWN - 2))
        last = line_text(index, path, line)
        what = f"{path}:{line} holds no statement" + (f" ({last[:60]!r})" if last else "")
        raise TargetNotFound(what, suggestions=near, hint="the file has no statement at all")
    target = _target(index, path, line, index.enclosing(path, line))
    if re.search(r"\w", target.text):
        return target
    return replace(target, text=line_text(index, path, statement.line))  # a closing bracket says nothing


def resolve_file(index: Index, asked: str) -> str:
    """The file itself, or the only one whose path ends so."""
    wanted = asked.removeprefix("./")
    if wanted in index.files:
        return wanted
    ends = sorted(path for path in index.files if path.endswith(f"/{wanted}"))
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise TargetNotFound(f"{asked} is the end of {len(ends)} paths", suggestions=tuple(ends[:_SHOWN]))
    raise TargetNotFound(f"there is no file {asked} in {index.tree.root or 'the tree'}", suggestions=_near_paths(index, wanted))


def _near_paths(index: Index, wanted: str) -> tuple[str, ...]:
    """Files of that name elsewhere come first, then those of a similar name."""
    python = sorted(path for path in index.files if path.endswith(".py"))
    name = wanted.rpartition("/")[2]
    same = [path for path in python if path.rpartition("/")[2] == name]
    by_name: dict[str, list[str]] = {}
    for path in python:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    similar = [path for near in difflib.get_close_matches(name, by_name, n=_SHOWN) for path in by_name[near]]
    return tuple(dict.fromkeys([*difflib.get_close_matches(wanted, same, n=_SHOWN, cutoff=0.0), *similar]))[:_SHOWN]


# --- symbols -----------------------------------------------------------------------------------------------------------------


def _definitions(index: Index, dotted: str) -> list[Definition]:
    name = dotted.rpartition(".")[2]
    if not name.isidentifier():
        return []
    both = [*index.functions_named(name), *index.classes_named(name)]
    return [each for each in both if ends_with(index, each, dotted)]


def _symbol(index: Index, dotted: str) -> list[Target]:
    """A function runs when its first statement does; a class is used when its ``__init__`` runs, or else when it is defined."""
    found = _definitions(index, dotted)
    if not found:
        raise _no_such("function or class", dotted, index, _DEFINED)
    return [_entry(index, each) for each in found]


def _entry(index: Index, definition: Definition) -> Target:
    node, chain = definition.node, (*definition.chain, definition.node)
    if isinstance(node, ir.ClassDef):
        made = next((each for each in node.body if isinstance(each, ir.FunctionDef) and each.name == "__init__"), None)
        if made is None:
            return _target(index, definition.path, node.line, chain)
        node, chain = made, (*chain, made)
    first = next((each for each in node.body if not _is_docstring(each)), node.body[0] if node.body else node)
    return _target(index, definition.path, first.line, chain)


def _is_docstring(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.ExprStmt) and isinstance(statement.value, ir.Constant) and isinstance(statement.value.value, str)


def _define(index: Index, dotted: str) -> list[Target]:
    found = _definitions(index, dotted)
    if not found:
        raise _no_such("definition", dotted, index, _DEFINED)
    return [_target(index, each.path, each.node.line, (*each.chain, each.node)) for each in found]


# --- calls, writes, strings --------------------------------------------------------------------------------------------------


def _call(index: Index, dotted: str) -> list[Target]:
    """``call:name`` any call of that name; ``call:a.b`` those written so, or ending so."""
    found = [each for each in references(index, dotted.rpartition(".")[2]) if each.call is not None and each.kind in ("call", "super")]
    if "." in dotted:
        found = [each for each in found if _written_so(each.node, dotted)]
    if not found:
        raise _no_such("call of", dotted, index, _CALLED)
    return [_target(index, each.path, each.line, each.chain) for each in found]


def _written_so(node: ir.Node, dotted: str) -> bool:
    text = dotted_text(node) if isinstance(node, ir.Expr) else None
    return text is not None and (text == dotted or text.endswith(f".{dotted}"))


def _assign(index: Index, dotted: str) -> list[Target]:
    """``assign:name`` a variable or any object's attribute; ``assign:self.name`` as written; ``assign:Class.name`` within that class."""
    before, _, name = dotted.rpartition(".")
    written = [each for each in attribute_writers(index, name) if each.kind not in ("keyword", "method")]
    if before:
        places = [(each.path, each.line, each.chain) for each in written if _writes_so(each, before)]
    else:
        places = [*((each.path, each.line, each.chain) for each in written), *_variables(index, name)]
    if not places:
        raise _no_such("assignment to", dotted, index, _ASSIGNED)
    return [_target(index, path, line, chain) for path, line, chain in places]


def _writes_so(writer: Writer, before: str) -> bool:
    owner = writer.owner.name if writer.owner is not None else ""
    if writer.receiver is None or dotted_text(writer.receiver) in ("self", "cls"):
        return before in (owner, dotted_text(writer.receiver) or "", f"{owner}.self")
    return dotted_text(writer.receiver) == before


def _variables(index: Index, name: str) -> Iterator[tuple[str, int, tuple[Def, ...]]]:
    """Plain names that functions and modules bind by assignment; those of class bodies are attributes."""
    for module in index.modules_with(name):
        for statement in statements(module.body):
            if any(isinstance(each, ir.Name) and each.id == name for target in _targets(statement) for each in walk(target)):
                chain = index.enclosing(module.path, statement.line)
                if not (chain and isinstance(chain[-1], ir.ClassDef)):
                    yield module.path, statement.line, chain


def _targets(statement: ir.Stmt) -> list[ir.Expr]:
    if isinstance(statement, ir.Assign):
        return [each for each in statement.targets if not isinstance(each, (ir.Attribute, ir.Subscript))]
    if isinstance(statement, (ir.AugAssign, ir.AnnAssign, ir.For)):
        return [] if isinstance(statement.target, (ir.Attribute, ir.Subscript)) else [statement.target]
    return []


def _string(index: Index, text: str) -> list[Target]:
    """Strings that contain the text; adjacent literals count as one, an f-string by its fixed parts."""
    words = dict.fromkeys(re.findall(r"\w+", text))
    paths = set.intersection(*(set(index.tree.containing([word.encode()])) for word in words)) if words else set()
    found = [place for path in sorted(paths) for place in _strings_in(index, path, text)]
    if not found:
        raise TargetNotFound(f"no string of the tree contains {text!r}", hint="text that is put together at run time cannot be found")
    return found


def _strings_in(index: Index, path: str, text: str) -> Iterator[Target]:
    module = index.module(path)
    for root in module.body:
        for node in walk(root):
            if isinstance(node, ir.Constant) and isinstance(node.value, str) and text in node.value:
                yield _target(index, path, node.line, index.enclosing(path, node.line))


_KINDS: dict[str, Callable[[Index, str], list[Target]]] = {"call": _call, "assign": _assign, "define": _define, "string": _string}


# --- near misses -------------------------------------------------------------------------------------------------------------

_DEFINED = re.compile(rb"\b(?:def|class)[ \t]+([A-Za-z_]\w*)")
_CALLED = re.compile(rb"\b([A-Za-z_]\w*)\(")
_ASSIGNED = re.compile(rb"^[ \t]*(?:\w+\.)*([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=[^=]", re.M)


def _no_such(what: str, dotted: str, index: Index, pattern: re.Pattern[bytes]) -> TargetNotFound:
    """Names are compared by their last part, since that is where a name is mistyped most."""
    name = dotted.rpartition(".")[2]
    near = _near_names(name, _names(index, pattern))
    hint = "targets are path:line, a symbol, call:NAME, assign:NAME, define:NAME, string:TEXT"
    return TargetNotFound(
        f"there is no {what} {dotted}", suggestions=_qualified(index, near, dotted) if pattern is _DEFINED else tuple(near), hint=hint
    )


def _names(index: Index, pattern: re.Pattern[bytes]) -> list[str]:
    """Every name of that sort in the tree; read from the text, since this is for a message only."""
    found: set[bytes] = set()
    for path in sorted(index.files):
        content = index.read(path) if path.endswith(".py") else b""
        if isinstance(content, bytes):
            found.update(pattern.findall(content))
    return sorted(name.decode("utf-8", "replace") for name in found)


def _near_names(name: str, names: list[str]) -> list[str]:
    """Longer names that contain it, then those spelled like it."""
    inside = sorted((each for each in names if name.lower() in each.lower()), key=len)[: _SHOWN - 2] if len(name) > 3 else []
    slack = max(2, len(name) // 2)
    alike = difflib.get_close_matches(name, [each for each in names if abs(len(each) - len(name)) <= slack], n=_SHOWN)
    return list(dict.fromkeys([*inside, *alike]))[:_SHOWN]


def _qualified(index: Index, names: Iterable[str], dotted: str) -> tuple[str, ...]:
    """As they can be typed: with the class where there is one definition or a class was asked for, bare where there are several."""
    found = {name: [*index.functions_named(name), *index.classes_named(name)] for name in names}
    if "." in dotted:
        full = dict.fromkeys(each.qualname for definitions in found.values() for each in definitions)
        return tuple(difflib.get_close_matches(dotted, full, n=_SHOWN, cutoff=0.0))
    return tuple(each[0].qualname if len(each) == 1 else name for name, each in found.items() if each)

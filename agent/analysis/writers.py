"""Who writes an attribute: assignments, class bodies, ``setattr``, constructor keywords, and writers that hide the name."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from agent.analysis import ir
from agent.analysis.callers import called_name, in_annotation, is_written
from agent.analysis.index import Index, once_a_word
from agent.analysis.occurrences import Occurrence, occurrences
from agent.analysis.outline import Def, qualname
from agent.analysis.words import positions


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """One place that writes an attribute.

    ``kind``:
      assign     ``X.attr = v``, also in an unpacking, a loop or a ``with``; ``value`` is None where it is not written out
      augment    ``X.attr += v``
      delete     ``del X.attr``, ``delattr``
      setattr    by a string: ``setattr``, ``__setattr__``, ``X.__dict__["attr"] = v``
      field      in a class body: assigned, or annotated with or without a value
      method     ``def`` or ``class`` in a class body
      keyword    ``f(attr=v)``: a write if ``f`` makes the object
      unsupported in a stretch that could not be lowered, so it may be a write
      reflective the name is not written out: ``setattr(X, name, v)``, ``X.__dict__.update(...)``, ``vars(X)``
    ``receiver``: the object written to; None in a class body and for keywords. ``owner``: the class in whose body or method it stands.
    """

    module: ir.Module
    line: int
    kind: str
    node: ir.Node
    statement: ir.Stmt
    receiver: ir.Expr | None = None
    value: ir.Expr | None = None
    chain: tuple[Def, ...] = ()

    @property
    def path(self) -> str:
        return self.module.path

    @property
    def owner(self) -> ir.ClassDef | None:
        return next((each for each in reversed(self.chain) if isinstance(each, ir.ClassDef)), None)

    @property
    def function(self) -> str:
        return qualname(self.chain)


def attribute_writers(index: Index, attr: str) -> list[Writer]:
    """Every place that names the attribute and writes it, in path and file order; see ``reflective_writers`` for the rest."""
    return [found for module in index.modules_with(attr) for found in writers_in(module, attr)]


def writers_in(module: ir.Module, attr: str) -> list[Writer]:
    """The writers of one file."""
    found = []
    for at in occurrences(module, attr):
        row = _BY_NODE.get(type(at.node))
        written = row(at, at.node, attr) if row is not None else None
        if written is not None:
            found.append(written)
    return found


@once_a_word
def receivers_by_text(index: Index, attr: str) -> tuple[Receiver, ...]:
    """Of every ``receiver.attr = ...``, by the text of the files: none is parsed for it."""
    return tuple(_receivers(index, attr, index.files_with(attr)))


def receivers_in(index: Index, attr: str, paths: Container[str]) -> tuple[Receiver, ...]:
    """The same of these files: no others are read."""
    return tuple(_receivers(index, attr, (path for path in index.files_with(attr) if path in paths)))


Receiver = tuple[str, int, str]
"""Path, line, and the last name of what an attribute is written to."""


def _receivers(index: Index, attr: str, paths: Iterable[str]) -> Iterator[Receiver]:
    word = re.escape(attr.encode())
    used = re.compile(word + rb"(?<=[.\"']" + word + rb")(?![A-Za-z0-9_])")  # beginning with a text, it is found fast
    for path in paths:
        content = index.read(path)
        if not isinstance(content, bytes):
            continue
        for hit in used.finditer(content):
            at, end = hit.span()
            before = content[max(0, at - 81) : at]
            if before.endswith(b".") and (_written_after(content, at, end) or _bound_by(content, before, end)):
                name = _LAST_NAME.search(before[:-1])
                yield path, content.count(b"\n", 0, at) + 1, name.group(1).decode() if name else ""
            elif before.endswith((b'"', b"'")):
                name = _SET_BY_NAME.search(before)
                if name is not None:
                    yield path, content.count(b"\n", 0, at) + 1, (name[1] or name[2] or name[3]).decode()


def _bound_by(content: bytes, before: bytes, end: int) -> bool:
    """``for x.a in``, ``with y as x.a:``, ``del x.a``: not where the chain goes on, as in ``del x.a.b``."""
    return content[end : end + 1] not in (b".", b"[", b"(") and _BOUND_BY.search(before) is not None


def _written_after(content: bytes, at: int, end: int) -> bool:
    """Whether an assignment follows: ``x.a = v``, ``x.a += v``, ``x.a: T = v``, ``x.a, b = v``; in a call ``x.a, b=v`` is none."""
    found = _WRITTEN.match(content, end)
    if found is None or found.lastindex is None:
        return found is not None
    line = content[content.rfind(b"\n", 0, at) + 1 : at]
    if found[1] is not None:
        return _ALONE.fullmatch(line) is not None
    opened = [0]
    for bracket in _BRACKET.finditer(line):
        opened += [bracket.start()] if bracket[0] in b"([{" else []
        if bracket[0] in b")]}" and len(opened) > 1:
            opened.pop()
    return not any(line[place - 1 : place].isalnum() or line[place - 1 : place] in (b"_", b")", b"]") for place in opened[1:])


_ALONE = re.compile(rb"[ \t]*(?:[\w.]|\[[^\]]*\]|\([^()]*\))*")
_BRACKET = re.compile(rb"[()\[\]{}]")


@once_a_word
def _named_in(index: Index, name: str) -> frozenset[str]:
    return frozenset(index.files_with(name))


def holds_one(index: Index, path: str, variable: str, classes: Iterable[str]) -> bool:
    """Whether the text of a file gives ``variable`` an object of one of the classes: by an annotation, or by a call that names it."""
    known = tuple(name for name in classes if path in _named_in(index, name))
    if not known or not variable:
        return False
    content = index.read(path)
    if not isinstance(content, bytes):
        return True
    given = _given_one_of(known)
    return any(given.match(content, at + len(variable.encode())) for at in positions(content, variable))


def holds_self(index: Index, path: str, variable: str) -> bool:
    """Whether the text of a file gives ``variable`` the object that a method runs on: ``me = self``, ``me = proxy(self)``."""
    if not variable or variable in ("self", "cls"):
        return False
    names = _given_self(index, path)
    return names is None or variable.encode() in names


@once_a_word
def _given_self(index: Index, path: str) -> frozenset[bytes] | None:
    content = index.read(path)
    return frozenset(found[1] for found in _GIVEN_SELF.finditer(content)) if isinstance(content, bytes) else None


_GIVEN_SELF = re.compile(rb"\b(\w+)(?=\s*=(?!=)(?:[^\n]*[^\w.\n])?self\b(?![ \t]*[\w.\[(=]))")


@cache
def _given_one_of(classes: tuple[str, ...]) -> re.Pattern[bytes]:
    """What follows a variable that is given an object of one of the classes."""
    names = b"|".join(re.escape(name.encode()) for name in classes)
    return re.compile(rb"\s*(?:" + _ANNOTATED + rb"|=(?!=)[^\n]*)\b(?:" + names + rb")\b")


_ANNOTATED = rb":(?:[^=\n,)\[]|\[(?:(?!\w\s*:)[^=\n])*)*"
"""What stands between a name and a class in its annotation: no other parameter."""
_WRITTEN = re.compile(rb"\s*(?:(?:[-+*/|&%@^]|//|\*\*|<<|>>)?=(?!=)|(:)[^=\n]*=(?!=)|(,)[^=()\n]*=(?!=))")
_BOUND_BY = re.compile(rb"(?:^|\n)[ \t]*(?:async[ \t]+)?(?:for|del|with[^\n]*\bas|except[^\n]*\bas)[ \t][\w., ]*\.$")
_SET_BY_NAME = re.compile(
    rb"(?:(?:set|del)attr|__setattr__)\(\s*(?:[\w.]*\.)?(\w+)\s*,\s*[\"']$|(\w+)\.__dict__\[\s*[\"']$|\bvars\(\s*(?:[\w.]*\.)?(\w+)\s*\)\[\s*[\"']$"
)
_READING = re.compile(
    rb"\s*(?:\.(?:get|keys|values|items|copy|index|count)\b|\[[^\[\]=\n]*\](?!\s*(?:[-+*/|&%@^]|//|\*\*|<<|>>)?=(?!=)|\[|\.(?:append|add|update|pop|clear|extend|insert|remove)\b)"
    rb"|(?::[^=\n]*)?=(?!=)|==|!=|[<>]|(?:in|is|and|or|not|if|else|for)\b|:\s*(?:#.*)?$)",
    re.MULTILINE,
)
_READ_BEFORE = re.compile(
    rb"(?:\b(?:len|list|sorted|set|tuple|any|all|enumerate|bool|sum|min|max|isinstance|str|repr)\(|\b(?:in|not)\s+)[\w.]*$"
)


@once_a_word
def changed_in_place(index: Index, name: str) -> tuple[str, ...]:
    """Files whose text may change what an attribute or global of this name holds: by any use that is not plainly a read.

    ``x.name[k] = v``, ``x.name.append(v)``, and every use that hands the object on.
    """
    contents = ((path, index.read(path)) for path in index.files_with(name))
    return tuple(path for path, content in contents if not isinstance(content, bytes) or may_change(content, name))


def may_change(content: bytes, name: str) -> bool:
    """Whether a text does more with a name, or with an attribute of that name, than read what it holds."""
    for at in positions(content, name):
        before = content[content.rfind(b"\n", 0, at) + 1 : at]
        if before.lstrip().startswith(b"del "):
            return True
        if before.lstrip().startswith(_NO_USE) or before.endswith((b'"', b"'")):
            continue
        if not _READING.match(content, at + len(name)) and not _READ_BEFORE.search(before):
            return True
    return False


_NO_USE = (b"#", b"from ", b"import ", b"def ", b"class ", b"global ")


_LAST_NAME = re.compile(rb"(\w+)(?:\([^()\n]*\)|\[[^\[\]\n]*\])?$")


@once_a_word
def reflective_by_text(index: Index, function: str) -> tuple[tuple[str, int, str], ...]:
    """(path, line, last name of the receiver) of every write whose attribute name is not written out, by the text of the files.

    ``function``: one of REFLECTIVE. "setattr" stands for itself alone, "__setattr__" for the method, "__dict__" and "vars" for whatever
    may write through the dictionary of an object.
    """
    found = []
    for path in index.files_with(function):
        content = index.read(path)
        if not isinstance(content, bytes):
            continue
        for at in positions(content, function):
            name = _unnamed(content, at, function)
            if name:
                found.append((path, content.count(b"\n", 0, at) + 1, name.decode()))
    return tuple(found)


REFLECTIVE = ("setattr", "__setattr__", "__dict__", "vars")


def _unnamed(content: bytes, at: int, function: str) -> bytes:
    """The receiver's last name, empty where the attribute's name is written out or this is another function."""
    if function == "setattr":
        hit = _SETATTR.match(content, at) if content[at - 1 : at] != b"." else None
        return (hit[1] or hit[2]) if hit is not None else b""
    if function == "__setattr__":
        hit = _BOUND.match(content, at)
        owner = _LAST_NAME.search(content[max(0, at - 80) : at - 1]) if content[at - 1 : at] == b"." else None
        if hit is None or owner is None:
            return b""
        return hit[1] if owner[1] in (b"object", b"type") or hit[2] else b"self" if owner[1] == b"super" else owner[1]
    if function == "vars":
        hit = _VARS.match(content, at)
        return hit[1] if hit is not None else b""
    before = content[max(0, at - 80) : at - 1]
    owner = _LAST_NAME.search(before) if content[at - 1 : at] == b"." and not _IN.search(before) else None
    return owner[1] if owner is not None and _DICT.match(content, at) else b""


_NOT_WRITTEN_OUT = rb"(?!\s*(?:\"\w*\"|'\w*')\s*[,)\]])"
"""Before a name that is no single text: ``"mo" + "de"`` is worked out like any other."""
_SETATTR = re.compile(rb"setattr(?:\(\s*(?:[\w.]*\.)?(\w+)\s*," + _NOT_WRITTEN_OUT + rb"|,\s*(?:[\w.]*\.)?(\w+)\s*[,)])")
"""``setattr(x, name, v)``, ``partial(setattr, x)``."""
_BOUND = re.compile(rb"__setattr__\(\s*(?:[\w.]*\.)?(\w+)\s*," + _NOT_WRITTEN_OUT + rb"\s*[^,()\n]*(,)?")
_WRITES_ITEM = rb"\s*(?:\[" + _NOT_WRITTEN_OUT + rb"[^\]\n]*\]\s*(?:[-+*/|&]=|=(?!=))|\.(?:update|setdefault|__setitem__|__ior__)\(|\|=)"
_IN = re.compile(rb"\b(?:in|not|len\(|return)\s*[\w.]*$")
_VARS = re.compile(rb"vars\(\s*(?:[\w.]*\.)?(\w+)\s*\)" + _WRITES_ITEM)
_DICT = re.compile(rb"__dict__(?:" + _WRITES_ITEM + rb"|\s*=(?!=)|\s*(?:\n|$|,\s*\w+\s*[,)]))")
"""Also ``d = x.__dict__`` and ``f(x.__dict__, ...)``: it may be written through another name."""


def global_items(source: bytes, name: str) -> list[int]:
    """Lines on which a module may write a global of its own by that name in text: ``globals()["name"] = ...``, ``exec(text, globals())``.

    A name that is worked out, as loaders of submodules do, is taken for another.
    """
    found = []
    for hit in _OWN_GLOBALS.finditer(source):
        if hit[1] is None or hit[1].decode() == name:
            found.append(source.count(b"\n", 0, hit.start()) + 1)
    return found


_OWN_GLOBALS = re.compile(
    rb"\b(?:globals|vars|locals)\(\)\s*(?:\[\s*[\"'](\w+)[\"']\s*\]\s*(?:[-+*/|&]=|=(?!=))|\.(?:update|setdefault)\()|\bexec\([^\n]*\bglobals\(\)"
)


def _writer(at: Occurrence, kind: str, receiver: ir.Expr | None = None, value: ir.Expr | None = None) -> Writer:
    line = at.node.end if isinstance(at.node, ir.Attribute) else at.node.line
    return Writer(
        module=at.module, line=line, kind=kind, node=at.node, statement=at.statement, receiver=receiver, value=value, chain=at.chain
    )


def _attribute(at: Occurrence, node: Any, attr: str) -> Writer | None:
    if not is_written(at) or in_annotation(at):
        return None
    kind, value = _target_of(at)
    return _writer(at, kind, node.value, value)


def _name(at: Occurrence, node: Any, attr: str) -> Writer | None:
    """A plain name is an attribute where a class body binds it."""
    if not (at.chain and isinstance(at.chain[-1], ir.ClassDef)) or not is_written(at) or in_annotation(at):
        return None
    return _writer(at, "field", None, _target_of(at)[1])


def _target_of(at: Occurrence) -> tuple[str, ir.Expr | None]:
    """What kind of statement writes the target, and the value where it is the whole of it."""
    statement = next((node for node in reversed(at.ancestors) if isinstance(node, _WRITING)), at.statement)
    if isinstance(statement, ir.Delete):
        return "delete", None
    if isinstance(statement, ir.AugAssign):
        return "augment", statement.value
    if isinstance(statement, ir.AnnAssign):
        return "assign", statement.value
    if isinstance(statement, ir.Assign):
        return "assign", statement.value if at.node in statement.targets else None
    return "assign", None


_WRITING = (ir.Assign, ir.AnnAssign, ir.AugAssign, ir.Delete, ir.For, ir.WithItem, ir.Clause)


def _definition(at: Occurrence, node: Any, attr: str) -> Writer | None:
    return _writer(at, "method") if isinstance(at.parent, ir.Node) and at.chain and isinstance(at.chain[-1], ir.ClassDef) else None


def _keyword(at: Occurrence, node: Any, attr: str) -> Writer | None:
    return _writer(at, "keyword", None, node.value)


def _string(at: Occurrence, node: Any, attr: str) -> Writer | None:
    parent = at.parent
    if node.value != attr:
        return None
    if isinstance(parent, ir.Call) and node in parent.args:
        return _by_string(at, parent)
    if isinstance(parent, ir.Subscript) and parent.index is node and _dict_of(parent.value) is not None:
        holder = Occurrence(at.module, parent, at.ancestors[:-1])
        if is_written(holder):
            return _writer(at, "setattr", _dict_of(parent.value), _target_of(holder)[1])
    return None


def _by_string(at: Occurrence, call: ir.Call) -> Writer | None:
    """``setattr(x, "a", v)``, ``x.__setattr__("a", v)``, ``object.__setattr__(x, "a", v)``, ``force_setattr``, ``delattr``."""
    name = called_name(call)
    if "setattr" not in name and "delattr" not in name:
        return None
    place = call.args.index(at.node)  # type: ignore[arg-type]
    receiver = call.args[place - 1] if place else call.func.value if isinstance(call.func, ir.Attribute) else None
    if "delattr" in name:
        return _writer(at, "delete", receiver)
    return _writer(at, "setattr", receiver, call.args[place + 1] if place + 1 < len(call.args) else None)


def _dict_of(node: ir.Expr) -> ir.Expr | None:
    """X of ``X.__dict__`` and ``vars(X)``."""
    if isinstance(node, ir.Attribute) and node.attr == "__dict__":
        return node.value
    if isinstance(node, ir.Call) and called_name(node) == "vars" and len(node.args) == 1:
        return node.args[0]
    return None


_BY_NODE: dict[type[Any], Callable[[Occurrence, Any, str], Writer | None]] = {
    ir.Attribute: _attribute,
    ir.Name: _name,
    ir.FunctionDef: _definition,
    ir.ClassDef: _definition,
    ir.Keyword: _keyword,
    ir.Constant: _string,
    ir.Unsupported: lambda at, node, attr: _writer(at, "unsupported"),
}


# --- writers without a name --------------------------------------------------------------------------------------------------

_CHANGING = frozenset({"update", "setdefault", "pop", "popitem", "clear", "__setitem__", "__delitem__", "__ior__"})


def reflective_writers(index: Index) -> list[Writer]:
    """Writes whose attribute name is worked out at run time; each may hit any attribute of its receiver."""
    found: list[Writer] = []
    for word, test in _REFLECTIVE.items():
        for path in index.files_with(word):
            if not _all_literal(index, path, word):
                module = index.module(path)
                found.extend(each for at in occurrences(module, word) for each in test(at))
    return sorted(found, key=lambda each: (each.path, each.node.start_byte))


_LITERAL = re.compile(rb"""(?:set|del)attr\s*\(\s*[\w.]+\s*,\s*(["'])[A-Za-z_]\w*\1\s*[,)]""")


def _all_literal(index: Index, path: str, word: str) -> bool:
    """Whether a look at the text shows that each ``setattr`` names its attribute, so that the file need not be parsed."""
    if word not in ("setattr", "delattr"):
        return False
    source = index.read(path)
    return isinstance(source, bytes) and len(re.findall(rb"(?<!\w)" + word.encode() + rb"(?!\w)", source)) == sum(
        match[0].startswith(word.encode()) for match in _LITERAL.finditer(source)
    )


def _computed_setattr(at: Occurrence) -> Iterator[Writer]:
    call = at.parent
    if not isinstance(call, ir.Call) or call.func is not at.node:
        return
    place = 0 if _bound(call) else 1
    if len(call.args) > place and isinstance(call.args[place], ir.Constant):
        return
    receiver = call.func.value if _bound(call) and isinstance(call.func, ir.Attribute) else call.args[0] if call.args else None
    yield _writer(at, "reflective", None if isinstance(receiver, ir.Starred) else receiver)


def _bound(call: ir.Call) -> bool:
    """``x.__setattr__(name, v)`` against ``object.__setattr__(x, name, v)``."""
    return called_name(call) in ("__setattr__", "__delattr__") and len(call.args) == (2 if called_name(call) == "__setattr__" else 1)


def _whole_dict(at: Occurrence) -> Iterator[Writer]:
    """``X.__dict__`` or ``vars(X)`` replaced, changed by a method, or written at a computed key."""
    ancestors = at.ancestors
    holder = at
    if isinstance(at.node, ir.Name) and isinstance(at.parent, ir.Call):
        holder = Occurrence(at.module, at.parent, ancestors[:-1])
    receiver = _dict_of(holder.node) if isinstance(holder.node, ir.Expr) else None
    if receiver is None:
        return
    around = holder.parent
    if is_written(holder) or (isinstance(around, ir.Attribute) and around.attr in _CHANGING):
        yield _writer(at, "reflective", receiver)
    elif isinstance(around, ir.Subscript) and around.value is holder.node and not isinstance(around.index, ir.Constant):
        if is_written(Occurrence(at.module, around, holder.ancestors[:-1])):
            yield _writer(at, "reflective", receiver)
    elif not isinstance(around, (ir.Attribute, ir.Subscript, ir.For, ir.Compare)) and not _only_read(holder):
        yield _writer(at, "reflective", receiver)


_READING_CALLS = frozenset(
    {"dict", "list", "len", "iter", "sorted", "str", "repr", "print", "tuple", "set", "frozenset", "deepcopy", "copy", "dumps", "hasattr"}
)  # fmt: skip


def _only_read(holder: Occurrence) -> bool:
    """Handed on as ``**vars(x)`` or to a call that copies or shows it; any other taker may write through it."""
    around = holder.parent
    if isinstance(around, ir.Keyword):
        return around.name is None
    if isinstance(around, ir.DictExpr):
        return True
    return isinstance(around, ir.Call) and called_name(around) in _READING_CALLS


_REFLECTIVE: dict[str, Callable[[Occurrence], Iterator[Writer]]] = {
    "setattr": _computed_setattr,
    "delattr": _computed_setattr,
    "__setattr__": _computed_setattr,
    "__delattr__": _computed_setattr,
    "force_setattr": _computed_setattr,
    "__dict__": _whole_dict,
    "vars": _whole_dict,
}

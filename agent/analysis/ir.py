"""The small typed tree that every file is lowered to once; all analysis and evaluation sees only this.

Names and fields follow the standard library's ``ast`` so that a reader knows them already. Nodes are compared by identity and never
changed after lowering. ``line``/``end`` count from 1 and are inclusive; ``start_byte``/``end_byte`` index the file's bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from threading import RLock
from typing import TYPE_CHECKING, Any


@dataclass(slots=True, eq=False, kw_only=True)
class Node:
    """Base of everything that has a place in a file."""

    line: int = 0
    end: int = 0
    start_byte: int = 0
    end_byte: int = 0


class Expr(Node):
    """An expression."""

    __slots__ = ()


class Stmt(Node):
    """A statement. ``later``: of a function whose body nobody has read, what makes it."""

    __slots__ = ("later",)
    later: Callable[[], list[Stmt]]


class Pattern(Node):
    """A pattern of a ``case``."""

    __slots__ = ()


# --- expressions -------------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Constant(Expr):
    """A literal: str, bytes, int, float, complex, bool, None or Ellipsis; adjacent strings are joined."""

    value: Any


@dataclass(slots=True, eq=False)
class Name(Expr):
    id: str


@dataclass(slots=True, eq=False)
class Attribute(Expr):
    value: Expr
    attr: str


@dataclass(slots=True, eq=False)
class Subscript(Expr):
    value: Expr
    index: Expr


@dataclass(slots=True, eq=False)
class Slice(Expr):
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@dataclass(slots=True, eq=False)
class Keyword(Node):
    """``name`` None is ``**value``."""

    name: str | None
    value: Expr


@dataclass(slots=True, eq=False)
class Call(Expr):
    func: Expr
    args: list[Expr]
    keywords: list[Keyword]


@dataclass(slots=True, eq=False)
class Starred(Expr):
    value: Expr


@dataclass(slots=True, eq=False)
class UnaryOp(Expr):
    """``op``: ``-`` ``+`` ``~`` ``not``."""

    op: str
    operand: Expr


@dataclass(slots=True, eq=False)
class BinOp(Expr):
    """``op`` as written: ``+ - * / // % ** @ & | ^ << >>``."""

    left: Expr
    op: str
    right: Expr


@dataclass(slots=True, eq=False)
class BoolOp(Expr):
    """``op``: ``and`` or ``or``; nested runs of one operator are flattened."""

    op: str
    values: list[Expr]


@dataclass(slots=True, eq=False)
class Compare(Expr):
    """``ops``: ``== != < <= > >= is`` ``is not`` ``in`` ``not in``."""

    left: Expr
    ops: list[str]
    comparators: list[Expr]


@dataclass(slots=True, eq=False)
class IfExp(Expr):
    test: Expr
    body: Expr
    orelse: Expr


@dataclass(slots=True, eq=False)
class Param(Node):
    """``kind``: posonly, normal, vararg, kwonly, kwarg."""

    name: str
    kind: str
    default: Expr | None
    annotation: Expr | None


@dataclass(slots=True, eq=False)
class Lambda(Expr):
    params: list[Param]
    body: Expr


@dataclass(slots=True, eq=False)
class ListExpr(Expr):
    items: list[Expr]


@dataclass(slots=True, eq=False)
class TupleExpr(Expr):
    items: list[Expr]


@dataclass(slots=True, eq=False)
class SetExpr(Expr):
    items: list[Expr]


@dataclass(slots=True, eq=False)
class DictExpr(Expr):
    """A key of None is ``**value``."""

    keys: list[Expr | None]
    values: list[Expr]


@dataclass(slots=True, eq=False)
class Clause(Node):
    """One ``for TARGET in ITER if TEST ...`` of a comprehension."""

    target: Expr
    iter: Expr
    ifs: list[Expr]
    is_async: bool


@dataclass(slots=True, eq=False)
class Comprehension(Expr):
    """``kind``: list, set, dict, generator; ``value`` only for dict."""

    kind: str
    element: Expr
    value: Expr | None
    clauses: list[Clause]


@dataclass(slots=True, eq=False)
class FormattedValue(Expr):
    """``{value!conversion:format_spec}``; ``conversion`` is "", "r", "s" or "a".

    ``self_text`` is what ``{value = }`` prints before the value, its ``=`` and blanks included.
    """

    value: Expr
    conversion: str
    format_spec: Expr | None
    self_text: str


@dataclass(slots=True, eq=False)
class FString(Expr):
    """Parts are Constant (str) and FormattedValue."""

    parts: list[Expr]


@dataclass(slots=True, eq=False)
class NamedExpr(Expr):
    target: Expr
    value: Expr


@dataclass(slots=True, eq=False)
class Await(Expr):
    value: Expr


@dataclass(slots=True, eq=False)
class Yield(Expr):
    """``is_from``: ``yield from value``."""

    value: Expr | None
    is_from: bool


@dataclass(slots=True, eq=False)
class Unsupported(Expr, Stmt):
    """Something the grammar knows and the engine does not, or a parse error: evaluates to unknown, with its text."""

    kind: str
    text: str


# --- statements --------------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Assign(Stmt):
    """``a = b = value`` has two targets, left to right."""

    targets: list[Expr]
    value: Expr


@dataclass(slots=True, eq=False)
class AugAssign(Stmt):
    """``op`` without the ``=``."""

    target: Expr
    op: str
    value: Expr


@dataclass(slots=True, eq=False)
class AnnAssign(Stmt):
    target: Expr
    annotation: Expr
    value: Expr | None


@dataclass(slots=True, eq=False)
class ExprStmt(Stmt):
    value: Expr


@dataclass(slots=True, eq=False)
class Return(Stmt):
    value: Expr | None


@dataclass(slots=True, eq=False)
class Raise(Stmt):
    exc: Expr | None
    cause: Expr | None


@dataclass(slots=True, eq=False)
class Assert(Stmt):
    test: Expr
    msg: Expr | None


@dataclass(slots=True, eq=False)
class Delete(Stmt):
    targets: list[Expr]


@dataclass(slots=True, eq=False)
class Pass(Stmt):
    pass


@dataclass(slots=True, eq=False)
class Break(Stmt):
    pass


@dataclass(slots=True, eq=False)
class Continue(Stmt):
    pass


@dataclass(slots=True, eq=False)
class Global(Stmt):
    names: list[str]


@dataclass(slots=True, eq=False)
class Nonlocal(Stmt):
    names: list[str]


@dataclass(slots=True, eq=False)
class Alias(Node):
    """``name as asname``; ``name`` may be dotted, or ``*``."""

    name: str
    asname: str | None


@dataclass(slots=True, eq=False)
class Import(Stmt):
    names: list[Alias]


@dataclass(slots=True, eq=False)
class ImportFrom(Stmt):
    """``level`` counts the leading dots; ``module`` is "" for ``from . import x``."""

    module: str
    level: int
    names: list[Alias]


@dataclass(slots=True, eq=False)
class If(Stmt):
    """``elif`` is an If alone in ``orelse``, with the elif's own line."""

    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]


@dataclass(slots=True, eq=False)
class While(Stmt):
    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]


@dataclass(slots=True, eq=False)
class For(Stmt):
    target: Expr
    iter: Expr
    body: list[Stmt]
    orelse: list[Stmt]
    is_async: bool


@dataclass(slots=True, eq=False)
class Handler(Node):
    """``type`` None is a bare ``except:``."""

    type: Expr | None
    name: str | None
    body: list[Stmt]


@dataclass(slots=True, eq=False)
class Try(Stmt):
    body: list[Stmt]
    handlers: list[Handler]
    orelse: list[Stmt]
    finalbody: list[Stmt]
    is_star: bool


@dataclass(slots=True, eq=False)
class WithItem(Node):
    context: Expr
    target: Expr | None


@dataclass(slots=True, eq=False)
class With(Stmt):
    items: list[WithItem]
    body: list[Stmt]
    is_async: bool


@dataclass(slots=True, eq=False)
class Case(Node):
    pattern: Pattern
    guard: Expr | None
    body: list[Stmt]


@dataclass(slots=True, eq=False)
class Match(Stmt):
    subject: Expr
    cases: list[Case]


_ONE_READER = RLock()
"""Nodes are known by their identity: a body is made once, however many threads read it."""


@dataclass(slots=True, eq=False)
class FunctionDef(Stmt):
    """``line`` is the ``def`` line; decorators lie before it. ``is_generator``: a yield in its own body."""

    name: str
    params: list[Param]
    body: list[Stmt]
    decorators: list[Expr]
    returns: Expr | None
    is_async: bool
    is_generator: bool

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Python asks here for what has no value yet: the body, until it is made."""
            if name != "body":
                raise AttributeError(name)
            with _ONE_READER:
                if not self.has_body and hasattr(self, "later"):
                    self.body = self.later()
                    del self.later
            return object.__getattribute__(self, "body")

    @property
    def has_body(self) -> bool:
        """Whether the body is there: of one that is put off, whether somebody has read it."""
        try:
            object.__getattribute__(self, "body")
        except AttributeError:
            return False
        return True

    def put_off(self, later: Callable[[], list[Stmt]]) -> None:
        """The body is what ``later`` gives, when somebody reads it."""
        self.later = later
        if self.has_body:
            del self.body

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """Without a body that is put off: who loads the node puts it off again."""
        names = _FUNCTION_SLOTS if self.has_body else _FUNCTION_SLOTS - {"body"}
        return None, {name: getattr(self, name) for name in sorted(names)}


_FUNCTION_SLOTS = frozenset(each.name for each in fields(FunctionDef))


@dataclass(slots=True, eq=False)
class ClassDef(Stmt):
    name: str
    bases: list[Expr]
    keywords: list[Keyword]
    body: list[Stmt]
    decorators: list[Expr]


# --- patterns ----------------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class MatchValue(Pattern):
    """A literal or dotted name; None, True and False compare by identity."""

    value: Expr


@dataclass(slots=True, eq=False)
class MatchSequence(Pattern):
    patterns: list[Pattern]


@dataclass(slots=True, eq=False)
class MatchStar(Pattern):
    name: str | None


@dataclass(slots=True, eq=False)
class MatchMapping(Pattern):
    """``rest`` is the name after ``**``."""

    keys: list[Expr]
    patterns: list[Pattern]
    rest: str | None


@dataclass(slots=True, eq=False)
class MatchClass(Pattern):
    cls: Expr
    patterns: list[Pattern]
    kwd_names: list[str]
    kwd_patterns: list[Pattern]


@dataclass(slots=True, eq=False)
class MatchAs(Pattern):
    """``pattern as name``; both None is ``_``; pattern None is a capture."""

    pattern: Pattern | None
    name: str | None


@dataclass(slots=True, eq=False)
class MatchOr(Pattern):
    patterns: list[Pattern]


# --- a file ------------------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class ParseError(Node):
    """A stretch the grammar could not read; whatever lies in it is unknown."""

    text: str


@dataclass(slots=True, eq=False, weakref_slot=True)
class Module:
    """One lowered file. Byte offsets index ``source``, the file as it lies on disk."""

    path: str
    sha256: str
    source: bytes
    body: list[Stmt]
    errors: list[ParseError] = field(default_factory=list)

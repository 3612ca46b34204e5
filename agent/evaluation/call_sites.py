"""Where a function may be called from, by name, in the modules that the launch can import."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice
from weakref import WeakKeyDictionary

from agent.analysis import ir
from agent.analysis.callers import Reference, called_name, references_in
from agent.analysis.imports import importable_from
from agent.analysis.index import Index
from agent.analysis.mentions import calling_files, files_that_derive, files_that_reach, in_a_text
from agent.analysis.other_programs import programs_with
from agent.analysis.resolve import dotted_text
from agent.analysis.scopes import bound_names, scope_of
from agent.analysis.walk import walk
from agent.evaluation.definitions import Definitions
from agent.evaluation.machine import Machine
from agent.evaluation.makers import followed_calls, heeding, unnamed_maker
from agent.evaluation.tables import Tables
from agent.evaluation.values import ClassV, FuncV

MAX_LISTED = 100
"""Call sites that are listed at all: names such as ``load`` have thousands."""
_IMPORTABLE: WeakKeyDictionary[Index, dict[str, frozenset[str]]] = WeakKeyDictionary()

_WORKED_OUT = re.compile(
    rb"\bgetattr\(\s*(?:self|cls)\s*,\s*(?:[fF][\"']|[\"'][^\"'\n]*[\"']\s*[+%]|[^\"'\s][^()\n]*\)\s*\()"
    rb"|\b(\w+)\s*=\s*getattr\(\s*(?:self|cls)\s*,\s*[^\"'\s][^()\n]*\)[^\x00]{0,400}?\b\1\("
)
"""``getattr(self, f"on_{kind}")``, ``getattr(self, name)(...)``, ``method = getattr(self, name)`` and a call of it soon after."""


class CallSites:
    """What refers to a function or class by name; worked out once for each."""

    def __init__(self, m: Machine, definitions: Definitions) -> None:
        self.m = m
        self.definitions = definitions
        self.tables = Tables(
            m.index,
            lambda: self.importable,
            self.references,
            lambda module, expression: definitions.runs.in_module(module, lambda: m.eval(expression)),
        )
        self.by_name: dict[str, bool] = {}
        self.by_text: dict[ir.Node, bool] = {}
        self.below: dict[ClassV, tuple[ClassV, ...]] = {}
        self.callers: dict[tuple[ir.Node, ClassV | None], list[Reference]] = {}

    def of(self, func: FuncV, owner: ClassV | None) -> list[Reference]:
        """Call sites of a function by name, the first MAX_LISTED; of ``__init__`` those of its class and its subclasses."""
        found = self.callers.get((func.node, owner))
        if found is None:
            constructor = owner is not None and func.name in ("__init__", "__new__")
            everywhere = self.constructor_sites(owner) if owner is not None and constructor else self._call_sites(func, owner)
            found = self.callers[func.node, owner] = list(islice(everywhere, MAX_LISTED))
        return found

    @cached_property
    def importable(self) -> frozenset[str]:
        """Modules that the entry module can import: a call anywhere else does not happen in this launch."""
        known: dict[str, frozenset[str]] = _IMPORTABLE.setdefault(self.m.index, {})
        start = self.m.entry_path
        if start not in known:
            known[start] = importable_from(self.m.index, start)
        return known[start]

    def called_by_name(self, func: FuncV) -> bool:
        """Whether a text may name the function: ``rpc("name")``, ``getattr(x, "name")``, a getattr beside it whose name is worked out."""
        if func.name in self.by_name:
            return self.by_name[func.name]
        self.by_name[func.name] = self.in_a_text(func) or (func.owner is not None and self.worked_out_beside(func))
        return self.by_name[func.name]

    def in_a_text(self, func: FuncV) -> bool:
        """Whether one may name the function."""
        if func.node not in self.by_text:
            self.by_text[func.node] = any(self.texts(func))
        return self.by_text[func.node]

    def texts(self, func: FuncV) -> Iterator[Reference]:
        """Texts that may name the function, but for its own and what a module's globals hold."""
        for path in self._files(func.name):
            if in_a_text(self.m.index.read(path), func.name):
                for ref in references_in(self.m.index.module(path), func.name):
                    outside = func.node not in ref.chain and not (isinstance(ref.statement, ir.Assign) and not ref.chain)
                    if ref.kind in ("string", "getattr") and outside:
                        yield ref

    def worked_out_beside(self, func: FuncV) -> bool:
        """Whether the module of a method calls methods by names that it works out."""
        return next(self.worked_out_lines(func), None) is not None

    def worked_out_lines(self, func: FuncV) -> Iterator[int]:
        """Where it does."""
        source = func.module.ir.source if func.module.ir is not None else b""
        return (source.count(b"\n", 0, found.start()) + 1 for found in _WORKED_OUT.finditer(source))

    def _call_sites(self, func: FuncV, owner: ClassV | None) -> Iterator[Reference]:
        among = files_that_reach(self.m.index, func.name) | {func.module.path} if func.owner is None else None
        for ref in self.references(func.name, among):
            if ref.kind == "getattr" and _for_a_call(ref):
                if owner is not None or ref.receiver is not None:
                    yield replace(ref, kind="value", call=None)
                continue
            if ref.kind not in ("call", "value", "super"):
                continue
            looked_up = self.tables.calls_of_value(ref) if owner is None else None
            if looked_up is not None:
                yield from (each for each in looked_up if each.call is not None and may_accept(func, each.call))
                continue
            if owner is not None and not self._may_receive(ref, owner):
                continue
            if owner is None and (_on_self(ref) or self._namesake(ref, func)):
                continue
            if ref.call is not None and not may_accept(func, ref.call):
                continue
            if not self._in_another_program(ref):
                yield ref
        yield from self.registered(func) or ()

    def registered(self, func: FuncV) -> tuple[Reference, ...] | None:
        """Calls of what is looked up in the tables where the decorators of a function put it; None where they may do more with it."""
        heard = [each for each in getattr(func.node, "decorators", ()) if not _lets_through(each)]
        return self.tables.calls_of_decorated(func.module, heard) if func.owner is None or not heard else None

    def called_as_it_is(self, func: FuncV) -> bool:
        """Whether every decorator lets callers' arguments through as they are, and calls the function with no others."""
        return handed_on_unchanged(func) or self.registered(func) is not None

    def _namesake(self, ref: Reference, func: FuncV) -> bool:
        """Whether a bare name means something else: what a function around it binds, or a function that its own module defines."""
        if not isinstance(ref.node, ir.Name):
            return False
        bound = (_bound_by(each, ref.node.id) for each in reversed(ref.chain) if isinstance(each, ir.FunctionDef))
        here = next((each for each in bound if each is not None), None)
        if here is not None:
            return here
        body = self.m.index.module(ref.path).body
        binding = [each for each in body if ref.node.id in bound_names(each)]
        return ref.path != func.module.path and bool(binding) and all(isinstance(each, (ir.FunctionDef, ir.ClassDef)) for each in binding)

    def _in_another_program(self, ref: Reference) -> bool:
        """Whether the place runs only where another module than the launch's is the program."""
        around = ref.chain[0] if ref.chain else None
        if not isinstance(around, ir.FunctionDef) or around.decorators or around in self.m.entered:
            return False
        programs = programs_with(self.m.index, ref.path, around)
        return bool(programs) and self.m.entry_path not in (programs or ())

    def references(self, name: str, among: frozenset[str] | None = None) -> Iterator[Reference]:
        """Every place that refers to a name, in the launch's files that do more than define or import it; ``among``: only in these."""
        for path in self._files(name):
            if among is None or path in among:
                yield from references_in(self.m.index.module(path), name)

    def _files(self, name: str) -> Iterator[str]:
        return (path for path in calling_files(self.m.index, name) if path in self.importable)

    def _may_receive(self, ref: Reference, owner: ClassV) -> bool:
        """A method called on ``self`` belongs to the classes around the call and their bases; a bare name is no method."""
        around = [node for node in ref.chain if isinstance(node, ir.ClassDef)]
        dunder = isinstance(ref.node, ir.Attribute) and ref.node.attr.startswith("__")
        if ref.kind != "super" and dunder and not isinstance(ref.receiver, ir.Name):
            return False
        if ref.kind == "super":
            return bool(around) and around[-1] is not owner.node and self._related(around[-1], ref.path, owner)
        if ref.receiver is None:  # in the class body itself: ``run = go``
            return bool(ref.chain) and ref.chain[-1] is owner.node and ref.kind == "value"
        if isinstance(ref.receiver, ir.Name) and ref.receiver.id in ("self", "cls") and around:
            return self._related(around[-1], ref.path, owner)
        return True

    def derived(self, cls: ClassV) -> tuple[ClassV, ...]:
        """Every class of the tree below this one that the launch can import."""
        if cls not in self.below:
            self.below[cls] = ()
            found: dict[ClassV, None] = {}
            for ref in self.references(cls.name, files_that_derive(self.m.index, cls.name)) if cls.node is not None else ():
                if ref.kind == "base" and isinstance(ref.statement, ir.ClassDef):
                    definition = next(d for d in self.m.index.outline(ref.path).definitions if d.node is ref.statement)
                    each = self.definitions.class_of(definition)
                    if each is not None and cls in each.mro:
                        found |= {each: None, **dict.fromkeys(self.derived(each))}
            self.below[cls] = tuple(found)
        return self.below[cls]

    def _related(self, node: ir.ClassDef, path: str, owner: ClassV) -> bool:
        if owner.node is node:
            return True
        if any(base.node is node for base in owner.mro):
            return True
        definition = self.m.index.outline(path).definition_of(node)
        cls = self.definitions.class_of(definition) if definition is not None else None
        if cls is None or owner in cls.mro or "?" in cls.opaque:
            return True
        return any(owner in each.mro for each in self.derived(cls))  # a class that derives from both

    def constructor_sites(self, owner: ClassV) -> list[Reference]:
        """Where an object of the class, or of one derived from it, is made; a place of kind "value" where that cannot be followed."""
        return list(dict.fromkeys(self._constructor_sites(owner, owner, {owner})))

    def _constructor_sites(self, owner: ClassV, cls: ClassV, seen: set[ClassV]) -> Iterator[Reference]:
        """Calls that give ``owner.__init__`` its arguments for objects of ``cls``, which has no other."""
        unnamed = unnamed_maker(self.m.index, self.importable, self.references, self.tables, cls)
        used = [ref for ref in self.references(cls.name) if not self._in_another_program(ref)]
        yield from (ref for ref in used if ref.kind == "call")
        for ref in used:
            yield from (followed_calls(self.m.index, self.tables, ref) or ()) if ref.kind == "value" else ()
        if cls.node is not None:
            yield from self.tables.calls_of_decorated(cls.module, heeding(cls.node)) or ()
        if unnamed is not None:
            yield unnamed
        for ref in used:
            if ref.kind == "base" and isinstance(ref.statement, ir.ClassDef):
                yield from self._subclass_sites(owner, ref, seen)

    def _subclass_sites(self, owner: ClassV, base: Reference, seen: set[ClassV]) -> Iterator[Reference]:
        definition = self.m.index.outline(base.path).definition_of(base.statement)
        cls = self.definitions.class_of(definition) if definition is not None else None
        if cls is None:
            yield replace(base, kind="value", call=None)
            return
        if cls in seen or owner not in cls.mro:
            return
        seen.add(cls)
        first = next((each for each in cls.mro if "__init__" in each.names), owner)
        if first is owner or "__init__" not in owner.names:
            yield from self._constructor_sites(owner, cls, seen)
            return
        init = next((s for s in first.node.body if isinstance(s, ir.FunctionDef) and s.name == "__init__"), None) if first.node else None
        if init is None:
            yield replace(base, kind="value", call=None)
        else:
            within = references_in(self.m.index.module(first.module.path), "__init__")
            yield from (ref for ref in within if ref.kind in ("super", "call") and init in ref.chain)
        for ref in self.references(cls.name):
            if ref.kind == "base" and isinstance(ref.statement, ir.ClassDef):
                yield from self._subclass_sites(owner, ref, seen)


def _on_self(ref: Reference) -> bool:
    return isinstance(ref.receiver, ir.Name) and ref.receiver.id in ("self", "cls")


def _bound_by(function: ir.FunctionDef, name: str) -> bool | None:
    """Whether the function itself binds the name to something else than what it imports; None where it does not bind it."""
    if name not in scope_of(function).local:
        return None
    imports = (node for node in walk(function) if isinstance(node, (ir.Import, ir.ImportFrom)))
    return not any(name in bound_names(each) for each in imports)


def _for_a_call(ref: Reference) -> bool:
    """``methodcaller("name", ...)``, ``getattr(x, "name")``: what is found may be called with anything."""
    named = called_name(ref.call) if ref.call is not None else ""
    return named == "methodcaller" or (named == "getattr" and not isinstance(ref.statement, ir.If))


def may_accept(func: FuncV, call: ir.Call) -> bool:
    """Whether the arguments of a call fit the function, bound to an object or not: a call that does not fit raises before it is entered."""
    if not isinstance(func.node, ir.FunctionDef) or not handed_on_unchanged(func):
        return True
    return any(_fits(func.node.params[bound:], call) for bound in ((0, 1) if func.owner is not None else (0,)))


def _fits(params: list[ir.Param], call: ir.Call) -> bool:
    positional = [param for param in params if param.kind in ("posonly", "normal")]
    named = {param.name for param in params if param.kind in ("normal", "kwonly")}
    kinds = {param.kind for param in params}
    keywords = {keyword.name for keyword in call.keywords if keyword.name}
    spread_list = any(isinstance(arg, ir.Starred) for arg in call.args)
    spread_dict = any(not keyword.name for keyword in call.keywords)
    if "vararg" not in kinds and not spread_list and len(call.args) > len(positional):
        return False
    if "kwarg" not in kinds and not keywords <= named:
        return False
    given = {param.name for param in positional[: len(call.args)]} | keywords
    required = {param.name for param in params if param.default is None and param.kind in ("posonly", "normal", "kwonly")}
    return spread_list or spread_dict or required <= given


def handed_on_unchanged(func: FuncV) -> bool:
    """Whether every decorator lets callers' arguments through as they are, and calls the function with no others."""
    return all(map(_lets_through, getattr(func.node, "decorators", ())))


def _lets_through(decorator: ir.Expr) -> bool:
    text = dotted_text(decorator.func if isinstance(decorator, ir.Call) else decorator) or "?"
    return text.rpartition(".")[2] in _UNCHANGED or text.startswith(_UNCHANGED_FROM)


def handed_to_nobody(function: ir.FunctionDef | ir.Lambda) -> bool:
    """Whether no decorator of a function can give it to somebody who calls it by another name."""
    return {(dotted_text(each) or "?").rpartition(".")[2] for each in getattr(function, "decorators", ())} <= _KEPT


_KEPT = frozenset({"staticmethod", "classmethod", "contextmanager", "lru_cache", "cache"})
_UNCHANGED = frozenset(
    "staticmethod classmethod property cached_property abstractmethod override final lru_cache cache contextmanager".split()
)
_UNCHANGED_FROM = ("torch.", "triton.", "numba.", "nvtx.")

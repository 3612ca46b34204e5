"""A class around another one lacks a method that the inner one has, and that somebody calls, or asks for, on the outer one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent.analysis import ir
from agent.analysis.hierarchy import Hierarchy
from agent.analysis.occurrences import Occurrence, occurrences
from agent.analysis.outline import Definition
from agent.analysis.resolve import Resolver, dotted_text
from agent.analysis.walk import walk
from agent.domain.counting import counted
from agent.domain.verdict import Smell
from agent.evaluation import explain
from agent.evaluation.model_class import architectures, on_model
from agent.evaluation.models.argument_parser import command_line
from agent.evaluation.values import Const

if TYPE_CHECKING:
    from agent.evaluation.engine import LaunchEngine


CALLED = "the call raises AttributeError where it runs"


def lacking_wrappers(engine: LaunchEngine) -> list[Smell]:
    """For the classes that the architectures of the launch's models name; one for a class and method, at its first place."""
    if engine.refused is not None:
        return []
    found: list[Smell] = []
    hierarchy = Hierarchy(engine.index)
    named = {path: _words_of(engine, path) for path, _ in architectures(engine)}
    for path, name in architectures(engine):
        others = set().union(*(words for other, words in named.items() if other != path)) - named[path]
        own = named[path] - set().union(*(words for other, words in named.items() if other != path))
        for outer in engine.index.classes_named(name):
            if not outer.chain and outer.path in engine.demand.call_sites.importable:
                found += _of_class(engine, hierarchy, outer, _Meant(others, own if len(named) > 1 else set()))
    return found


class _Meant:
    """Whether an expression means one model of several, by the words of the options that name them: ``self.draft_runner.model``."""

    def __init__(self, others: set[str], own: set[str]) -> None:
        self.others, self.own = others, own

    def means(self, text: str) -> bool:
        words = set(re.split(r"[^a-z0-9]+|_", text.lower()))
        return not words & self.others and (not self.own or bool(words & self.own))


def _words_of(engine: LaunchEngine, path: str) -> set[str]:
    """Words of the options that name this config's directory."""
    m = engine.machine
    folder = path.rpartition("/")[0]
    found: set[str] = set()
    for namespace in command_line(m).namespaces:
        for name, option in command_line(m).options.items():
            cell = m.state.get((namespace, name))
            value = cell.value if cell is not None and option.given else None
            if isinstance(value, Const) and isinstance(value.v, str) and value.v.rstrip("/") == folder:
                found |= set(name.split("_"))
    return found


def _of_class(engine: LaunchEngine, hierarchy: Hierarchy, outer: Definition, meant: _Meant) -> Iterator[Smell]:
    own = {name for cls in _line(hierarchy, outer) for name in _attributes(cls)}
    if "__getattr__" in own:
        return
    seen: set[str] = set()
    for attribute, inner in _inner(engine, hierarchy, outer):
        for method in (name for cls in _line(hierarchy, inner) for name in _methods(cls)):
            if method in own or method in seen or method.startswith("_"):
                continue
            seen.add(method)
            places = list(_asked_of_outer(engine, outer, inner, method, meant))
            if places:
                at, how = places[0]
                more = f", and at {counted(len(places) - 1, 'more place')}" if len(places) > 1 else ""
                has = (
                    f"{outer.name} ({outer.path}:{outer.node.line}) has no {method}() in the tree, the {inner.name} in its {attribute} has"
                )
                yield Smell(kind="wrapper_lacks_method", path=at.path, line=at.node.line, text=_text(engine, at), why=f"{has}: {how}{more}")


def _line(hierarchy: Hierarchy, cls: Definition) -> list[Definition]:
    return [each for each in hierarchy.mro(cls) if isinstance(each, Definition)]


def _attributes(cls: Definition) -> set[str]:
    """Everything that stands in the class's body, or that a method of it writes on ``self``."""
    names = {each.name for each in cls.node.body if isinstance(each, (ir.FunctionDef, ir.ClassDef))}
    targets = (target for each in walk(cls.node) if isinstance(each, ir.Assign) for target in each.targets)
    return names | {each.id if isinstance(each, ir.Name) else each.attr for each in targets if isinstance(each, (ir.Name, ir.Attribute))}


def _methods(cls: Definition) -> list[str]:
    return [each.name for each in cls.node.body if isinstance(each, ir.FunctionDef)]


def _inner(engine: LaunchEngine, hierarchy: Hierarchy, outer: Definition) -> Iterator[tuple[str, Definition]]:
    """``self.attribute = Inner(...)`` for a class of the tree."""
    resolver = Resolver(engine.index)
    for cls in _line(hierarchy, outer):
        for node in walk(cls.node):
            if not (isinstance(node, ir.Assign) and isinstance(node.value, ir.Call) and isinstance(node.targets[0], ir.Attribute)):
                continue
            text = dotted_text(node.value.func)
            meant = resolver.meanings(cls.path, text, cls.chain) if text else []
            classes = [each for each in meant if isinstance(each, Definition) and isinstance(each.node, ir.ClassDef)]
            if len(classes) == len(meant) == 1 and classes[0] != outer:
                yield node.targets[0].attr, classes[0]


def _asked_of_outer(
    engine: LaunchEngine, outer: Definition, inner: Definition, method: str, meant: _Meant
) -> Iterator[tuple[Occurrence, str]]:
    """Calls before questions."""
    written = re.compile(rb"model\s*\.\s*%b\s*\(|hasattr\([^()]*model\s*,\s*[\"']%b[\"']" % (method.encode(), method.encode()))
    found: list[tuple[Occurrence, str]] = []
    for path in engine.index.files_with(method):
        if (
            path.startswith(_folder(outer.path))
            or path not in engine.demand.call_sites.importable
            or not _written_in(engine, path, written)
        ):
            continue
        for at in occurrences(engine.index.module(path), method):
            if (how := _how(at, method)) and not _asked_first(at, method) and meant.means(_text(engine, at)):
                found.append((at, how))
    return iter(sorted(found, key=lambda each: (each[1] != CALLED, each[0].path, each[0].node.line)))


def _written_in(engine: LaunchEngine, path: str, pattern: re.Pattern[bytes]) -> bool:
    """By a file's bytes: most that have the word are not parsed."""
    content = engine.tree.read(path)
    return isinstance(content, bytes) and pattern.search(content) is not None


def _folder(path: str) -> str:
    """Where the class lives: what its neighbours call a model is their own, not the one that the program runs."""
    return path.rpartition("/")[0] + "/"


def _text(engine: LaunchEngine, at: Occurrence) -> str:
    around = next((each for each in reversed(at.ancestors) if isinstance(each, ir.Call)), at.node)
    return explain.text(engine.index, at.path, around)[:120]


def _how(at: Occurrence, method: str) -> str:
    """A call of it on what is called a model, or a question for it."""
    parent = at.parent
    if isinstance(at.node, ir.Attribute) and at.node.attr == method and _the_model(at.node.value):
        return CALLED if isinstance(parent, ir.Call) and parent.func is at.node else ""
    named = isinstance(parent, ir.Call) and isinstance(parent.func, ir.Name) and parent.func.id == "hasattr" and at.node in parent.args[1:]
    if named and isinstance(at.node, ir.Constant) and at.node.value == method and _the_model(parent.args[0]):  # type: ignore[union-attr]
        return "what stands under the question is skipped without a word"
    return ""


def _the_model(node: ir.Expr) -> bool:
    """What is called a model, and not picked from several by a call or an index: ``runner(i).model`` may be any of them."""
    return on_model(node) and not any(isinstance(each, (ir.Call, ir.Subscript)) for each in walk(node))


def _asked_first(at: Occurrence, method: str) -> bool:
    """A call under ``if hasattr(model, "method")``: the question is the smell."""
    if not isinstance(at.node, ir.Attribute):
        return False
    tests = [each.test for each in at.ancestors if isinstance(each, (ir.If, ir.IfExp))]
    return any(isinstance(each, ir.Constant) and each.value == method for test in tests for each in walk(test))

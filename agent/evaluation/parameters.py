"""What a parameter may be: the argument over all call sites, each reached by a run of the function around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agent.analysis import ir
from agent.analysis.callers import Reference, called_name
from agent.analysis.control import only_as_program
from agent.analysis.outline import Parents
from agent.analysis.resolve import dotted_text
from agent.analysis.scopes import binds
from agent.analysis.walk import statements, walk
from agent.analysis.writers import may_change
from agent.evaluation.call_sites import MAX_LISTED, CallSites
from agent.evaluation.definitions import Definitions
from agent.evaluation.effort import Effort
from agent.evaluation.machine import Machine
from agent.evaluation.makers import followed_calls, heeding, only_asked, unnamed_maker
from agent.evaluation.modules import import_module
from agent.evaluation.receivers import ANY, Context, Receivers
from agent.evaluation.runs import Reads, Runs
from agent.evaluation.values import ABSENT, AV, ClassV, DictObj, FuncV, Instance, ListObj, ModuleV, Unk, given, may_lack, one_of, same
from agent.evaluation.watch import Beside, Watch

MAX_MAKERS = 6
MAX_SITES = 24
"""Call sites over which an argument is joined."""


class Row(NamedTuple):
    """A parameter of a function, and a call that may give it."""

    func: FuncV
    owner: ClassV | None
    param: ir.Param
    site: Reference


class Parameters:
    """Each is worked out when it is first read."""

    def __init__(
        self, m: Machine, effort: Effort, receivers: Receivers, runs: Runs, definitions: Definitions, call_sites: CallSites
    ) -> None:
        self.m = m
        self.effort = effort
        self.receivers = receivers
        self.runs = runs
        self.definitions = definitions
        self.call_sites = call_sites
        self.known: dict[tuple[ir.Node, str, Context], AV] = {}
        self.unmade: dict[ClassV, bool] = {}
        self.unreached: set[Context] = set()
        """Ways to make an object whose call the function around it never comes to."""

    def value(self, func: FuncV, owner: ClassV | None, param: ir.Param, context: Context) -> AV:
        """A parameter over all call sites, or at the one site of the context."""
        record = self.receivers.record(param)
        if record is not None:
            return record
        key = (func.node, param.name, context)
        if key in self.known:
            self.m.assumptions |= self.effort.rests[key]
            return self.known[key]
        if key in self.effort.pending or self.effort.stops():
            return Unk(f"{param.name} of {func.qualname}(): its callers were not followed further")
        with self.effort.working_out(key):
            value = self._over_sites(func, owner, param, context)
            if isinstance(value, Unk):
                value = self._of_annotated_class(func, param) or value
        self.known[key] = value
        return value

    def _of_annotated_class(self, func: FuncV, param: ir.Param) -> AV | None:
        """A parameter annotated with a class of the tree: some object of that class, known by what its methods write."""
        if not isinstance(param.annotation, (ir.Name, ir.Attribute, ir.Constant)):
            return None
        annotation = param.annotation
        if isinstance(annotation, ir.Constant):
            text = annotation.value
            if not isinstance(text, str) or not text.isidentifier():
                return None
            annotation = ir.Name(text)
        cls = self.runs.in_module(func.module, lambda: self.m.eval(annotation))
        if not isinstance(cls, ClassV):
            cls = self._imported_for_typing(annotation)
        if not isinstance(cls, ClassV) or cls.enum_members is not None:
            return None
        self.m.assume(f"an argument annotated as {cls.name} is an object of that class, or of one derived from it in the tree")
        return self.receivers.of(cls)

    def _imported_for_typing(self, annotation: ir.Expr) -> AV:
        """Names that are imported under TYPE_CHECKING only."""
        if not isinstance(annotation, ir.Name):
            return ABSENT
        found = self.m.index.classes_named(annotation.id)
        top = [d for d in found if not d.chain and d.path in self.call_sites.importable]
        return self.definitions.class_of(top[0]) or ABSENT if len(top) == 1 else ABSENT

    def _over_sites(self, func: FuncV, owner: ClassV | None, param: ir.Param, context: Context) -> AV:
        one = context.site if owner is not None and func.name in ("__init__", "__new__") else None
        rows = [Row(func, owner, param, one)] if one is not None else list(self._rows(func, owner, param))
        closed = next((row for row in rows if isinstance(row, Unk)), None)
        if closed is not None:
            return closed
        found = [row for row in rows if isinstance(row, Row) and not _by_another(row.site, context.made)]
        silent = [row for row in found if one is None and _gives_nothing(row)]
        telling = list({_given_at(row): row for row in found if row not in silent}.values())
        if len(telling) > MAX_SITES:
            return Unk(f"{param.name} of {func.qualname}() has {len(found)} call sites")
        values: list[AV] = []
        for row in telling:
            values += self._at_site(*row, _around(row.site, context))
            if any(isinstance(value, Unk) and not value.typ for value in values):
                return one_of(values)
        defaults = [self._default(row.func, row.param.name) for row in silent]
        if silent and (len(found) > MAX_SITES or _adds_nothing(values, defaults)):
            return one_of([*values, *defaults])  # whether these calls are made adds nothing, or is too much to ask
        for row in silent:
            values += self._at_site(*row, _around(row.site, context))
        if not found:
            return Unk(f"{param.name} of {func.qualname}(): no caller was found")
        if not values:
            if one is not None:
                self.unreached.add(context)
            return Unk(f"{param.name} of {func.qualname}(): no call site is reached")
        return one_of(values)

    def _rows(self, func: FuncV, owner: ClassV | None, param: ir.Param) -> Iterator[Row | Unk]:
        """The calls that give the argument.

        Where a function of the same name hands on its own, ``self.inner.put(item)`` in ``put(self, item)``, those of that function instead:
        by their names each may call any of them, so that none could be worked out before the others.
        """
        group = [(func, owner, param)]
        for each in group:
            yield from self._not_followed(*each)
            sites = self.call_sites.of(each[0], each[1])
            if len(sites) >= MAX_LISTED:  # there may be others
                yield Unk(f"{param.name} of {func.qualname}() has {len(sites)} call sites or more")
            for site in sites:
                row = Row(*each, site)
                giver = self._hands_on(row)
                if giver is None:
                    yield row
                elif not any(giver[0].node is other[0].node and giver[2] is other[2] for other in group):
                    group.append(giver)

    def _not_followed(self, func: FuncV, owner: ClassV | None, param: ir.Param) -> Iterator[Unk]:
        if not self.call_sites.called_as_it_is(func):
            yield Unk(f"{param.name} of {func.qualname}(), which is decorated")
        elif owner is not None and self.call_sites.worked_out_beside(func):
            yield Unk(f"{param.name} of {func.qualname}(), which may be called by a name that is worked out")

    def _hands_on(self, row: Row) -> tuple[FuncV, ClassV | None, ir.Param] | None:
        """The parameter that a call in a function of the same name gives as it came."""
        around, call = (row.site.chain or (None,))[-1], row.site.call
        if not isinstance(around, ir.FunctionDef) or around.name != row.func.name or row.site.kind != "call" or call is None:
            return None
        given = _watch(row).expressions(call)
        names = {each.id for each in given if isinstance(each, ir.Name)}
        param = next((each for each in around.params if {each.name} == names and each.kind in ("posonly", "normal", "kwonly")), None)
        outline = self.m.index.outline(row.site.path)
        if (
            len(given) != 1
            or param is None
            or not _on_object(row.site)
            or _made_later(outline.parents, call)
            or any(binds(each, param.name) for each in around.body)
        ):
            return None
        definition = outline.definition_of(around)
        found = self.definitions.function(definition) if definition is not None else None
        return (*found, param) if found is not None else None

    def _at_site(self, func: FuncV, owner: ClassV | None, param: ir.Param, site: Reference, context: Context) -> list[AV]:
        """The argument at one call site: nothing where the site is never reached."""
        if site.kind == "value" and not self._as_target(site):
            return [Unk(f"{param.name} of {func.qualname}(), which is handed on at {site.path}:{site.line}")]
        watch = _watch(Row(func, owner, param, site))
        if not self.reaches(site, watch, context):
            return [Unk(f"{param.name} of {func.qualname}(): the call at {site.path}:{site.line} was not followed")]
        if watch.seen and self._on_nobody(site, owner):
            return []
        default = self._default(func, param.name)
        return [or_default(value, default) for value in watch.seen]

    def _default(self, func: FuncV, name: str) -> AV:
        """What the parameter is where a call gives nothing: a container may have in it what earlier calls have put there."""
        default = func.defaults.get(name, Unk(f"{name} of {func.qualname}()"))
        source = func.module.ir.source if func.module.ir is not None else b""
        body = func.node.body[0] if isinstance(func.node, ir.FunctionDef) else func.node
        if isinstance(default, (ListObj, DictObj)) and may_change(source[body.start_byte : func.node.end_byte], name):
            return Unk(f"{name} of {func.qualname}() keeps what earlier calls have put in it")
        return default

    def _as_target(self, site: Reference) -> bool:
        """``Process(target=f, args=...)``: what is given to the function stands in the call."""
        call = _call_around(self.m.index.outline(site.path).parents, site.node)
        return call is not None and any(keyword.name == "target" and keyword.value is site.node for keyword in call.keywords)

    def _on_nobody(self, site: Reference, owner: ClassV | None) -> bool:
        """Whether the site stands in a method of a class of which this launch makes no object."""
        around = next((place for place, node in enumerate(site.chain) if isinstance(node, ir.ClassDef)), None)
        if around is None or (owner is not None and site.chain[around] is owner.node):
            return False
        definition = self.m.index.outline(site.path).definition_of(site.chain[around])
        cls = self.definitions.class_of(definition) if definition is not None else None
        return cls is not None and self.never_made(cls)

    def never_made(self, cls: ClassV) -> bool:
        """Whether every place that could make an object of the class, or of one derived from it, is shown not to be reached."""
        if cls not in self.unmade and not self.effort.stops():
            self.unmade[cls] = False
            self.unmade[cls] = self._no_site_reached(cls)
        return self.unmade.get(cls, False)

    def _no_site_reached(self, cls: ClassV) -> bool:
        calls = self.call_sites
        if unnamed_maker(self.m.index, calls.importable, calls.references, calls.tables, cls) is not None:
            return False
        sites = list(calls.tables.calls_of_decorated(cls.module, heeding(cls.node)) or ()) if cls.node is not None else []
        for ref in calls.references(cls.name):
            if ref.kind in ("import", "annotation") or only_asked(ref):
                continue
            made = followed_calls(self.m.index, calls.tables, ref) if ref.kind == "value" else [ref] if ref.kind == "call" else None
            if made is None or not ref.chain or len(sites) + len(made) > MAX_MAKERS:
                return False
            sites += made
        return all(self._never_reached(site, cls) for site in sites)

    def _never_reached(self, site: Reference, cls: ClassV) -> bool:
        watch = Watch("", -1, spawned=False)
        watch.made = cls if site.role == "alias" else None
        return self.reaches(site, watch) and not watch.seen

    def reaches(self, site: Reference, watch: Watch, context: Context = ANY) -> bool:
        """Runs the function around a call site so that ``watch`` sees its argument; False when that cannot be done."""
        chain = site.chain
        outline = self.m.index.outline(site.path)
        call = site.call if site.call is not None else _call_around(outline.parents, site.node)
        if call is not None and not chain:
            return self._reaches_at_import(site, call, watch)
        if call is None or not isinstance(chain[-1], ir.FunctionDef):
            return False
        definition = outline.definition_of(chain[-1])
        found = self.definitions.function(definition) if definition is not None else None
        if found is None or self.effort.stops():
            return False
        if _made_later(outline.parents, call):
            return self._reaches_later(site, found, watch, call, context)
        reads: Reads = {site.statement: (call.func, *watch.needed(call))}
        waits: dict[ir.Node, Watch] = {call: watch, **_beside(site.statement, call)}
        making = watch.look_behind(chain[-1], call)
        if making is not None and watch.source is not None:
            reads[making] = tuple(keyword.value for keyword in watch.source.keywords if keyword.name == watch.name)
            waits[watch.source] = watch
        seen = self.runs.run(found[0], found[1], [site.statement], context=context, watch=waits, reads=reads)
        return seen.finished or bool(watch.seen)

    def _reaches_later(self, site: Reference, found: tuple[FuncV, ClassV | None], watch: Watch, call: ir.Call, context: Context) -> bool:
        """A call in the body of a lambda, which anybody may make who has the lambda: what it gives is known where that is written there."""
        seen = self.runs.run(found[0], found[1], [site.statement], context=context, reads={site.statement: ()})
        if seen.finished and site.statement not in seen.marks:
            return True
        given = watch.expressions(call)
        if watch.spawned or watch.made is not None or not all(isinstance(each, ir.Constant) for each in given):
            return False
        watch.note(self.m, call)
        return True

    def _reaches_at_import(self, site: Reference, call: ir.Call, watch: Watch) -> bool:
        """A call at the top of a module is made when the module is imported, or run as the program."""
        if site.path != self.m.entry_path and only_as_program(self.m.index.outline(site.path), site.statement):
            return True
        module = import_module(self.m, self.m.index.dotted(site.path))
        if not isinstance(module, ModuleV):
            return False

        def note() -> AV:
            watch.note(self.m, call)
            return ABSENT

        self.runs.in_module(module, note)
        return bool(watch.seen)


def _around(site: Reference, context: Context) -> Context:
    """What a function with a call in it runs on: the same object, where it calls a method of its own."""
    if context.made is None:
        return context.outer or ANY
    return context if _calls_own_method(site) else ANY


def _by_another(site: Reference, made: Instance | None) -> bool:
    """Whether the call is one of a method of its own object, in a class of which ``made`` is none."""
    if made is None or not isinstance(made.cls, ClassV) or not _calls_own_method(site):
        return False
    return all(site.chain[-2] is not each.node for each in made.cls.mro)


def _calls_own_method(site: Reference) -> bool:
    """``self.method(...)`` in a method."""
    if len(site.chain) < 2 or not isinstance(site.chain[-2], ir.ClassDef) or not isinstance(site.receiver, ir.Name):
        return False
    method = site.chain[-1]
    if not isinstance(method, ir.FunctionDef) or not method.params or method.params[0].name != site.receiver.id:
        return False
    return not _decorated_with(method, "staticmethod", "classmethod") and not any(
        binds(each, site.receiver.id) for each in statements(method.body)
    )


def or_default(value: AV, default: AV) -> AV:
    """An argument of a call that may not give it."""
    return one_of([given(value), default]) if may_lack(value) else default if value is ABSENT else value


def _position(func: FuncV, owner: ClassV | None, param: ir.Param) -> int:
    """The place of a parameter among the arguments of a call; -1 of one that is given by its name alone."""
    assert isinstance(func.node, ir.FunctionDef)
    params = [each for each in func.node.params if each.kind in ("posonly", "normal")]
    return params.index(param) - (owner is not None and not _decorated(func, "staticmethod")) if param in params else -1


def _decorated(func: FuncV, *names: str) -> bool:
    return _decorated_with(func.node, *names)


def _decorated_with(node: ir.Node, *names: str) -> bool:
    return any(isinstance(each, ir.Name) and each.id in names for each in getattr(node, "decorators", ()))


def _watch(row: Row) -> Watch:
    """What waits for the argument at the call."""
    func, owner, param, site = row
    watch = Watch(param.name, _position(func, owner, param), site.kind == "value")
    watch.made = (owner or func) if site.role == "alias" else None
    watch.method = func.name if owner is not None and not _decorated(func, "staticmethod", "classmethod") else ""
    return watch


def _gives_nothing(row: Row) -> bool:
    """Whether a call leaves the parameter at its default, by what is written there."""
    return row.site.kind == "call" and row.site.call is not None and not _watch(row).needed(row.site.call)


def _given_at(row: Row) -> tuple[object, ...]:
    """What tells one place that gives an argument from others: the call, where it also gives that of another function in the same way."""
    given = _watch(row).expressions(row.site.call) if row.site.call is not None and row.site.role != "alias" else []
    plain = len(given) == 1 and not isinstance(given[0], ir.Starred) and _on_object(row.site)
    return (row.site.call, *given) if plain else (row.func.node, row.site)


def _on_object(site: Reference) -> bool:
    """Whether what stands before the dot is no class, by the way classes are written."""
    name = (dotted_text(site.receiver) or "?").rpartition(".")[2] if site.receiver is not None else ""
    return name not in ("?", "cls", "__class__") and name == name.lower()


def _adds_nothing(values: list[AV], defaults: list[AV]) -> bool:
    return not any(isinstance(default, Unk) or any(not same(value, default) for value in values + defaults) for default in defaults)


def _beside(statement: ir.Stmt, call: ir.Call) -> dict[ir.Node, Watch]:
    """Other calls of the same name in the statement, ``Pair(make(a), make(b))``: skipped, as one that takes too long is."""
    others = [node for node in walk(statement) if isinstance(node, ir.Call) and node is not call and called_name(node) == called_name(call)]
    return {node: Beside() for node in others if called_name(node)}


def _made_later(parents: Parents, call: ir.Call) -> bool:
    """Whether the call stands in the body of a lambda: not the statement makes it, but who calls what the statement has made."""
    below, around = call, parents.get(call)
    while around is not None and not isinstance(around, (ir.FunctionDef, ir.ClassDef)):
        if isinstance(around, ir.Lambda) and below is around.body:
            return True
        below, around = around, parents.get(around)  # type: ignore[assignment]
    return False


def _call_around(parents: Parents, node: ir.Node) -> ir.Call | None:
    current: ir.Node | None = node
    while current is not None and not isinstance(current, ir.Stmt):
        current = parents.get(current)
        if isinstance(current, ir.Call):
            return current
    return None

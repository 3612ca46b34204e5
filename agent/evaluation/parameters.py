"""What a parameter may be: the argument over all call sites, each reached by a run of the function around it."""

from __future__ import annotations

from agent.analysis import ir
from agent.analysis.callers import Reference
from agent.analysis.control import only_as_program
from agent.analysis.outline import Parents
from agent.analysis.walk import walk
from agent.analysis.writers import may_change
from agent.evaluation.call_sites import CallSites, handed_on_unchanged
from agent.evaluation.definitions import Definitions
from agent.evaluation.effort import Effort
from agent.evaluation.machine import Machine
from agent.evaluation.makers import alias_calls, unnamed_maker
from agent.evaluation.modules import import_module
from agent.evaluation.receivers import ANY, Context, Receivers
from agent.evaluation.runs import Reads, Runs
from agent.evaluation.values import ABSENT, AV, ClassV, DictObj, FuncV, ListObj, ModuleV, Unk, given, may_lack, one_of
from agent.evaluation.watch import Watch

MAX_MAKERS = 6
MAX_SITES = 24
"""Call sites over which an argument is joined."""


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
        if not handed_on_unchanged(func):
            return Unk(f"{param.name} of {func.qualname}(), which is decorated")
        if owner is not None and self.call_sites.worked_out_beside(func):
            return Unk(f"{param.name} of {func.qualname}(), which may be called by a name that is worked out")
        constructor = owner is not None and func.name in ("__init__", "__new__")
        sites = [context.site] if constructor and context.site is not None else self.call_sites.of(func, owner)
        if len(sites) > MAX_SITES:
            return Unk(f"{param.name} of {func.qualname}() has {len(sites)} call sites")
        values: list[AV] = []
        for site in sites:
            values += self._at_site(func, owner, param, site, context.outer or ANY)
        if not sites:
            return Unk(f"{param.name} of {func.qualname}(): no caller was found")
        if not values:
            if constructor and context.site is not None:
                self.unreached.add(context)
            return Unk(f"{param.name} of {func.qualname}(): no call site is reached")
        return one_of(values)

    def _at_site(self, func: FuncV, owner: ClassV | None, param: ir.Param, site: Reference, context: Context) -> list[AV]:
        """The argument at one call site: nothing where the site is never reached."""
        params = [p for p in func.node.params if p.kind in ("posonly", "normal")]
        skip = owner is not None and not _decorated(func, "staticmethod")
        if site.kind == "value" and not self._as_target(site):
            return [Unk(f"{param.name} of {func.qualname}(), which is handed on at {site.path}:{site.line}")]
        watch = Watch(param.name, params.index(param) - skip if param in params else -1, site.kind == "value")
        watch.made = owner if site.role == "alias" else None
        watch.method = func.name if owner is not None and not _decorated(func, "staticmethod", "classmethod") else ""
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
        definition = next((d for d in self.m.index.outline(site.path).definitions if d.node is site.chain[around]), None)
        cls = self.definitions.class_of(definition) if definition is not None else None
        return cls is not None and self.never_made(cls)

    def never_made(self, cls: ClassV) -> bool:
        """Whether every place that could make an object of the class, or of one derived from it, is shown not to be reached."""
        if cls not in self.unmade and not self.effort.stops():
            self.unmade[cls] = False
            self.unmade[cls] = self._no_site_reached(cls)
        return self.unmade.get(cls, False)

    def _no_site_reached(self, cls: ClassV) -> bool:
        if unnamed_maker(self.m.index, self.call_sites.importable, self.call_sites.references, cls) is not None:
            return False
        sites: list[Reference] = []
        for ref in self.call_sites.references(cls.name):
            if ref.kind in ("import", "annotation") or only_asked(ref):
                continue
            calls = alias_calls(self.m.index, ref) if ref.kind == "value" else [ref] if ref.kind == "call" else None
            if calls is None or not ref.chain or len(sites) + len(calls) > MAX_MAKERS:
                return False
            sites += calls
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
        definition = next((d for d in outline.definitions if d.node is chain[-1]), None)
        found = self.definitions.function(definition) if definition is not None else None
        if found is None or self.effort.stops():
            return False
        if _made_later(outline.parents, call):
            return self._reaches_later(site, found, watch, call, context)
        reads: Reads = {site.statement: (call.func, *watch.needed(call))}
        waits: dict[ir.Node, Watch] = {call: watch}
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


def or_default(value: AV, default: AV) -> AV:
    """An argument of a call that may not give it."""
    return one_of([given(value), default]) if may_lack(value) else default if value is ABSENT else value


def only_asked(ref: Reference) -> bool:
    """``isinstance(x, Class)``: it makes nothing."""
    calls = (node for node in walk(ref.statement) if isinstance(node, ir.Call) and isinstance(node.func, ir.Name))
    asking = (call for call in calls if call.func.id in ("isinstance", "issubclass"))  # type: ignore[attr-defined]
    return ref.kind == "value" and any(ref.node in walk(call) for call in asking)


def _decorated(func: FuncV, *names: str) -> bool:
    return any(isinstance(each, ir.Name) and each.id in names for each in getattr(func.node, "decorators", ()))


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

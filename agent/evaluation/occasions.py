"""When a function that the forward run has not entered can run: never in this launch, or when somebody asks the running program."""

from __future__ import annotations

from collections.abc import Callable, Container

from agent.analysis import ir
from agent.analysis.callers import Reference
from agent.analysis.control import only_as_program
from agent.analysis.effects import outside_names
from agent.analysis.index import Index
from agent.analysis.resolve import dotted_text, root_name
from agent.analysis.scopes import binds
from agent.analysis.walk import statements, walk
from agent.analysis.writers import receivers_by_text, writers_in
from agent.evaluation.call_sites import MAX_LISTED, CallSites, handed_to_nobody
from agent.evaluation.definitions import Definitions
from agent.evaluation.machine import Machine
from agent.evaluation.makers import tells_others
from agent.evaluation.runs import Making
from agent.evaluation.values import AV, ClassV, FuncV, Instance, candidates

MAX_CLIMB = 6
FEW_FILES = 12
"""A method whose name stands in more files is taken to be called: who calls which of its namesakes is a dear question."""


class Occasions:
    """Answers by the places that refer to a function; ``followed``: the functions that the forward run has entered;
    ``held_by``: what an attribute of the objects of a class is."""

    def __init__(
        self,
        m: Machine,
        definitions: Definitions,
        call_sites: CallSites,
        followed: frozenset[ir.Node],
        held_by: Callable[[ClassV, str], AV | None],
    ) -> None:
        self.m = m
        self.definitions = definitions
        self.call_sites = call_sites
        self.followed = followed
        self.marks = m.marks
        self.held_by = held_by
        self._idle: dict[ir.Node, tuple[str, ...] | None] = {}
        self._asked: dict[ir.Node, bool] = {}
        self._uncalled: dict[ir.Node, bool] = {}
        self._working_out = 0

    def idle(self, path: str, function: ir.FunctionDef) -> tuple[str, ...] | None:
        """What has to be assumed for no call of the function to be made; None where one may be.

        Each stands in a function that the forward run followed to its end without making the call, or in one that nothing calls.
        """
        if function not in self._idle:
            self._idle[function] = None
            found = self._idle[function] = self._every_site_idle(path, function)
            if self._working_out:
                del self._idle[function]
            return found
        return self._idle[function]

    def _once(self, known: dict[ir.Node, bool], function: ir.Node, meanwhile: bool, ask: Callable[[], bool]) -> bool:
        """What was found before, or ``meanwhile`` where that is asked of itself.

        While a value is being worked out, an answer may rest on its not being known yet: such a one is not kept.
        """
        if function in known:
            return known[function]
        known[function] = meanwhile
        found = known[function] = ask()
        if self._working_out:
            del known[function]
        return found

    def _every_site_idle(self, path: str, function: ir.FunctionDef) -> tuple[str, ...] | None:
        sites = self.sites(path, function)
        if not sites or function in self.followed:
            return None
        assumed: tuple[str, ...] = ()
        for site in sites:
            caller = site.chain[-1] if site.chain else None
            if site.kind != "call" or not isinstance(caller, ir.FunctionDef) or caller in self.m.unfollowed or caller in self.m.detached:
                return None
            if caller not in self.followed:
                idle = self.idle(site.path, caller)
                if idle is None and not self.uncalled(site.path, caller):
                    return None
                assumed += (called_by_nobody(site.path, caller),) if idle is None else idle
        return assumed

    def not_called(self, path: str, function: ir.FunctionDef) -> tuple[str, ...] | None:
        """As ``idle``; also where nothing calls the function at all."""
        idle = self.idle(path, function)
        return (called_by_nobody(path, function),) if idle is None and self.uncalled(path, function) else idle

    def on_request(self, path: str, function: ir.FunctionDef) -> bool:
        """Whether every way to the function begins with a message from outside.

        That is: a handler that a decorator or a table of handlers hands to a library, or a public function that nothing in the tree calls.
        """
        return self._begins_outside(path, function, 0)

    def uncalled(self, path: str, function: ir.FunctionDef) -> bool:
        """Whether nothing in the launch's modules calls the function, but what is not called itself: tests, demonstrations, tools."""
        return self._once(self._uncalled, function, True, lambda: self._no_way_begins(path, function))

    def _no_way_begins(self, path: str, function: ir.FunctionDef) -> bool:
        if function in self.followed or not handed_to_nobody(function):
            return False
        owner = next((node for node in reversed(self.m.index.enclosing(path, function.line)) if isinstance(node, ir.ClassDef)), None)
        if owner is not None:
            if all(self._makes_none(ref, owner) for ref in self.call_sites.references(owner.name)):
                return not self._known_outside(path, owner)
            common = function.name.startswith("__") or len(self.m.index.files_with(function.name)) > FEW_FILES
            if common or self._known_outside(path, owner) or self._given_away(owner):
                return False
        definition = self.m.index.outline(path).definition_of(function)
        found = self.definitions.function(definition) if definition is not None else None
        if found is None or (owner is not None and self.call_sites.worked_out_beside(found[0])):
            return False
        sites = self.call_sites.of(*found)
        return len(sites) < MAX_LISTED and all(self._site_not_reached(site) for site in (*self.call_sites.texts(found[0]), *sites))

    def _makes_none(self, ref: Reference, owner: ir.ClassDef) -> bool:
        """Whether a reference to a class gives nobody an object of it: it stands in the class, or in a function that nothing calls."""
        if ref.kind in ("import", "annotation") or owner in ref.chain:
            return True
        around = ref.caller
        return around is not None and self.uncalled(ref.path, around)

    def _known_outside(self, path: str, owner: ir.ClassDef) -> bool:
        """Whether what stands around the class when it is defined may keep it: a decorator, a base from outside or one that listens."""
        definition = self.m.index.outline(path).definition_of(owner)
        cls = self.definitions.class_of(definition) if definition is not None else None
        return cls is None or bool(cls.opaque) or tells_others(cls)

    def _given_away(self, owner: ir.ClassDef) -> bool:
        """Whether code outside the tree has an object of the class: it may call any method."""
        given = [each.cls for each in self.m.singletons.get("given to others", ())]
        return any(base.node is owner for cls in given if isinstance(cls, ClassV) for base in cls.mro)

    def _site_not_reached(self, site: Reference) -> bool:
        caller = site.caller
        if caller is None:
            return not site.chain and only_as_program(self.m.index.outline(site.path), site.statement) and site.path != self.m.entry_path
        return self.uncalled(site.path, caller)

    def for_a_while(self, path: str, function: ir.FunctionDef, name: str) -> bool:
        """Whether the function puts the name back at the end of a ``with``, and the forward run has been in none."""
        if not puts_back(function, name):
            return False
        sites = self.sites(path, function) or []
        within = (site.chain and site.kind == "call" and not self.followed.intersection(site.chain) for site in sites)
        return bool(sites) and all(within)

    def only_in_making(self, path: str, function: ir.FunctionDef, name: str, making: Making, depth: int = 0) -> bool:
        """Whether the run that made an object of a class entered the function, and a call of it that the run has not made is on another.

        So it is where each call stands in a function that makes one first. ``name``: of the class.
        """
        sites = self.sites(path, function) if function in making.entered and depth < MAX_CLIMB else None
        if not sites:
            return False
        for site in sites:
            caller = site.caller
            if site.kind != "call" or caller is None:
                return False
            if site.call in making.calls if caller is making.run_of else caller in making.entered and _calls(caller, name):
                continue
            if not self.only_in_making(site.path, caller, name, making, depth + 1):
                return False
        return True

    def _begins_outside(self, path: str, function: ir.FunctionDef, depth: int) -> bool:
        return self._once(self._asked, function, True, lambda: self._every_way_begins_outside(path, function, depth))

    def _every_way_begins_outside(self, path: str, function: ir.FunctionDef, depth: int) -> bool:
        if function in self.followed or function.name.startswith("__") or depth > MAX_CLIMB:
            return False
        if any(_routes(decorator) for decorator in function.decorators):
            return True
        sites = self._sites(path, function, lambda func: self._named_outside(func, depth))
        return sites is not None and all(self._site_begins_outside(site, depth) or self._on_another(site, path, function) for site in sites)

    def _named_outside(self, func: FuncV, depth: int) -> bool:
        """Whether the methods beside it that are called by a name that is worked out are so where a message names them."""
        path = func.module.path
        around = [self.m.index.enclosing(path, line) for line in self.call_sites.worked_out_lines(func)]
        naming = [next((node for node in reversed(each) if isinstance(node, ir.FunctionDef)), None) for each in around]
        return all(each is not None and self._begins_outside(path, each, depth + 1) for each in naming)

    def _site_begins_outside(self, site: Reference, depth: int) -> bool:
        caller = site.caller
        if caller is None:
            return False
        if site.kind == "value":
            return self._in_table(site)
        return self._among_kinds(site) or self._begins_outside(site.path, caller, depth + 1)

    def _among_kinds(self, site: Reference) -> bool:
        """``if isinstance(message, A): ... elif isinstance(message, B): self.handle(message)``: who sends such a message asks for it."""
        parents = self.m.index.outline(site.path).parents
        node: ir.Node | None = site.node
        names: list[str] = []
        while node is not None and not isinstance(node, ir.FunctionDef):
            if isinstance(node, ir.If):
                names.append(_asked_for_its_kind(node.test))
                names += [_asked_for_its_kind(each.test) for each in node.orelse if isinstance(each, ir.If)]
            node = parents.get(node)
        given = site.call.args if site.call is not None else []
        return any(isinstance(each, ir.Name) and names.count(each.id) > 1 for each in given)

    def _in_table(self, site: Reference) -> bool:
        """``Dispatcher([(Message, self.handle), ...])``, ``{"name": self.handle}``."""
        parents = self.m.index.outline(site.path).parents
        around = parents.get(site.node)
        if isinstance(around, ir.DictExpr):
            return site.node in around.values
        return isinstance(around, ir.TupleExpr) and isinstance(parents.get(around), (ir.ListExpr, ir.TupleExpr))

    def sites(self, path: str, function: ir.FunctionDef) -> list[Reference] | None:
        """Every reference; None where there may be others."""
        return self._sites(path, function, lambda func: not self.call_sites.worked_out_beside(func))

    def _sites(self, path: str, function: ir.FunctionDef, none_by_worked_out_name: Callable[[FuncV], bool]) -> list[Reference] | None:
        definition = self.m.index.outline(path).definition_of(function)
        found = self.definitions.function(definition) if definition is not None else None
        if found is None or self.call_sites.in_a_text(found[0]) or not (found[1] is None or none_by_worked_out_name(found[0])):
            return None
        sites = self.call_sites.of(*found)
        return sites if len(sites) < MAX_LISTED else None

    def named_by_working_out(self, path: str, function: ir.FunctionDef) -> bool:
        """Whether a method may be called by a name that is worked out beside it."""
        definition = self.m.index.outline(path).definition_of(function)
        found = self.definitions.function(definition) if definition is not None else None
        return found is None or self.call_sites.worked_out_beside(found[0])

    def _on_another(self, site: Reference, path: str, function: ir.FunctionDef) -> bool:
        """``self.worker.run()``, where what all methods leave in ``worker`` is of other classes than the one that has the function."""
        receiver = site.receiver
        definition = self.m.index.outline(path).definition_of(function)
        found = self.definitions.function(definition) if definition is not None else None
        owner = found[1] if found is not None else None
        around = next((node for node in reversed(site.chain) if isinstance(node, ir.ClassDef)), None)
        if owner is None or around is None or not isinstance(receiver, ir.Attribute) or dotted_text(receiver.value) != "self":
            return False
        definition = self.m.index.outline(site.path).definition_of(around)
        cls = self.definitions.class_of(definition) if definition is not None else None
        self._working_out += 1
        held = self.held_by(cls, receiver.attr) if cls is not None else None
        self._working_out -= 1
        kinds = [each.cls if isinstance(each, Instance) else None for each in candidates(held)] if held is not None else []
        return bool(kinds) and all(isinstance(each, ClassV) and owner not in each.mro and each not in owner.mro for each in kinds)


def called_by_nobody(path: str, function: ir.FunctionDef) -> str:
    """The assumption behind ``Occasions.uncalled``."""
    return f"nobody from outside of the tree calls {function.name}() ({path}:{function.line})"


_MANAGERS = ("contextmanager", "asynccontextmanager")


def puts_back(function: ir.FunctionDef, name: str) -> bool:
    """Whether the function is a context manager that writes the name once more when its ``with`` ends."""
    if not any((dotted_text(each) or "").rpartition(".")[2] in _MANAGERS for each in function.decorators):
        return False
    ends = [last for node in walk(function) if isinstance(node, ir.Try) for last in node.finalbody]
    return any(_writes(statement, name) for statement in statements(ends))


def _calls(function: ir.FunctionDef, name: str) -> bool:
    return any(isinstance(node, ir.Call) and (dotted_text(node.func) or "").rpartition(".")[2] == name for node in walk(function))


def taken_before(index: Index, path: str, statement: ir.Stmt, name: str) -> list[ir.Constant] | None:
    """``x.name = self.kept``, where all that is ever kept there is ``y.name`` or a constant: such constants; None for any other write.

    What is put back was the attribute's value before, so that it adds none to what others write. The same holds of a variable.
    """
    value = statement.value if isinstance(statement, ir.Assign) else None
    if isinstance(value, ir.Name):
        function = next((node for node in reversed(index.enclosing(path, statement.line)) if isinstance(node, ir.FunctionDef)), None)
        return [] if function is not None and _kept_in_variable(function, value.id, name) else None
    if not isinstance(value, ir.Attribute) or not isinstance(value.value, ir.Name) or value.value.id != "self":
        return None
    around = index.enclosing(path, statement.line)
    owner = next((node for node in reversed(around) if isinstance(node, ir.ClassDef)), None)
    writers = writers_in(index.module(path), value.attr)
    if not writers or any(row[0] != path for row in receivers_by_text(index, value.attr)):
        return None
    kept = [each.value if each.owner is owner and each.kind == "assign" else None for each in writers]
    if not all(isinstance(each, ir.Constant) or (isinstance(each, ir.Attribute) and each.attr == name) for each in kept):
        return None
    return [each for each in kept if isinstance(each, ir.Constant)]


def _kept_in_variable(function: ir.FunctionDef, variable: str, name: str) -> bool:
    """``kept = x.name``, or a copy of it, and nothing done with ``kept`` but ``x.name = kept``."""
    receivers, uses = set(), 0
    for each in statements(function.body):
        if not isinstance(each, ir.Assign) or len(each.targets) != 1:
            continue
        target, value = each.targets[0], each.value
        if isinstance(target, ir.Name) and target.id == variable:
            place, uses = _copied(value), uses + 1
        elif isinstance(value, ir.Name) and value.id == variable:
            place, uses = target, uses + 1
        else:
            continue
        receivers.add(dotted_text(place.value) if isinstance(place, ir.Attribute) and place.attr == name else None)
    bound = [each for each in statements(function.body) if binds(each, variable)]
    named = [each for each in walk(function) if variable in (getattr(each, "id", None), getattr(each, "name", None))]
    return len(receivers) == 1 and None not in receivers and len(bound) == 1 and len(named) == uses


def is_a_copy(index: Index, path: str, line: int, name: str) -> bool:
    """Whether a variable of the function is bound to nothing but copies that a library makes: ``y = deepcopy(x)``, ``replace(x, a=1)``."""
    function = next((node for node in reversed(index.enclosing(path, line)) if isinstance(node, ir.FunctionDef)), None)
    binding = [each for each in statements(function.body) if binds(each, name)] if function is not None else []
    known = function is not None and all(param.name != name for param in function.params)
    return known and bool(binding) and all(_copies(each, outside_names(index, path)) for each in binding)


def _copies(statement: ir.Stmt, outside: Container[str]) -> bool:
    call = statement.value if isinstance(statement, ir.Assign) and len(statement.targets) == 1 else None
    if not isinstance(call, ir.Call) or root_name(call.func) not in outside:
        return False
    return (dotted_text(call.func) or "").rpartition(".")[2] in ("copy", "deepcopy", "replace")


def _copied(value: ir.Expr) -> ir.Expr:
    """``x`` of ``dict(x)``, ``list(x)``, ``set(x)``, ``x.copy()``, ``copy(x)``; of anything else that itself."""
    if not isinstance(value, ir.Call) or value.keywords:
        return value
    if isinstance(value.func, ir.Attribute) and value.func.attr == "copy" and not value.args:
        return value.func.value
    copies = (dotted_text(value.func) or "") in ("dict", "list", "set", "copy", "copy.copy")
    return value.args[0] if copies and len(value.args) == 1 else value


def _writes(statement: ir.Stmt, name: str) -> bool:
    """``name = ...``, ``x.name = ...``, also among others."""
    targets = statement.targets if isinstance(statement, ir.Assign) else []
    return any(name == getattr(node, "id", getattr(node, "attr", None)) for target in targets for node in walk(target))


def _asked_for_its_kind(test: ir.Expr) -> str:
    """``x`` of ``isinstance(x, ...)``."""
    if not isinstance(test, ir.Call) or dotted_text(test.func) != "isinstance" or not test.args:
        return ""
    return dotted_text(test.args[0]) or ""


def _routes(decorator: ir.Expr) -> bool:
    """``@app.post("/path")``: a call on an object, with a text that begins with a slash."""
    if not isinstance(decorator, ir.Call) or "." not in (dotted_text(decorator.func) or ""):
        return False
    first = decorator.args[0] if decorator.args else None
    return isinstance(first, ir.Constant) and isinstance(first.value, str) and first.value.startswith("/")

"""Simple statements, ``if``, definitions and imports. A handler gives False when no path goes on."""

from __future__ import annotations

from agent.analysis import ir
from agent.evaluation import assign, classes, modules
from agent.evaluation.arithmetic import inplace
from agent.evaluation.attributes import class_attribute
from agent.evaluation.constructs import expressions
from agent.evaluation.frames import Dead, Leaf
from agent.evaluation.machine import Handler, Machine
from agent.evaluation.refine import refine
from agent.evaluation.render import source_of
from agent.evaluation.subscripts import set_by_name
from agent.evaluation.values import ABSENT, AV, NONE, ClassV, DictObj, ExternV, FuncV, Instance, PropertyV, Unk


def expression(m: Machine, node: ir.ExprStmt) -> bool:
    """``value`` alone."""
    m.eval(node.value)
    return True


def assignment(m: Machine, node: ir.Assign) -> bool:
    """``a = b = value``."""
    value = expressions.passed(m, node.value)
    for target in node.targets:
        if not _registers_by_name(m, node, target, value):
            assign.assign(m, target, value)
    return True


def _registers_by_name(m: Machine, node: ir.Assign, target: ir.Expr, value: AV) -> bool:
    """``registry[cls.__name__] = cls`` where the class is not known: see ``set_by_name``."""
    if not isinstance(value, Unk) or not isinstance(target, ir.Subscript) or not isinstance(node.value, ir.Name):
        return False
    key = target.index
    if not isinstance(key, ir.Attribute) or key.attr != "__name__" or not isinstance(key.value, ir.Name) or key.value.id != node.value.id:
        return False
    registry = m.eval(target.value)
    if isinstance(registry, DictObj):
        set_by_name(m, registry, value)
    return isinstance(registry, DictObj)


def annotated(m: Machine, node: ir.AnnAssign) -> bool:
    """``a: T = value``; without a value it only declares."""
    if m.frame.is_class and isinstance(node.target, ir.Name):
        classes.declare_field(m, node)
    if node.value is not None:
        assign.assign(m, node.target, m.eval(node.value))
    return True


def augmented(m: Machine, node: ir.AugAssign) -> bool:
    """``a += value``: in place for lists, dicts and sets."""
    old = m.eval(node.target)
    value = m.eval(node.value)
    assign.assign(m, node.target, inplace(m, node.op, old, value))
    return True


def returning(m: Machine, node: ir.Return) -> bool:
    """``return value``."""
    value = m.eval(node.value) if node.value is not None else NONE
    m.frame.returns.append(Leaf(value, m.state, tuple(m.reads)))
    m.exits += 1
    return False


def raising(m: Machine, node: ir.Raise) -> bool:
    """``raise``; a bare one raises again what is being handled."""
    if node.exc is None:
        current = m.load((m.frame, "<handled>"))
        m.throw(current if current is not None else Unk("the exception that is being handled"))
    assert node.exc is not None
    exc = m.eval(node.exc)
    if isinstance(exc, (ClassV, ExternV)):
        exc = m.call(exc, [], {})
    m.throw(exc)
    return False


def asserting(m: Machine, node: ir.Assert) -> bool:
    """``assert test, msg``."""
    truth = expressions.asked(m, node.test)
    m.tested(node, truth)
    if truth is True:
        return True

    def fails() -> bool:
        m.frame.stmt = _last_operand(node.test)
        message = m.eval(node.msg) if node.msg is not None else None
        exc = Instance(ExternV("builtins.AssertionError"))
        if message is not None:
            m.store((exc, "args"), message)
        m.throw(exc)
        return False

    if truth is False:
        return fails()
    m.fork([lambda: refine(m, node.test, True), fails])
    return True


def _last_operand(test: ir.Expr) -> ir.Expr:
    """CPython reports a failed assertion on the line of the last operand of its test."""
    while isinstance(test, (ir.BoolOp, ir.UnaryOp)):
        test = test.values[-1] if isinstance(test, ir.BoolOp) else test.operand
    return test


def deleting(m: Machine, node: ir.Delete) -> bool:
    """``del target``."""
    for target in node.targets:
        assign.delete(m, target)
    return True


def nothing(m: Machine, node: ir.Stmt) -> bool:
    """``pass``, ``global``, ``nonlocal``: scoping is done beforehand."""
    return True


def condition(m: Machine, node: ir.If) -> bool:
    """``if``: one branch when decided, both and a join when not; a forced one is taken without a look at its condition."""
    if node in m.forced:
        return m.block(node.body if m.forced[node] else node.orelse)
    truth = expressions.asked(m, node.test)
    deps = m.tested(node, truth)
    control = m.control
    if truth is not None:
        m.under(node, truth, truth, deps)
        refine(m, node.test, truth)
        alive = m.block(node.body if truth else node.orelse)
        m.control = control
        return alive

    def branch(body: list[ir.Stmt], polarity: bool) -> bool:
        m.under(node, polarity, None, deps)
        refine(m, node.test, polarity)
        return m.block(body)

    m.fork([lambda: branch(node.body, True), lambda: branch(node.orelse, False)])
    return True


def function(m: Machine, node: ir.FunctionDef) -> bool:
    """``def``: evaluates defaults, then decorators from the inside out."""
    defaults = {p.name: m.eval(p.default) for p in node.params if p.default is not None}
    frame = m.frame
    outer = "" if frame.scope is None and not frame.is_class else frame.label + "."
    closure = frame.closure if frame.is_class else frame if frame.scope is not None else frame.closure
    frame.kept = True
    func = FuncV(node, frame.module, closure, defaults, frame.owner if frame.is_class else None, outer + node.name)
    value: AV = func
    for decorator in reversed(node.decorators):
        value = decorate(m, decorator, value)
    assign.bind_name(m, node.name, value)
    return True


def decorate(m: Machine, decorator: ir.Expr, value: AV) -> AV:
    """Applies a decorator; one from outside the tree is taken to hand the function on."""
    if isinstance(decorator, ir.Attribute) and decorator.attr in ("setter", "getter", "deleter"):
        prop = m.eval(decorator.value)
        if isinstance(prop, PropertyV):
            return PropertyV(prop.fget, value, prop.cached) if decorator.attr == "setter" else prop
    called = m.eval(decorator)
    if isinstance(called, Unk) or (isinstance(called, ExternV) and not modules.modelled(called.dotted)) or _called_outside(m, called):
        return value
    result = m.call(called, [value], {})
    return value if isinstance(result, Unk) else result


def _called_outside(m: Machine, decorator: AV) -> bool:
    """An object that a base class from outside the tree lets be called.

    The forward run takes it to call what it decorates, as anything that is handed to others; what a question reads has every writer in it.
    """
    if m.demand is None:
        return False
    cls = decorator.cls if isinstance(decorator, Instance) else None
    return isinstance(cls, ClassV) and bool(cls.opaque) and class_attribute(m, cls, "__call__") is None


def klass(m: Machine, node: ir.ClassDef) -> bool:
    """``class``: runs its body, then metaclass effects and decorators."""
    value: AV = classes.create(m, node)
    for decorator in reversed(node.decorators):
        value = decorate(m, decorator, value)
    assign.bind_name(m, node.name, value)
    return True


def importing(m: Machine, node: ir.Import) -> bool:
    """``import a.b as c``."""
    for alias in node.names:
        module = modules.import_module(m, alias.name)
        if alias.asname is None and "." in alias.name:
            module = modules.import_module(m, alias.name.partition(".")[0])
        assign.bind_name(m, alias.asname or alias.name.partition(".")[0], module)
    return True


def importing_from(m: Machine, node: ir.ImportFrom) -> bool:
    """``from a import b``; a name that the module lacks raises ImportError."""
    dotted = modules.absolute(m.frame.module, node.module, node.level)
    for alias in node.names:
        if alias.name == "*":
            continue
        value = modules.import_name(m, dotted, alias.name)
        if value is ABSENT:
            m.throw_new("ImportError", f"cannot import name {alias.name!r} from {dotted!r}")
            raise Dead
        assign.bind_name(m, alias.asname or alias.name, value)
    return True


def unsupported(m: Machine, node: ir.Unsupported) -> bool:
    """A stretch that could not be read: nothing after it is certain."""
    m.finished = False
    m.skipped[f"{m.frame.module.path}:{node.line}"] = f"{node.kind}: {source_of(m, node)[:60]}"
    m.state.certain = False
    m.state.whole = False
    return True


HANDLERS: dict[type, Handler] = {
    ir.ExprStmt: expression,
    ir.Assign: assignment,
    ir.AnnAssign: annotated,
    ir.AugAssign: augmented,
    ir.Return: returning,
    ir.Raise: raising,
    ir.Assert: asserting,
    ir.Delete: deleting,
    ir.Pass: nothing,
    ir.Global: nothing,
    ir.Nonlocal: nothing,
    ir.If: condition,
    ir.FunctionDef: function,
    ir.ClassDef: klass,
    ir.Import: importing,
    ir.ImportFrom: importing_from,
    ir.Unsupported: unsupported,
}

"""From a definition in the text to the function or class that it makes."""

from __future__ import annotations

from agent.analysis import ir
from agent.analysis.outline import Definition
from agent.evaluation.attributes import class_attribute
from agent.evaluation.machine import Machine
from agent.evaluation.modules import import_module
from agent.evaluation.runs import Runs
from agent.evaluation.values import ABSENT, AV, ClassV, FuncV, ModuleV


class Definitions:
    """Modules are imported for it where the forward run has not."""

    def __init__(self, m: Machine, runs: Runs) -> None:
        self.m = m
        self.runs = runs

    def function(self, definition: Definition) -> tuple[FuncV, ClassV | None] | None:
        """The function value behind a definition, with its class; None for functions inside functions."""
        module = import_module(self.m, self.m.index.dotted(definition.path))
        if not isinstance(module, ModuleV):
            return None
        current: AV = module
        owner: ClassV | None = None
        for node in definition.chain:
            if isinstance(node, ir.FunctionDef):
                return None
            current = self.runs.quiet(lambda c=current, n=node: self.m.getattr(c, n.name))  # type: ignore[misc]
            if not isinstance(current, ClassV):
                return None
            owner = current
        return self._member(current, owner, definition)

    def _member(self, current: AV, owner: ClassV | None, definition: Definition) -> tuple[FuncV, ClassV | None] | None:
        if owner is not None:
            found = class_attribute(self.m, owner, definition.name)
            value = found[0] if found is not None else ABSENT
        else:
            value = self.runs.quiet(lambda: self.m.getattr(current, definition.name))
        func = underlying(value)
        if func is None or func.node is not definition.node:
            func = FuncV(definition.node, self._module_of(current, owner), None, {}, owner, definition.qualname)  # type: ignore[arg-type]
            self._defaults(func)
        return func, owner

    def _module_of(self, current: AV, owner: ClassV | None) -> ModuleV:
        if owner is not None:
            return owner.module
        assert isinstance(current, ModuleV)
        return current

    def _defaults(self, func: FuncV) -> None:
        def run() -> AV:
            for param in func.node.params:
                if param.default is not None:
                    func.defaults[param.name] = self.m.eval(param.default)
            return ABSENT

        self.runs.in_module(func.module, run)

    def class_of(self, definition: Definition) -> ClassV | None:
        """The class value behind a definition at module level."""
        if definition.chain or not isinstance(definition.node, ir.ClassDef):
            return None
        module = import_module(self.m, self.m.index.dotted(definition.path))
        found = self.runs.quiet(lambda: self.m.getattr(module, definition.name))
        return found if isinstance(found, ClassV) else None


def underlying(value: AV) -> FuncV | None:
    """The function inside static, class and context methods, properties."""
    for _ in range(4):
        if isinstance(value, FuncV):
            return value
        value = getattr(value, "func", None) or getattr(value, "fget", None)  # type: ignore[assignment]
        if value is None:
            return None
    return None

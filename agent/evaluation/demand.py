"""Values on demand, for code that the forward run does not reach: a function is run for one question, with its receiver, its parameters
and the attributes it reads worked out lazily from every place that writes them.

An attribute is the join over all methods of the class that write it, each run as a slice; a parameter is the join over all call sites. What
cannot be followed is unknown with its reason. Results rest on assumptions where a writer could not be attributed to a class.
"""

from __future__ import annotations

from agent.evaluation.attributes import class_attribute
from agent.evaluation.call_sites import CallSites
from agent.evaluation.definitions import Definitions
from agent.evaluation.effort import Effort
from agent.evaluation.later import Later
from agent.evaluation.machine import Machine
from agent.evaluation.parameters import Parameters
from agent.evaluation.passed_over import PassedOver
from agent.evaluation.receivers import Receivers
from agent.evaluation.runs import Runs
from agent.evaluation.unreached import Unreached
from agent.evaluation.values import AV, ClassV, Instance
from agent.evaluation.written_attributes import WrittenAttributes

CALL_FUEL = 5_000
"""Statements run in one call inside a function that is run for a question."""


class Demand:
    """Everything that questions beyond the finished forward run of a machine share."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.effort = Effort(m)
        self.receivers = Receivers(m)
        self.runs = Runs(m, self.effort, self.receivers, lambda *asked: self.parameters.value(*asked))
        self.definitions = Definitions(m, self.runs)
        self.call_sites = CallSites(m, self.definitions)
        self.parameters = Parameters(m, self.effort, self.receivers, self.runs, self.definitions, self.call_sites)
        self.unreached = Unreached(m, self.effort, self.receivers, self.runs, self.definitions, self.call_sites, self.parameters.reaches)
        self.later = Later(self)
        self.attributes = WrittenAttributes(self)
        self.passed_over = PassedOver(self)
        self.effort.kept = (self.attributes.known, self.parameters.known, self.unreached.known)
        m.demand = self
        m.drained = False
        m.limit = 1 << 60
        m.call_fuel = CALL_FUEL
        m.configured = True

    def begin(self) -> None:
        """A new question: fuel and assumptions are its own, and what an earlier one had to cut short is worked out anew."""
        self.effort.begin()

    def try_again(self) -> None:
        """The same question with more fuel: what was cut short for lack of it is worked out anew."""
        self.effort.forget_cut()

    def answers_for(self, obj: Instance) -> bool:
        """Whether what code beyond the question writes on the object is found when it is read; not of one that the question made itself."""
        return obj in self.receivers.contexts or obj.serial <= self.runs.base.mark

    def attribute_of(self, cls: ClassV, name: str) -> AV | None:
        """What an attribute of the objects of a class is, over all that write it; None where nothing in the class does."""
        return self.attributes.value(self.receivers.of(cls), name)

    def works_out(self, obj: AV, name: str) -> bool:
        """Whether an attribute is one that is worked out over all that write it, whenever it is read: reading it later gives the same."""
        if not isinstance(obj, Instance) or obj not in self.receivers.contexts or self.m.state.get((obj, name)) is not None:
            return False
        return isinstance(obj.cls, ClassV) and class_attribute(self.m, obj.cls, name) is None

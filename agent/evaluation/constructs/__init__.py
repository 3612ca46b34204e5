"""One handler per Python construct, found by the node's type; a node type without a row is unknown, never an error."""

from __future__ import annotations

from agent.evaluation.constructs import comprehensions, expressions, loops, matching, statements, tries
from agent.evaluation.machine import Handler

STATEMENTS: dict[type, Handler] = {**statements.HANDLERS, **loops.HANDLERS, **tries.HANDLERS, **matching.HANDLERS}
EXPRESSIONS: dict[type, Handler] = {**expressions.HANDLERS, **comprehensions.HANDLERS}

"""``math``, ``random``, ``time``, ``uuid``: pure functions are computed, chance is unknown but typed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from agent.evaluation.concrete import NotConcrete, concrete, concrete_named, lift, reason_of
from agent.evaluation.iteration import iterate
from agent.evaluation.machine import Machine
from agent.evaluation.models.interface import Attribute, Callee, Kwargs
from agent.evaluation.values import AV, Const, OneOf, Unk, one_of


def _pure(function: Callable[..., Any]) -> Callee:
    def run(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
        if args and isinstance(args[0], OneOf):
            return one_of([run(m, [v, *args[1:]], kwargs) for v in args[0].values])
        try:
            return lift(m, function(*(concrete(m, a) for a in args), **concrete_named(m, kwargs)))
        except NotConcrete:
            return m.missing(reason_of(*args, *kwargs.values()))
        except (TypeError, ValueError, ArithmeticError) as error:
            m.throw_new(type(error).__name__, str(error))
            return Const(None)

    return run


def _typed(typ: str, reason: str) -> Callee:
    return lambda m, args, kwargs: Unk(reason, typ)


_MATH = tuple("ceil floor sqrt log log2 log10 exp gcd lcm isnan isinf isqrt pow fabs prod trunc isclose comb".split())
FUNCTIONS: dict[str, Callee] = {
    **{f"math.{name}": _pure(getattr(math, name)) for name in _MATH},
    "random.randint": _typed("int", "a random number"),
    "random.random": _typed("float", "a random number"),
    "random.uniform": _typed("float", "a random number"),
    "random.choice": lambda m, a, k: one_of(iterate(m, a[0])[0] or [Unk("a random choice")]),
    "random.seed": lambda m, a, k: Const(None),
    "secrets.token_hex": _typed("str", "a random token"),
    "uuid.uuid4": _typed("object", "a random identifier"),
    "time.time": _typed("float", "the time"),
    "time.perf_counter": _typed("float", "the time"),
    "time.monotonic": _typed("float", "the time"),
    "time.strftime": _typed("str", "the time"),
    "tempfile.mkdtemp": _typed("str", "a temporary directory"),
    "tempfile.gettempdir": _typed("str", "the temporary directory"),
}
CONSTANTS: dict[str, Attribute] = {
    "math.inf": lambda m: Const(math.inf),
    "math.pi": lambda m: Const(math.pi),
    "math.e": lambda m: Const(math.e),
    "math.nan": lambda m: Const(math.nan),
}
METHODS: dict[str, dict[str, Callee]] = {}

"""Does speculation pay? The accept length at which it would be as fast as no speculation at all."""

from __future__ import annotations

from dataclasses import dataclass

from agent.domain.serialize import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Payoff(Plain):
    """``baseline`` and ``throughput`` in tokens per second at one batch size, ``break_even`` in tokens per verification step.

    ``break_even`` is also how many plain decode steps one speculative step costs. ``pays``: throughput above the baseline.
    """

    accept_length: float
    throughput: float
    baseline: float
    break_even: float
    pays: bool
    words: str


def payoff(accept_length: float, throughput: float, baseline: float) -> Payoff:
    """A speculative step takes ``accept_length / throughput`` seconds per request, a plain one ``1 / baseline``.

    Their ratio is the number of tokens a step must yield to break even. It holds for this draft length and batch size, since the cost
    of a step does not depend on how much of it is accepted. All three are positive, else ValueError.
    """
    if min(accept_length, throughput, baseline) <= 0:
        raise ValueError("accept length, throughput and baseline are positive")
    break_even = accept_length * baseline / throughput
    pays = throughput > baseline
    relation = "faster than" if pays else "as fast as" if throughput == baseline else "slower than"
    words = (
        f"{throughput:.1f} tok/s is {relation} {baseline:.1f} tok/s without speculation: one speculative step costs {break_even:.2f} plain "
        f"steps and yields {accept_length:.2f} tokens; it breaks even at an accept length of {break_even:.2f}"
    )
    return Payoff(
        accept_length=accept_length,
        throughput=throughput,
        baseline=baseline,
        break_even=break_even,
        pays=pays,
        words=words,
    )

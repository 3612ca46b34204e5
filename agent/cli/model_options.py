"""Options about the language model: which one, how much it may spend, and when it is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar

import click

from agent.config import Budget, Settings
from agent.domain.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """What the command line says; empty and 0 leave it to the settings."""

    model: str = ""
    base_url: str = ""
    no_llm: bool = False
    ask_always: bool = False
    budget_steps: int = 0
    budget_tokens: int = 0
    budget_seconds: float = 0.0
    parallel: int = 0

    def over(self, settings: Settings) -> Settings:
        """The settings with these options laid over them."""
        if self.no_llm and self.model:
            raise UsageError("--no-llm and --model contradict each other")
        return replace(
            settings,
            model="" if self.no_llm else self.model or settings.model,
            base_url=self.base_url or settings.base_url,
            ask_always=self.ask_always or settings.ask_always,
            budget=self._budget(settings.budget),
        )

    def _budget(self, given: Budget) -> Budget:
        """Tokens and seconds are those of the whole run; one investigator has a share of them, or all where there is one."""
        tokens, seconds = self.budget_tokens or given.total_tokens, self.budget_seconds or given.seconds
        return replace(
            given,
            steps=self.budget_steps or given.steps,
            total_tokens=tokens,
            tokens=min(given.tokens, tokens),
            seconds=seconds,
            seconds_each=min(given.seconds_each, seconds),
            parallel=self.parallel or given.parallel,
        )


_OPTIONS = [
    click.option("--model", metavar="M", default="", help="Language model to ask where nothing else explains the symptom [RCA_MODEL]."),
    click.option("--base-url", metavar="U", default="", help="Its OpenAI-compatible endpoint [OPENAI_BASE_URL]."),
    click.option("--no-llm", is_flag=True, help="Ask no model, whatever the environment says."),
    click.option("--ask-always", is_flag=True, help="Ask the model even where the cause is known."),
    click.option("--budget-steps", type=click.IntRange(1), default=None, metavar="N", help="Answers of one investigator at most."),
    click.option("--budget-tokens", type=click.IntRange(1), default=None, metavar="N", help="Tokens of the model in all at most."),
    click.option("--budget-seconds", type=click.FloatRange(1.0), default=None, metavar="S", help="Seconds of the model in all at most."),
    click.option("--parallel", type=click.IntRange(1, 32), default=None, metavar="N", help="Investigators of the model side by side."),
]


def model_options(command: F) -> F:
    """Adds ``ask: ModelChoice``."""

    @wraps(command)
    def wrapped(*args: Any, **values: Any) -> Any:
        taken = {name: values.pop(name) for name in ModelChoice.__dataclass_fields__}
        given: dict[str, Any] = {name: value for name, value in taken.items() if value is not None}
        return command(*args, ask=ModelChoice(**given), **values)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[return-value]

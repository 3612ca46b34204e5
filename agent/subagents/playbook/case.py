"""What a playbook is judged on: the playbook, an engine for the launch, the facts; expensive answers are asked for once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from agent.domain.errors import TargetNotFound
from agent.domain.facts import NESTED_CONFIGS, Facts, parse_flags
from agent.domain.playbook import Playbook
from agent.domain.source import Absent, Unreadable
from agent.domain.values import Known, OneOf, Unknown, Value
from agent.domain.verdict import AuditAnswer, Effective, Setting, Target, WhyAnswer
from agent.evaluation.interface import Engine
from agent.library.templates import TemplateProblem, render


class Case:
    """One playbook before one engine. ``facts`` are those given, with the engine's effective values added."""

    def __init__(self, playbook: Playbook, engine: Engine, facts: Facts) -> None:
        self.playbook = playbook
        self.engine = engine
        self.facts = replace(facts, launch=facts.launch or engine.launch, settings=facts.settings or self.effective)
        self._answers: dict[tuple[str, int], WhyAnswer] = {}

    def effective(self, name: str) -> Value:
        """The effective value of a setting or of ``env:NAME``; one that the tree does not have is unknown, with that reason."""
        if name.startswith("env:"):
            return self._in_environment(name)
        try:
            return self.engine.setting(name)
        except TargetNotFound as problem:
            return Unknown(reason=problem.what)

    def _in_environment(self, name: str) -> Value:
        """What the program itself makes of a variable: only the audit follows its writes to the environment."""
        setting = self.setting(name)
        if setting is None:
            return Unknown(reason=f"nothing in this release reads the environment variable {name.removeprefix('env:')}")
        return value_of(setting.effective)

    def places(self, query: str) -> tuple[Target, ...]:
        """The places a query means; none where the tree has no such thing."""
        try:
            return self.engine.targets(query)
        except TargetNotFound:
            return ()

    def why(self, place: Target) -> WhyAnswer:
        """The engine's answer for one place, without counterfactuals: most places need none, and they cost the most."""
        key = (place.path, place.line)
        if key not in self._answers:
            self._answers[key] = self.engine.why(f"{place.path}:{place.line}", counterfactuals=False)
        return self._answers[key]

    @cached_property
    def audit(self) -> AuditAnswer:
        return self.engine.audit()

    def setting(self, name: str) -> Setting | None:
        """Asked and effective; None where the tree has no such setting."""
        return next((setting for setting in self.audit.settings if name in (setting.name, setting.flag)), None)

    def text(self, template: str) -> str:
        """The rendered template; one that asks for what was not collected says so instead of leaving a hole."""
        try:
            return render(template, self.names)
        except TemplateProblem as problem:
            return f"{self.playbook.summary} (text not complete: {problem})"

    def line(self, path: str, line: int) -> str:
        """The stripped text of one source line; empty where it cannot be read."""
        return self.indented_line(path, line).strip()

    def indented_line(self, path: str, line: int) -> str:
        """The same with the white space around it."""
        content = self.engine.tree.read(path)
        if isinstance(content, (Absent, Unreadable)):
            return ""
        lines = content.decode("utf-8", "replace").splitlines()
        return lines[line - 1] if 0 < line <= len(lines) else ""

    @cached_property
    def names(self) -> Mapping[str, Any]:
        """What templates may use: launch.flags, launch.env, config.target, config.draft, subject, symptom, setting."""
        launch = self.facts.launch
        return {
            "subject": {"package": self.facts.package, "version": self.facts.version},
            "symptom": {"text": self.facts.symptom.text, "numbers": self.facts.symptom.numbers} if self.facts.symptom else {},
            "launch": {"flags": parse_flags(launch.argv), "env": dict(launch.env)} if launch else {},
            "config": {role: _merged(config) for role, config in self.facts.configs.items() if isinstance(config, Mapping)},
            "setting": _Settings(self),
        }


class _Settings(Mapping[str, Any]):
    """``{{ setting.NAME }}``: the effective value, or the words that say why it is not known."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def __getitem__(self, name: str) -> Any:
        value = self._case.facts.get(f"setting.{name}")
        return value.value if hasattr(value, "value") else f"not known ({getattr(value, 'reason', 'absent')})"

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def value_of(effective: Effective) -> Value:
    """The audit's effective value as the engine would tell it."""
    if effective.status == "known":
        return Known(value=effective.value)
    if effective.status == "candidates":
        return OneOf(values=effective.values)
    return Unknown(reason=effective.why or "the effective value is not known")


def _merged(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config with the nested language model's keys where the top level has none."""
    merged: dict[str, Any] = {}
    for key in reversed(NESTED_CONFIGS):
        if isinstance(config.get(key), Mapping):
            merged |= config[key]
    return merged | dict(config)

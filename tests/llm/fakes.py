"""A small server's source in memory and an engine that knows its answers: for the loop around a model, not for the engine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.domain.errors import TargetNotFound
from agent.domain.launch import Launch
from agent.domain.source import Absent, SourceTree, Unreadable
from agent.domain.values import Known, OneOf, Unknown, Value
from agent.domain.verdict import (
    Asked,
    AuditAnswer,
    Change,
    ChangedBy,
    Counterfactual,
    Effective,
    Guard,
    Operand,
    PathCondition,
    Place,
    ReachAnswer,
    Setting,
    Target,
    WhyAnswer,
)  # fmt: skip
from agent.probes.log import LogLine


@dataclass(frozen=True, kw_only=True)
class MemoryTree:
    """Files by path."""

    contents: Mapping[str, str]
    broken: tuple[str, ...] = ()
    root: str = "/srv/site-packages"

    def files(self) -> Iterable[str]:
        return sorted({*self.contents, *self.broken})

    def read(self, path: str) -> bytes | Absent | Unreadable:
        if path in self.broken:
            return Unreadable(path=path, reason="permission denied")
        return self.contents[path].encode() if path in self.contents else Absent(path=path)

    def containing(self, words: Iterable[bytes]) -> Iterator[str]:
        wanted = [word.decode() for word in words]
        return (p for p in sorted(self.contents) if p.endswith(".py") and any(w in self.contents[p] for w in wanted))


@dataclass(frozen=True, kw_only=True)
class MemoryFiles:
    contents: Mapping[str, str] = field(default_factory=dict)

    def read(self, path: str) -> bytes | Absent | Unreadable:
        return self.contents[path].encode() if path in self.contents else Absent(path=path)

    def is_dir(self, path: str) -> bool | None:
        return None


def audited(name: str, value: Value) -> Setting:
    """A setting that is what was asked, as the audit tells it."""
    told = {
        Known: lambda v: Effective(status="known", value=v.value),
        OneOf: lambda v: Effective(status="candidates", values=v.values),
        Unknown: lambda v: Effective(status="unknown", why=v.reason),
    }
    return Setting(name=name, flag="", asked=Asked(value=None, source="default"), effective=told[type(value)](value), verdict="as_asked")


@dataclass(kw_only=True)
class FakeEngine:
    """Answers ``why`` and ``setting`` from tables; ``define:`` by reading the tree. ``asked`` keeps every question."""

    tree: SourceTree
    launch: Launch
    answers: Mapping[str, WhyAnswer] = field(default_factory=dict)
    settings: Mapping[str, Value] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def targets(self, query: str) -> tuple[Target, ...]:
        name = query.removeprefix("define:")
        found = [
            Target(path=path, line=number, text=line, function="")
            for path in self.tree.files()
            for number, line in enumerate(str(self.tree.read(path), "utf-8").split("\n"), 1)  # type: ignore[arg-type]
            if re.match(rf"\s*(def|class) {re.escape(name)}\b", line)
        ]
        if not found:
            raise TargetNotFound(f"there is no definition of {name}", suggestions=("meta_information",))
        return tuple(found)

    def why(self, query: str, *, counterfactuals: bool = True) -> WhyAnswer:
        self.asked.append(query)
        if query not in self.answers:
            raise TargetNotFound(f"there is no {query}")
        return self.answers[query]

    def reach(self, path: str) -> ReachAnswer:
        raise TargetNotFound(path)

    def audit(self) -> AuditAnswer:
        return AuditAnswer(settings=tuple(audited(name, value) for name, value in self.settings.items()))

    def setting(self, name: str) -> Value:
        return self.settings.get(name, Unknown(reason=f"{name} is no setting of this release"))

    def attribute(self, name: str) -> Setting | None:
        return None

    def under(self, changes: Sequence[Change]) -> FakeEngine:
        return self

    @property
    def assumed(self) -> Mapping[str, Any]:
        return {}


# --- a server that forgets to report acceptance for one of its algorithms -------------------------------------------------------------

MANAGER = "pkg/manager.py"
SOURCE = '''\
"""Requests and their answers."""


class Manager:
    def meta_information(self, state):
        meta_info = {"id": state.id, "spec_accept_rate": 0.0}
        if self.server_args.num_steps is not None and state.finished:
            rate = state.accepted / state.drafted
            meta_info["spec_accept_rate"] = rate
        return meta_info

    def graphs(self):
        if not self.server_args.disable_graphs:
            self.capture_graphs()
'''
FILES = {
    MANAGER: SOURCE,
    "pkg/server_args.py": "class ServerArgs:\n    num_steps = None\n    disable_graphs = False\n",
    "pkg/other.py": "def nothing():\n    return 1\n",
    **{f"pkg/models/m{n}.py": f"class M{n}:\n    pass\n" for n in range(60)},
}
SYMPTOM = "spec_accept_rate in meta_info is 0.0 with the NGRAM algorithm"
ARGV = ("python3", "-m", "pkg.launch", "--algorithm", "NGRAM", "--disable-graphs", "--api-key", "<redacted:api-key>")


def guard(line: int, condition: str, truth: str, *, polarity: bool = True, path: str = MANAGER, function: str = "Manager") -> Guard:
    operand = Operand(text="self.server_args.num_steps", value="None", from_=(Place(path="pkg/server_args.py", line=2),))
    return Guard(path=path, line=line, condition=condition, truth=truth, polarity=polarity, operands=(operand,), function=function)


def answer(line: int, text: str, verdict: str, guards: Sequence[Guard], **more: Any) -> WhyAnswer:
    target = Target(path=MANAGER, line=line, text=text, function=more.pop("function", "Manager.meta_information"))
    closed = verdict == "never"
    path = PathCondition(calls=(), guards=tuple(guards), open=False if closed else True if verdict == "always" else None)
    return WhyAnswer(target=target, verdict=verdict, decisive=guards[0] if closed else None, assumptions=(), paths=(path,), **more)


NOT_NONE = guard(7, "self.server_args.num_steps is not None and state.finished", "false", function="Manager.meta_information")
GRAPHS = guard(13, "not self.server_args.disable_graphs", "false", function="Manager.graphs")
OPENED = Counterfactual(change=(Change(name="--num-steps", from_=None, to=3),), opens=(Place(path=MANAGER, line=9),))
ANSWERS = {
    f"{MANAGER}:8": answer(8, "rate = state.accepted / state.drafted", "never", [NOT_NONE], counterfactuals=(OPENED,)),
    f"{MANAGER}:9": answer(9, 'meta_info["spec_accept_rate"] = rate', "never", [NOT_NONE], counterfactuals=(OPENED,)),
    f"{MANAGER}:14": answer(14, "self.capture_graphs()", "never", [GRAPHS], function="Manager.graphs"),
    f"{MANAGER}:10": answer(10, "return meta_info", "always", []),
}
AUDIT = AuditAnswer(
    settings=(
        Setting(
            name="chunk", flag="--chunk", asked=Asked(value=32, source="flag"), effective=Effective(status="known", value=4),
            changed_by=(ChangedBy(path="pkg/server_args.py", line=3, text="self.chunk = 4", guards=(GRAPHS,)),), verdict="overridden",
        ),
        audited("num_steps", Known(value=None)),
        audited("disable_graphs", Known(value=True)),
    )
)  # fmt: skip


def log(*texts: str) -> tuple[LogLine, ...]:
    return tuple(LogLine(number=number, text=text) for number, text in enumerate(texts, 1))


def engine(files: Mapping[str, str] = FILES) -> FakeEngine:
    """The engine of this server."""
    launch = Launch(argv=ARGV, env={"PKG_MODE": "fast"}, env_complete=False)
    settings: dict[str, Value] = {
        "width": Known(value=7168),
        "DraftConfig.width": Known(value=7168),
        "num_steps": Known(value=None),
        "disable_graphs": Known(value=True),
        "chunk": Known(value=4),
    }
    return FakeEngine(tree=MemoryTree(contents=files), launch=launch, answers=ANSWERS, settings=settings)

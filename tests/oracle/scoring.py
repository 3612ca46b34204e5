"""Scores the engine's answers for one launch against what the real program did: lines, values, exceptions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.analysis import ir
from agent.analysis.index import Index
from agent.analysis.syntax import statement_lines
from agent.domain.launch import Launch
from agent.domain.source import SourceTree
from agent.domain.verdict import AuditAnswer, ReachAnswer
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_files import LocalFiles

RECORDED = Path(__file__).parents[1] / "data" / "oracle"
RELEASE = "0.5.9"
FILE = "sglang/srt/server_args.py"
RANDOM = frozenset({"random_seed"})
NOT_RECORDED = frozenset({"add_cli_args"})
"""Functions that the recording leaves out."""

Row = Mapping[str, Any]


def rows() -> list[Row]:
    """The recorded launches."""
    text = (RECORDED / "sglang-0.5.9-server-args.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def host_facts() -> dict[str, Any]:
    """Facts of the host on which the launches were recorded."""
    facts: dict[str, Any] = json.loads((RECORDED / "host-facts.json").read_text(encoding="utf-8"))
    return facts


def engine_for(tree: SourceTree, row: Row, facts: Mapping[str, Any]) -> LaunchEngine:
    """The engine under one recorded launch."""
    launch = Launch(argv=("python3", "-m", "sglang.launch_server", *row["argv"]), env=row["env"], cwd=str(RECORDED))
    return open_engine(tree, launch, files=LocalFiles(RECORDED), facts=facts)


@dataclass(slots=True)
class Score:
    """``counts``: lines, decided, fields, exact, candidates, raised, predicted; ``wrong``: claims in words; ``open``: undecided."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    open: Counter[str] = field(default_factory=Counter)

    def add(self, other: Score) -> None:
        self.counts += other.counts
        self.wrong += other.wrong
        self.open += other.open

    def share(self, part: str, whole: str) -> float:
        return self.counts[part] / max(self.counts[whole], 1)


def function_statements(index: Index) -> list[tuple[int, int]]:
    """First and last header line of each recorded statement inside a function; a statement of several lines is one."""
    module = index.module(FILE)
    inside = set(_inside_functions(module.body, False))
    return [(first, last) for statement, first, last in statement_lines(module) if statement in inside]


def _inside_functions(body: list[ir.Stmt], inside: bool) -> Iterator[ir.Stmt]:
    for statement in body:
        if isinstance(statement, ir.FunctionDef):
            if statement.name not in NOT_RECORDED:
                yield from _inside_functions(statement.body, True)
            continue
        docstring = isinstance(statement, ir.ExprStmt) and isinstance(statement.value, ir.Constant)
        if inside and not isinstance(statement, ir.ClassDef) and not docstring:
            yield statement
        for suite in _suites(statement):
            yield from _inside_functions(suite, inside)


def _suites(statement: ir.Stmt) -> Iterator[list[ir.Stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, None) or []
    for name in ("handlers", "cases"):
        for clause in getattr(statement, name, None) or []:
            yield clause.body


def score_lines(index: Index, answer: ReachAnswer, row: Row) -> Score:
    """A statement judged "always" that was not recorded is wrong only where nothing was raised."""
    ran = {line for first, last in row["lines"] for line in range(first, last + 1)}
    verdict: dict[int, str] = {}
    for word in ("always", "never"):
        for first, last in getattr(answer, word):
            verdict.update(dict.fromkeys(range(first, last + 1), word))
    score = Score()
    for first, last in function_statements(index):
        word = verdict.get(first, "")
        did = any(line in ran for line in range(first, last + 1))
        score.counts["lines"] += 1
        score.counts["decided"] += bool(word)
        if (word == "never" and did) or (word == "always" and not did and not row["raised"]):
            score.wrong.append(f"line {first} {word}, recorded: {'ran' if did else 'did not run'}")
        if not word:
            score.open[f"line {first}"] += 1
    return score


def score_settings(audit: AuditAnswer, row: Row) -> Score:
    """Fields that the program changed, by the effective value of the audit."""
    settings = {setting.name: setting.effective for setting in audit.settings}
    score = Score()
    for name, value in row["changed"].items():
        if name in RANDOM:
            continue
        score.counts["fields"] += 1
        found = settings.get(name)
        if found is None or found.status == "unknown":
            score.open[name] += 1
        elif found.status == "candidates":
            score.counts["candidates"] += 1
            score.open[name] += 1
            if not any(_same(each, value) for each in found.values):
                score.wrong.append(f"{name} is one of {found.values!r}, recorded: {value!r}")
        else:
            score.counts["exact"] += _same(found.value, value)
            if not _same(found.value, value):
                score.wrong.append(f"{name} is {found.value!r}, recorded: {value!r}")
    return score


def _same(ours: Any, recorded: Any) -> bool:
    """Equal as JSON: a tuple was recorded as a list."""
    return bool(json.loads(json.dumps(ours, default=repr)) == recorded)


def score_raises(index: Index, audit: AuditAnswer, row: Row) -> Score:
    """Certain raises. The record names the line at which an exception surfaced in the file; one raised deeper is known by its message."""
    score = Score()
    certain = [each for each in audit.raises if each.certainty == "always"]
    recorded = row["raised"]
    if recorded is None:
        score.wrong += [f"{each.type} at line {each.line} is certain, nothing was raised" for each in certain if each.path == FILE]
        return score
    score.counts["raised"] += 1
    around = next(((a, b) for a, b in function_statements(index) if a <= recorded["line"] <= b), (recorded["line"], recorded["line"]))
    for each in certain:
        here = each.path == FILE and around[0] <= each.line <= around[1]
        deeper = each.path != FILE and bool(each.message) and recorded["message"].startswith(each.message[:40])
        if each.type == recorded["type"] and (here or deeper):
            score.counts["predicted"] += 1
            return score
    score.wrong += [f"{each.type} at line {each.line} is certain, recorded: {recorded}" for each in certain if each.path == FILE]
    score.open[f"{recorded['type']} at line {recorded['line']}"] += 1
    return score


def score_launch(tree: SourceTree, row: Row, facts: Mapping[str, Any]) -> Score:
    """All three."""
    engine = engine_for(tree, row, facts)
    score = Score()
    audit = engine.audit()
    score.add(score_lines(engine.index, engine.reach(FILE), row))
    score.add(score_settings(audit, row))
    score.add(score_raises(engine.index, audit, row))
    return score

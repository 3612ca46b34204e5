"""A report per shipped playbook, from the playbook's own first test: ``python -m tests.reports.playbook_reports`` plays and writes them.

What is played is the real engine on the real release; host, process and times are those of the sample. The investigation is kept
as JSON beside its Markdown, so that the ordinary tests render without playing anything.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from agent.config import shipped_directory
from agent.domain.investigation import ChainStep, Cost, Finding, Investigation, LaunchInfo, Subject, Symptom
from agent.domain.playbook import Playbook, PlaybookTest
from agent.domain.source import SourceTree
from agent.hosts.local_tree import DirectoryTree, MemoryTree
from agent.library import Library
from agent.library.samples import resolve
from agent.orchestrator.concluding import reproduce
from agent.orchestrator.quoting import Quoter
from agent.probes.log import LogLine
from agent.reports.json import JsonReport
from agent.reports.markdown import MarkdownReport
from agent.subagents.playbook.conclusion import PlaybookAnswer
from agent.subagents.playbook.rehearsal import facts_of, rehearse
from agent.subagents.server_log import LogFound
from agent.tools.ledger import Ledger
from agent.wiring import open_engine
from tests.reports import samples
from tests.wheels import fetch_tree

DIRECTORY = Path(__file__).parent.parent / "golden" / "reports" / "playbooks"
LIBRARY = Library(shipped_directory("playbooks"))
ROOT = "/srv/venv/lib/python3.11/site-packages"


def shown_test(playbook: Playbook) -> PlaybookTest | None:
    """The test whose report is kept: the first on a release that the playbook must recognise."""
    wanted = [test for test in playbook.tests if test.expect == "confirmed"]
    return next((test for test in wanted if not test.tree), wanted[0] if wanted else None)


def played(playbook: Playbook, test: PlaybookTest) -> Investigation:
    """The investigation that the test amounts to; raises AssertionError where the playbook does not find what it should."""
    tree: SourceTree = MemoryTree(test.tree) if test.tree else DirectoryTree(fetch_tree(test.package, test.version), (test.package,))
    whole = resolve(playbook, test)
    found = rehearse(playbook, whole, tree, open_engine)
    assert not found.problems, f"{playbook.id}: {'; '.join(found.problems)}"
    assert found.answer is not None
    return investigation(playbook, whole, found.answer, tree)


def investigation(playbook: Playbook, test: PlaybookTest, answer: PlaybookAnswer, tree: SourceTree) -> Investigation:
    """What is reported of an answer; ``test`` with its model configs read."""
    facts = facts_of(playbook, test)
    ledger = Ledger(prefix="E", host=samples.HOST)
    log = LogFound(path="/var/log/server.log", lines=tuple(LogLine(number=0, text=line) for line in facts.log or ()))
    quoter = Quoter(ledger, Installed(tree), {}, log)
    finding = replace(answer.finding, chain=tuple(_quoted(answer.finding, quoter))) if answer.finding else None
    hypotheses = tuple(replace(one, evidence=quoter.reasons(one.why)) for one in answer.hypotheses)
    evidence = tuple(replace(one, observed_at=samples.OBSERVED) for one in ledger.everything())
    return Investigation(
        run=samples.run(id=playbook.id),
        symptom=Symptom.parse(test.symptom),
        outcome="cause_confirmed",
        subject=Subject(package=facts.package, version=test.version, root=ROOT),
        launch=LaunchInfo(argv=test.argv, env=dict(test.env), cwd="/srv", pid=4242, source="process"),
        findings=(finding,) if finding else (),
        hypotheses=hypotheses,
        numbers=answer.numbers,
        evidence=evidence,
        reproduce=reproduce((finding,) if finding else (), evidence),
        playbook=playbook.id,
        cost=Cost(),
    )


def _quoted(finding: Finding, quoter: Quoter) -> Iterator[ChainStep]:
    """The chain with each line read again from the tree."""
    for step in finding.chain:
        yield replace(step, evidence=quoter.line(step.path, step.line))


class Installed:
    """The tree as it lies on the sample's host."""

    root = ROOT

    def __init__(self, tree: SourceTree) -> None:
        self.read, self.files, self.containing = tree.read, tree.files, tree.containing


def write(playbook: Playbook) -> None:
    test = shown_test(playbook)
    if test is None:
        return
    found = played(playbook, test)
    for report in (JsonReport(), MarkdownReport()):
        (DIRECTORY / f"{playbook.id}{report.suffix}").write_text(report.render(found), encoding="utf-8")


if __name__ == "__main__":
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    for one in LIBRARY.all():
        if not sys.argv[1:] or one.id in sys.argv[1:]:
            try:
                write(one)
                print("written", one.id, flush=True)
            except Exception as problem:  # the others are still worth having
                print("NOT WRITTEN", one.id, repr(problem)[:300], flush=True)
    for stale in {path.stem for path in DIRECTORY.iterdir()} - {one.id for one in LIBRARY.all()}:
        print("no such playbook any more:", stale)

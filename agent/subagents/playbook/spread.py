"""Over which releases does a playbook hold? Its own launch, judged on every release whose tree is at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.domain.playbook import Playbook, PlaybookTest
from agent.domain.source import SourceTree
from agent.subagents.playbook.rehearsal import OpenEngine, Rehearsal, rehearse

TreeOf = Callable[[str], SourceTree | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """``held``: releases in which the failure was confirmed, oldest first; ``failed``: those in which it was not, with what was said."""

    held: tuple[str, ...]
    failed: Mapping[str, str]

    @property
    def specifier(self) -> str:
        """From the oldest to the newest release in an unbroken row around the run's own."""
        return f"=={self.held[0]}" if len(self.held) == 1 else f">={self.held[0]},<={self.held[-1]}"


def spread(playbook: Playbook, test: PlaybookTest, versions: Sequence[str], tree_of: TreeOf, open_engine: OpenEngine) -> Spread:
    """Walks from the test's own version to both sides and stops on each at the first release in which the playbook does not confirm.

    ``versions``: oldest first, the own one among them. A release without a tree is passed over.
    """
    own = versions.index(test.version)
    anywhere = replace(playbook, applies_to=tuple(replace(applies, versions="") for applies in playbook.applies_to))
    held, failed = [test.version], dict[str, str]()
    for side in (list(reversed(versions[:own])), list(versions[own + 1 :])):
        for found in _along(anywhere, test, side, tree_of, open_engine):
            if found.problems:
                failed[found.test.version] = found.problems[0]
                break
            held.append(found.test.version)
    return Spread(held=tuple(sorted(held, key=versions.index)), failed=failed)


def _along(
    playbook: Playbook, test: PlaybookTest, versions: Sequence[str], tree_of: TreeOf, open_engine: OpenEngine
) -> Iterator[Rehearsal]:
    for version in versions:
        tree = tree_of(version)
        if tree is not None:
            yield rehearse(playbook, replace(test, version=version, guard=None, values={}), tree, open_engine)

"""The 260 recorded launches of a real server: what the engine says of each against what ran.

    python benchmarks/oracle.py                 all launches, with and without facts of the host
    python benchmarks/oracle.py --every 20      each twentieth
    python benchmarks/oracle.py --verbose       what stayed open, most frequent first

Exit code 1 if one claim is wrong.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agent.domain.source import SourceTree
from agent.hosts.local_tree import DirectoryTree
from tests.oracle.scoring import RELEASE, Score, host_facts, rows, score_launch
from tests.wheels import fetch_tree

Result = tuple[int, Score, float]


@functools.cache
def tree() -> SourceTree:
    """One tree, and so one index, a process."""
    return DirectoryTree(fetch_tree("sglang", RELEASE), ["sglang"])


def judge(number: int, facts: Mapping[str, Any]) -> Result:
    """One launch: its score and CPU seconds."""
    start = time.process_time()
    return number, score_launch(tree(), rows()[number], facts), time.process_time() - start


def table(title: str, total: Score, launches: int, seconds: float) -> str:
    """The whole run as text."""
    c = total.counts
    return "\n".join(
        [
            f"{title}: {launches} launches, {seconds / max(launches, 1):.2f} s of CPU each",
            f"  lines    {c['lines']:7} judged  {c['decided']:7} decided ({total.share('decided', 'lines'):.1%})",
            f"  fields   {c['fields']:7} judged  {c['exact']:7} exact ({total.share('exact', 'fields'):.1%}), {c['candidates']} as candidates",  # noqa: E501
            f"  raises   {c['raised']:7} judged  {c['predicted']:7} predicted ({total.share('predicted', 'raised'):.1%})",
            f"  wrong    {len(total.wrong):7}",
        ]
    )


def run(title: str, numbers: list[int], facts: Mapping[str, Any], processes: int, verbose: bool) -> int:
    """Judges the launches and prints the table; the number of wrong claims."""
    total, seconds = Score(), 0.0
    with ProcessPoolExecutor(processes) as pool:
        for number, score, spent in pool.map(functools.partial(judge, facts=facts), numbers):
            total.add(score)
            seconds += spent
            for text in score.wrong:
                print(f"  launch {number} WRONG: {text}", flush=True)
    print(table(title, total, len(numbers), seconds), flush=True)
    if verbose:
        print("  open:", *(f"{name} x{count}" for name, count in total.open.most_common(30)))
    return len(total.wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    numbers = list(range(0, len(rows()), options.every))
    wrong = run("with facts of the host", numbers, host_facts(), options.processes, options.verbose)
    wrong += run("without facts", numbers, {}, options.processes, options.verbose)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Small whole programs, run for real: neither reach nor why contradicts what ran, whether the program runs itself or is run from outside.

Each file of ``tests/golden/programs`` ends with ``run``. Where code outside the tree calls it, everything is worked out on demand.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from agent.domain.launch import Launch
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles
from tests.evaluation.tracing import Trace, judged, run_source
from tests.evaluation.worlds import environment

PROGRAMS = Path(__file__).parents[1] / "golden" / "programs"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py"))
ITSELF = '\n\nif __name__ == "__main__":\n    run()\n'
FROM_OUTSIDE = "\n\nimport outside\n\n\nclass Server(outside.Base):\n    def handle(self):\n        run()\n\n\nServer().serve()\n"


class Base:
    """What a library would call."""

    def serve(self) -> None:
        self.handle()  # type: ignore[attr-defined]


def traced(source: str, monkeypatch: pytest.MonkeyPatch) -> Trace:
    outside: Any = types.ModuleType("outside")
    outside.Base = Base
    monkeypatch.setitem(sys.modules, "outside", outside)
    with environment({}):
        trace = run_source(source, "sample.py", (), budget=20_000)
    assert trace.ended is None, f"the sample itself: {trace.ended!r}"
    return trace


@pytest.mark.parametrize("ending", [ITSELF, FROM_OUTSIDE], ids=["itself", "from-outside"])
@pytest.mark.parametrize("name", NAMES)
def test_no_answer_contradicts_the_run(name: str, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (PROGRAMS / f"{name}.py").read_text(encoding="utf-8") + ending
    ran = traced(source, monkeypatch).lines["sample.py"]
    engine = open_engine(MemoryTree({"sample.py": source}), Launch(argv=("python3", "sample.py")), files=NoFiles())
    wrong = []
    lines = source.splitlines()
    for each in judged(engine.index, engine.reach("sample.py")):
        said = {"reach": each.verdict, "why": engine.why(f"sample.py:{each.first}", counterfactuals=False).verdict}
        impossible = "never" if each.ran(ran) else "always"
        wrong += [f"{asked} {each.first}: {said[asked]}: {lines[each.first - 1]}" for asked in said if said[asked] == impossible]
    assert not wrong, "\n" + "\n".join(wrong)

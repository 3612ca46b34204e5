"""What a question costs: cold, with parsed modules kept, on a large release, in a tree doubled by unrelated files; and what peers cost.

    python benchmarks/engine.py

Each measurement is a process of its own; times are CPU seconds from the first import on, memory is the peak resident size. Peers (on the
nearest job they can do) are measured when they are installed: pip install jedi ast-grep-cli basedpyright.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.wheels import fetch_tree  # noqa: E402

ARGV = (
    "python3 -m sglang.launch_server --model-path m --tp-size 8 --speculative-algorithm EAGLE --speculative-draft-model-path d "
    "--speculative-num-steps 3 --speculative-eagle-topk 4 --speculative-num-draft-tokens 16 --disable-cuda-graph"
)
QUERY_059 = "sglang/srt/model_executor/model_runner.py:622"
QUERY_0523 = "sglang/srt/model_executor/model_runner_components/spec_aux_hidden_state.py:186"

WHY = """
import sys
from pathlib import Path
from agent.domain.launch import Launch
from agent.evaluation.engine import open_engine
from agent.hosts.ir_cache import IrCache
from agent.hosts.local_files import LocalFiles
from agent.hosts.local_tree import DirectoryTree
tree, query, cache, *argv = sys.argv[1:]
kept = IrCache(Path(cache)) if cache else None
engine = open_engine(DirectoryTree(tree), Launch(argv=tuple(argv)), files=LocalFiles("/nonexistent"), cache=kept)
print(engine.why(query, counterfactuals=False).verdict)
"""
PARSE = """
import ast, pathlib, sys, warnings
warnings.simplefilter("ignore")
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.py")):
    try:
        ast.parse(path.read_bytes())
    except SyntaxError:
        pass
"""
JEDI = """
import sys, jedi
path = sys.argv[1] + "/sglang/srt/model_executor/model_runner.py"
line, text = next((n, t) for n, t in enumerate(open(path), 1) if "self.eagle_use_aux_hidden_state = False" in t)
script = jedi.Script(path=path, project=jedi.Project(sys.argv[1]))
print(len(script.get_references(line, text.index("eagle_use"))), "references")
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds and peak bytes of one process; ``said``: its last line of output, or why there is none."""

    seconds: float
    peak: int
    said: str


def measure(command: Sequence[str]) -> Cost:
    """Runs a command to its end. Children are waited for by ``os.wait4``, so that each has its own account."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        lines = out.read().decode(errors="replace").strip().splitlines()
    said = lines[-1] if lines else ""
    return Cost(
        usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, said[:60] if process.returncode in (0, 1) else f"failed: {said[:50]}"
    )


def why(tree: Path, query: str, cache: str = "") -> Cost:
    return measure([sys.executable, "-c", WHY, str(tree), query, cache, *ARGV.split()])


def doubled(tree: Path, into: Path) -> Path:
    """The tree and as many unrelated files: the same code under package names that nothing imports."""
    shutil.copytree(tree, into / "tree")
    for package in [each for each in sorted(tree.iterdir()) if each.is_dir() and not each.name.endswith(".dist-info")]:
        shutil.copytree(package, into / "tree" / f"unrelated_{package.name}")
    for path in sorted((into / "tree").glob("unrelated_*/**/*.py")):
        path.write_bytes(path.read_bytes().replace(b"eagle_use_aux_hidden_state", b"another_name").replace(b"sglang", b"other"))
    return into / "tree"


def peers(tree: Path) -> list[tuple[str, Cost]]:
    """What is installed of them."""
    found = [("ast.parse of the tree", measure([sys.executable, "-c", PARSE, str(tree)]))]
    if _version("jedi"):
        found.append((f"jedi {_version('jedi')}: references of one attribute", measure([sys.executable, "-c", JEDI, str(tree)])))
    if shutil.which("ast-grep"):
        pattern = ["ast-grep", "run", "--lang", "python", "--pattern", "$X.eagle_use_aux_hidden_state", str(tree)]
        found.append((f"ast-grep {_version('ast-grep-cli')}: one pattern over the tree", measure(pattern)))
    if shutil.which("basedpyright"):
        file = str(tree / "sglang/srt/model_executor/model_runner.py")
        found.append((f"basedpyright {_version('basedpyright')}: one file checked", measure(["basedpyright", "--level", "error", file])))
    return found


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def main() -> int:
    small, large = fetch_tree("sglang", "0.5.9"), fetch_tree("sglang", "0.5.23")
    rows = [("why on 0.5.9, cold", why(small, QUERY_059))]
    with tempfile.TemporaryDirectory() as scratch:
        cache = Path(scratch) / "ir"
        why(small, QUERY_059, str(cache))
        rows.append(("why on 0.5.9, parsed modules kept", why(small, QUERY_059, str(cache))))
        rows.append(("why on 0.5.9, tree doubled", why(doubled(small, Path(scratch)), QUERY_059)))
    rows.append(("why on 0.5.23, cold", why(large, QUERY_0523)))
    rows += peers(small)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, tree-sitter {_version('tree-sitter')}")
    first = rows[0][1].seconds
    for title, cost in rows:
        print(f"{title:58} {cost.seconds:7.2f} s  {cost.seconds / first:6.2f} x  {cost.peak / 1e6:6.0f} MB  {cost.said}")
    print(f"peak of any child: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

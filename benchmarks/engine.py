"""What a question costs: cold, with what earlier questions kept, on a large release, in a tree twice as large; and what peers cost.

    python benchmarks/engine.py

Each measurement is a process of its own; times are CPU seconds from the first import on, those of a whole run are seconds of the clock;
memory is the peak resident size. The question is that of the founding case, with the config.json of both models. Exit code 1 when a target
is missed. Peers (on the nearest job they can do) are measured when they are installed: pip install jedi ast-grep-cli basedpyright.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.evaluation.test_founding_key import AUX, COMMAND, CONFIGS, DRAFT, RUNNER, TARGET  # noqa: E402
from tests.wheels import fetch_tree  # noqa: E402

QUERY_059, OTHER_059, QUERY_0523 = f"{RUNNER}:622", f"{RUNNER}:357", f"{AUX}:186"
ATTRIBUTE = "self.eagle_use_aux_hidden_state = False"
LAUNCHES = 50

OPEN = """
import sys, time
from pathlib import Path
from agent.domain.launch import Launch
from agent.evaluation.engine import open_engine
from agent.hosts.ir_cache import IrCache
from agent.hosts.local_files import LocalFiles
from agent.hosts.local_tree import DirectoryTree
directory, cache, query, *argv = sys.argv[1:]
kept, tree = IrCache(Path(cache)) if cache else None, DirectoryTree(directory)
def engine(*more):
    launch = Launch(argv=(*argv, *more), env={"SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN": "1"}, cwd="/root")
    return open_engine(tree, launch, files=LocalFiles("/root"), cache=kept)
"""
WHY = f"{OPEN}\nprint(engine().why(query, counterfactuals=False).verdict)"
AFTER_THE_GREP = f"""{OPEN}
asked = engine()
asked.index.files_with("launch")  # the first search reads every file
grep = time.process_time()
asked.why(query, counterfactuals=False)
print(time.process_time() - grep)
"""
AUDIT = f"{OPEN}\nprint(len(engine().audit().settings), 'settings')"
AUDITS = f"""{OPEN}
engine().audit()
start = time.process_time()
for steps in range({LAUNCHES}):
    engine("--speculative-num-steps", str(steps + 2)).audit()
print((time.process_time() - start) / {LAUNCHES})
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
root, path, line, column = sys.argv[1:]
script = jedi.Script(path=path, project=jedi.Project(root))
print(len(script.get_references(int(line), int(column))), "references")
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds, seconds of the clock and peak bytes of one process; ``said``: its last line of output, or why there is none."""

    seconds: float
    clock: float
    peak: int
    said: str


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table. ``value`` in ``unit``; ``target``: what it may be at most, None where nobody promised anything."""

    title: str
    value: float
    unit: str
    target: float | None
    cost: Cost

    @property
    def missed(self) -> bool:
        """Whether it is above its target, or no measurement at all."""
        return self.target is not None and (self.cost.said.startswith("failed") or self.value > self.target)


def measure(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Cost:
    """Runs a command to its end. Children are waited for by ``os.wait4``, so that each has its own account."""
    env = {**os.environ, **(environment or {}), "PYTHONPATH": str(ROOT)}
    start = time.monotonic()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT, env=env)
        _, status, usage = os.wait4(process.pid, 0)
        clock = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        lines = out.read().decode(errors="replace").strip().splitlines()
    said = lines[-1] if lines else ""
    said = said[:60] if process.returncode in (0, 1) and "Error" not in said else f"failed: {said[:50]}"
    return Cost(usage.ru_utime + usage.ru_stime, clock, usage.ru_maxrss * 1024, said)


def founding_command(scratch: Path) -> list[str]:
    """The launch of the founding case, with both models' config.json where it says they are."""
    command = COMMAND
    for name in (TARGET, DRAFT):
        place = scratch / "models" / name.lstrip("/")
        place.mkdir(parents=True)
        (place / "config.json").write_text(json.dumps(CONFIGS[f"{name}/config.json"]))
        command = command.replace(name, str(place))
    return shlex.split(command)


def doubled(tree: Path, into: Path) -> Path:
    """The tree and as many unrelated files: the same code under package names that nothing imports."""
    shutil.copytree(tree, into / "tree")
    for package in [each for each in sorted(tree.iterdir()) if each.is_dir() and not each.name.endswith(".dist-info")]:
        shutil.copytree(package, into / "tree" / f"unrelated_{package.name}")
    for path in sorted((into / "tree").glob("unrelated_*/**/*.py")):
        path.write_bytes(path.read_bytes().replace(b"eagle_use_aux_hidden_state", b"another_name").replace(b"sglang", b"other"))
    return into / "tree"


def engine_rows(scratch: Path) -> Iterator[Row]:
    """The product's own."""
    small, large, argv = fetch_tree("sglang", "0.5.9"), fetch_tree("sglang", "0.5.23"), founding_command(scratch)
    cache = str(scratch / "ir")

    def asked(script: str, tree: Path, query: str, kept: str = "") -> Cost:
        return measure([sys.executable, "-c", script, str(tree), kept, query, *argv])

    def row(title: str, target: float, cost: Cost) -> Row:
        return Row(title, cost.seconds, "s", target, cost)

    yield row("why on 0.5.9, cold", 3, asked(WHY, small, QUERY_059))
    asked(WHY, small, QUERY_059, cache)
    yield row("why on 0.5.9, asked again", 1, asked(WHY, small, QUERY_059, cache))
    yield Row("why on 0.5.9, another question", (other := asked(WHY, small, OTHER_059, cache)).seconds, "s", None, other)
    found = row("why on 0.5.23, cold", 8, asked(WHY, large, QUERY_0523))
    yield found
    yield Row("  its memory", found.cost.peak / 1e6, "MB", 300, found.cost)
    plain, twice = asked(AFTER_THE_GREP, small, QUERY_059), asked(AFTER_THE_GREP, doubled(small, scratch), QUERY_059)
    yield Row("why on 0.5.9, tree doubled, apart from the grep", _more(plain, twice), "% more", 15, twice)
    yield row("audit of 0.5.9, cold", 5, asked(AUDIT, small, ""))
    asked(AUDIT, small, "", cache)
    yield row("audit of 0.5.9, asked again", 2, asked(AUDIT, small, "", cache))
    each = asked(AUDITS, small, "", cache)
    yield Row(f"each of {LAUNCHES} audits of one tree", _number(each), "s", 0.5, each)
    yield whole_run(scratch / "home")


def whole_run(home: Path) -> Row:
    """``rca run`` of the founding case over SSH on loopback, as the demonstration does it; the release is at hand, nothing else is."""
    command = [sys.executable, "-m", "agent.cli.main", "demo", "--format", "json", "--quiet"]
    environment = {"RCA_HOME": str(home)}
    measure(command, environment)
    for name in ("ir", "snapshots"):
        shutil.rmtree(home / "cache" / name, ignore_errors=True)
    cost = measure(command, environment)
    return Row(
        "rca run of the founding case on loopback, cold (clock)", cost.clock, "s", 3, replace(cost, said=f"{cost.seconds:.1f} s CPU")
    )


def _number(cost: Cost) -> float:
    return float("nan") if cost.said.startswith("failed") else float(cost.said)


def _more(before: Cost, after: Cost) -> float:
    return (_number(after) / _number(before) - 1) * 100


def peer_rows(tree: Path) -> Iterator[Row]:
    """What is installed of them."""
    file = tree / RUNNER
    line, text = next((number, text) for number, text in enumerate(file.read_text().splitlines(), 1) if ATTRIBUTE in text)
    place = [str(tree), str(file), str(line), str(text.index("eagle_use"))]

    def row(title: str, command: Sequence[str]) -> Row:
        cost = measure(command)
        return Row(title, cost.seconds, "s", None, cost)

    yield row("ast.parse of the tree", [sys.executable, "-c", PARSE, str(tree)])
    if _version("jedi"):
        yield row(f"jedi {_version('jedi')}: references of one attribute", [sys.executable, "-c", JEDI, *place])
    if server := shutil.which("basedpyright-langserver"):
        client = [sys.executable, str(ROOT / "benchmarks" / "lsp_references.py")]
        yield row(f"basedpyright {_version('basedpyright')}: the same, over LSP", [*client, *place, server, "--stdio"])
    if shutil.which("ast-grep"):
        pattern = ["ast-grep", "run", "--lang", "python", "--pattern", "$X.eagle_use_aux_hidden_state", str(tree)]
        yield row(f"ast-grep {_version('ast-grep-cli')}: one pattern over the tree", pattern)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def shown(row: Row, first: float) -> str:
    target = "" if row.target is None else f"<= {row.target:g}"
    mark = "missed" if row.missed else ""
    ratio = f"{row.cost.seconds / first:6.2f} x  {row.cost.peak / 1e6:5.0f} MB"
    return f"{row.title:56} {row.value:8.2f} {row.unit:6} {target:7} {mark:6}  {ratio}  {row.cost.said}"


def main() -> int:
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, tree-sitter {_version('tree-sitter')}")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch:
        for rows_of in (engine_rows(Path(scratch)), peer_rows(fetch_tree("sglang", "0.5.9"))):
            for row in rows_of:
                rows.append(row)
                print(shown(row, rows[0].cost.seconds), flush=True)
    return 1 if any(row.missed for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

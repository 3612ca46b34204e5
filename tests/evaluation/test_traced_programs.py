"""Real command-line programs, run under a tracer in a process of their own: reach may never contradict what ran.

The programs come as wheels with what they import; the engine sees the program's package alone, all else is outside the tree.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.domain.errors import LaunchRejected
from agent.domain.launch import Launch
from agent.evaluation.engine import open_engine
from agent.hosts.local_files import LocalFiles
from agent.hosts.local_tree import DirectoryTree
from tests.evaluation.tracing import contradictions, judged
from tests.wheels import WheelTree

TRACER = """
import json, runpy, sys
root, module, out, argv = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
lines = {}
def of_line(frame, event, _):
    if event == "line":
        lines[frame.f_code.co_filename].add(frame.f_lineno)
    return of_line
def of_call(frame, event, _):
    name = frame.f_code.co_filename
    if not name.startswith(root):
        return None
    lines.setdefault(name, set())
    return of_line
sys.argv = [module, *argv]
ended = "returned"
sys.settrace(of_call)
try:
    runpy.run_module(module, run_name="__main__", alter_sys=True)
except SystemExit as leaving:
    ended = "returned" if leaving.code in (None, 0) else "exit"
except BaseException as problem:
    ended = repr(problem)
finally:
    sys.settrace(None)
    json.dump({"ended": ended, "lines": {k[len(root) + 1:]: sorted(v) for k, v in lines.items()}}, open(out, "w"))
"""


@dataclass(frozen=True)
class Program:
    """``needs``: wheels that it imports; ``files``: its own files that are compared; ``argvs``: two sets of flags."""

    package: str
    version: str
    module: str
    files: tuple[str, ...]
    argvs: tuple[tuple[str, ...], tuple[str, ...]]
    needs: tuple[tuple[str, str], ...] = ()


PROGRAMS = [
    Program(
        "yamllint", "1.35.1", "yamllint", ("yamllint/cli.py", "yamllint/config.py", "yamllint/linter.py"),
        (("-d", "relaxed", "-f", "parsable", "a.yaml"), ("--strict", "--no-warnings", "-d", "{rules: {truthy: enable}}", "a.yaml")),
        (("pathspec", "0.12.1"),),
    ),
    Program(
        "pygments", "2.18.0", "pygments", ("pygments/cmdline.py", "pygments/formatters/__init__.py", "pygments/filter.py"),
        (("-l", "python", "-f", "html", "-O", "full", "a.py"), ("-L", "filters")),
    ),
    Program(
        "docutils", "0.21.2", "docutils", ("docutils/__main__.py", "docutils/core.py", "docutils/frontend.py"),
        (("--writer=html5", "--no-generator", "a.rst"), ("--writer=xml", "--strip-comments", "a.rst")),
    ),
    Program(
        "pyflakes", "3.2.0", "pyflakes", ("pyflakes/api.py", "pyflakes/reporter.py", "pyflakes/messages.py"), (("a.py",), ("--version",)),
    ),
    Program("pycodestyle", "2.12.1", "pycodestyle", ("pycodestyle.py",), (("--max-line-length=20", "a.py"), ("--select=E1", "--statistics", "a.py"))),  # noqa: E501
    Program("tabulate", "0.9.0", "tabulate", ("tabulate/__init__.py",), (("-1", "-f", "grid", "a.txt"), ("--sep", ",", "a.txt"))),
    Program("sqlparse", "0.5.1", "sqlparse", ("sqlparse/cli.py", "sqlparse/formatter.py"), (("-k", "upper", "a.sql"), ("-r", "--indent_width", "4", "a.sql"))),  # noqa: E501
    Program("vulture", "2.13", "vulture", ("vulture/core.py", "vulture/config.py"), (("a.py",), ("--min-confidence", "80", "--sort-by-size", "a.py"))),  # noqa: E501
]  # fmt: skip
INPUTS = {
    "a.yaml": "---\na: yes\nb:   [1,2]\n",
    "a.py": "import os\n\n\ndef f(x):\n    return x + 1  # a remark\n",
    "a.rst": "Title\n=====\n\n.. a comment\n\nSome *text*.\n",
    "a.txt": "name,size\na,1\nb,2\n",
    "a.sql": "select a, b from t where a = 1;\n",
}
CASES = [(program, number) for program in PROGRAMS for number in (0, 1)]


@pytest.mark.parametrize(("program", "number"), CASES, ids=[f"{p.package}-{n}" for p, n in CASES])
def test_reach_agrees_with_the_trace(wheel_tree: WheelTree, tmp_path: Path, program: Program, number: int) -> None:
    root = wheel_tree(program.package, program.version)
    needs = [str(wheel_tree(*each)) for each in program.needs]
    for name, content in INPUTS.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    argv = program.argvs[number]
    ended, ran = _traced(root, program.module, argv, needs, tmp_path)
    launch = Launch(argv=("python3", "-m", program.module, *argv), env={}, cwd=str(tmp_path), env_complete=False)
    engine = open_engine(DirectoryTree(root), launch, files=LocalFiles(tmp_path))
    if argv == ("--version",):  # the parser ends the program, as it does the question
        with pytest.raises(LaunchRejected, match="exits"):
            engine.reach(program.files[0])
        return
    wrong = []
    for path in program.files:
        assert ran.get(path), f"{path} did not run: {ended}"
        statements = judged(engine.index, engine.reach(path))
        wrong += [f"{path}: {text}" for text in contradictions(statements, ran[path], complete=ended == "returned")]
    assert not wrong, f"{ended}\n" + "\n".join(wrong)


def _traced(root: Path, module: str, argv: tuple[str, ...], needs: list[str], cwd: Path) -> tuple[str, dict[str, set[int]]]:
    out = cwd / "trace.json"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(root), *needs]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONWARNINGS": "ignore",
    }
    command = [sys.executable, "-c", TRACER, str(root), module, str(out), *argv]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert out.exists(), done.stderr[-2000:]
    told = json.loads(out.read_text(encoding="utf-8"))
    out.unlink()
    return told["ended"], {path: set(lines) for path, lines in told["lines"].items()}

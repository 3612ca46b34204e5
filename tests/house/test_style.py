"""The house's rules hold: layers, types, style, and importing has no side effects."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("asyncssh", "paramiko", "openai", "rich", "jinja2", "pydantic", "tree_sitter", "yaml")
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "agent").rglob("*.py") if "_shipped" not in path.parts)
MOST_LINES = 600


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=600)


def test_imports_run_downward_only() -> None:
    done = run("-c", "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())")
    assert done.returncode == 0, done.stdout[-3000:]


def test_types_are_strict() -> None:
    done = run("-m", "mypy")
    assert done.returncode == 0, done.stdout[-3000:]


def test_ruff_finds_nothing() -> None:
    done = run("-m", "ruff", "check", ".")
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("path", MODULES)
def test_module_opens_with_one_sentence_and_is_not_too_long(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    opening = ast.get_docstring(ast.parse(text))
    assert opening, "every module says in its first sentence what lives there"
    assert text.count("\n") <= MOST_LINES, f"a module of more than {MOST_LINES} lines is split"


def test_nothing_in_agent_knows_one_product() -> None:
    """What is special to a product lives in playbooks/."""
    named = [
        f"{path}:{number}"
        for path in MODULES
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1)
        if any(word in _code(line).lower() for word in ("sglang", "vllm", "eagle3", "is_eagle"))
    ]
    assert not named, "product knowledge in the code"


def _code(line: str) -> str:
    """The line without its comment; docstrings may give examples in backquotes."""
    return "" if "``" in line else line.partition("#")[0]


def test_help_loads_none_of_the_heavy_libraries() -> None:
    script = "import sys; from agent.cli.main import run; run(['--help']); "
    script += f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    done = run("-c", script)
    assert done.returncode == 0
    assert done.stderr.strip() == "[]"


def test_importing_a_module_opens_nothing(tmp_path: Path) -> None:
    """Each module imports in a process that may not write, listen or start anything, and prints nothing."""
    names = [path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in MODULES]
    script = (
        "import sys, importlib\n"
        "def refuse(event, args):\n"
        "    if event in ('subprocess.Popen', 'os.system', 'socket.bind', 'socket.connect', 'os.mkdir', 'os.remove'):\n"
        "        raise RuntimeError(event)\n"
        "    if event == 'open' and isinstance(args[1], str) and set(args[1]) & set('wax+'):\n"
        "        raise RuntimeError(f'writes {args[0]}')\n"
        "sys.dont_write_bytecode = True\n"
        f"for name in {HEAVY!r}:\n"  # what others do when they are imported is theirs
        "    importlib.import_module(name)\n"
        "sys.addaudithook(refuse)\n"
        f"for name in {names!r}:\n"
        "    importlib.import_module(name)\n"
    )
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONWARNINGS": "default"}
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []

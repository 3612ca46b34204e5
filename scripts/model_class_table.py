"""Regenerates ``agent/evaluation/models/model_classes.json`` from an unpacked transformers wheel.

    python scripts/model_class_table.py DIRECTORY_WITH_transformers agent/evaluation/models/model_classes.json

The names of the attributes that ``PreTrainedModel`` and its bases in the library have or set. They are facts of the library's interface; no
code is copied.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

CLASS = "PreTrainedModel"


def classes(package: Path) -> dict[str, ast.ClassDef]:
    """Every class of the library's own modules, models and tests left out."""
    found: dict[str, ast.ClassDef] = {}
    for path in (
        sorted(package.glob("*.py"))
        + sorted(package.glob("integrations/*.py"))
        + sorted(package.glob("utils/*.py"))
        + sorted(package.glob("generation/*.py"))
    ):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, node)
    return found


def attributes(node: ast.ClassDef) -> set[str]:
    """What the class defines, and what its methods set on ``self``."""
    names: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(each.name)
        elif isinstance(each, (ast.Assign, ast.AnnAssign)):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            names |= {t.id for t in targets if isinstance(t, ast.Name)}
            names |= {t.attr for t in targets if isinstance(t, ast.Attribute) and isinstance(t.value, ast.Name) and t.value.id == "self"}
    return names


def main() -> None:
    package, target = Path(sys.argv[1]) / "transformers", Path(sys.argv[2])
    known, names, pending = classes(package), set[str](), [CLASS]
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        if name in known and name not in seen:
            seen.add(name)
            names |= attributes(known[name])
            pending += [base.id if isinstance(base, ast.Name) else getattr(base, "attr", "") for base in known[name].bases]
    version = re.search(r'__version__ = "([^"]+)"', (package / "__init__.py").read_text("utf-8"))
    assert version is not None
    target.write_text(json.dumps({"transformers": version[1], CLASS: sorted(names)}, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()

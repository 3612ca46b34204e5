"""Import statements found by the text of a file."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path
from random import Random

import pytest

from agent.analysis.imports import _IMPORT, _statements, importable_from
from agent.analysis.index import Index
from agent.hosts.local_tree import MemoryTree

AT_EVERY_LINE = re.compile(rb"^" + _IMPORT.pattern, re.MULTILINE)
LIBRARY = sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py"))


@pytest.mark.parametrize(
    "text",
    [
        b"import a\nfrom b import (\n    c,\n    important as import_,\n)\nimport d",
        b"from a import (b, # import c)\nimport d)\nimport e\n",
        b"x = 1; import a\n    import b\nreimport c\n# import d\nfrom e import\nimport\n",
        b"from a import b; import c\r\nfrom importlib import import_module\n",
        *(path.read_bytes() for path in Random(3).sample(LIBRARY, 60)),
    ],
)
def test_the_same_statements_as_by_trying_every_line(text: bytes) -> None:
    assert [(found.span(), found.groups()) for found in _statements(text)] == [
        (found.span(), found.groups()) for found in AT_EVERY_LINE.finditer(text)
    ]


def test_what_a_start_module_can_import() -> None:
    index = Index(
        MemoryTree(
            {
                "p/__init__.py": "",
                "p/a.py": "import os.path\nfrom . import b\nfrom torch import nn\n",
                "p/b.py": "x = 'p.c'\n",
                "p/c.py": "",
                "p/d.py": "import p.a\n",
            }
        )
    )
    assert sorted(importable_from(index, "p/a.py")) == ["p/__init__.py", "p/a.py", "p/b.py", "p/c.py"]
    assert importable_from(index, "p/a.py") is importable_from(index, "p/a.py")

"""The two readings of a file, tree-sitter's and the standard library's, compared node by node.

On demand over whole trees: ``python -m tests.analysis.readings DIR ...`` names each file on which they differ.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from agent.analysis import ir, source_text, syntax
from agent.analysis.lower_stdlib import lower_stdlib
from tests.analysis.shown import PLACE


def grammar_reading(utf8: bytes) -> list[ir.Stmt] | None:
    """None where tree-sitter's grammar cannot read the file, or a row found it misread."""
    root = syntax._grammar().parser.parse(utf8).root_node
    if root.has_error:
        return None
    lowered = syntax._lowered(syntax.Lowering, utf8, root)
    return lowered[0] if lowered is not None else None


def library_reading(utf8: bytes) -> list[ir.Stmt] | None:
    """None where Python refuses the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return lower_stdlib(utf8)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def plain(value: Any, placed: bool = True) -> Any:
    """Nested lists of a tree. Inside an f-string without places, which Python gives wrongly before 3.12."""
    if isinstance(value, list):
        return [plain(item, placed) for item in value]
    if not isinstance(value, ir.Node):
        return (type(value).__name__, repr(value))
    head: list[Any] = [type(value).__name__]
    if placed:
        head.append((value.line, value.end, value.start_byte, value.end_byte))
    if isinstance(value, ir.FString):
        return [*head, _parts(value)]
    return head + [plain(getattr(value, item.name), placed) for item in fields(value) if item.name not in PLACE]


def _parts(string: ir.FString) -> list[Any]:
    """The text before ``=`` is part of the text, as the library has it."""
    out: list[Any] = []
    for part in string.parts:
        if isinstance(part, ir.FormattedValue):
            if part.self_text:
                out.append(["text", part.self_text])
            spec = _parts(part.format_spec) if isinstance(part.format_spec, ir.FString) else None
            out.append([plain(part.value, False), part.conversion, spec])
        else:
            assert isinstance(part, ir.Constant)
            out.append(["text", part.value])
    return _joined(out)


def _joined(parts: list[Any]) -> list[Any]:
    out: list[Any] = []
    for part in parts:
        if part[0] == "text" and out and out[-1][0] == "text":
            out[-1] = ["text", out[-1][1] + part[1]]
        else:
            out.append(part)
    return out


def difference(one: Any, other: Any, way: str = "") -> str | None:
    """Where two plain trees part, or None."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
        name = one[0] if one and isinstance(one[0], str) else ""
        pairs = zip(one, other, strict=True)
        return next((found for at, pair in enumerate(pairs) if (found := difference(*pair, f"{way}/{name}{at}"))), None)
    return None if one == other else f"{way}: {str(one)[:200]} against {str(other)[:200]}"


def compare(source: bytes) -> str:
    """ "same", "refused" by Python, "second" (the grammar cannot read it, the second reading is used) or where they differ."""
    utf8 = source_text.read(source).utf8
    library = library_reading(utf8)
    if library is None:
        return "refused"
    grammar = grammar_reading(utf8)
    if grammar is None:
        return "second"
    return difference(plain(grammar), plain(library)) or "same"


def main(roots: Iterable[str]) -> int:
    sys.setrecursionlimit(10_000)
    counts: Counter[str] = Counter()
    for path in (path for root in roots for path in sorted(Path(root).rglob("*.py"))):
        answer = compare(path.read_bytes())
        counts[answer if answer in ("same", "refused", "second") else "different"] += 1
        if answer not in ("same", "refused"):
            print(f"{path}: {answer}")
    print(dict(counts))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""What stands around a line: read off its file's text, which is parsed only where that leaves it open."""

from __future__ import annotations

import re

from agent.analysis import ir
from agent.analysis.index import Index


def in_function_of_no_class(index: Index, path: str, line: int) -> bool:
    """Whether a line stands in a function, and in no class."""
    content = index.read(path)
    found = _by_text(content, line) if isinstance(content, bytes) else None
    if found is not None:
        return found
    around = index.enclosing(path, line)
    return any(isinstance(node, ir.FunctionDef) for node in around) and not any(isinstance(node, ir.ClassDef) for node in around)


def _by_text(content: bytes, line: int) -> bool | None:
    """None where the text may mislead: a string may hold what looks like a class, and a class may stand in a function."""
    lines = content.split(b"\n", line)[:line]
    if lines[-1][:1] not in (b" ", b"\t"):
        return None
    top = next((at for at in range(line - 2, -1, -1) if not _GOES_ON.match(lines[at])), None)
    if top is None:
        return None
    between = b"\n".join(lines[top:-1])
    if between.count(b'"""') % 2 or between.count(b"'''") % 2:
        return None
    if _CLASS.match(between):
        return False
    return True if _FUNCTION.match(between) and not _CLASS_WITHIN.search(between) else None


_GOES_ON = re.compile(rb"[ \t#)\]}\r]|$")
"""At the beginning of a line that begins no statement of the module."""
_CLASS = re.compile(rb"class[ \t]+\w+[ \t]*[(:\[]")
_FUNCTION = re.compile(rb"(?:async[ \t]+)?def[ \t]+\w+[ \t]*[(\[]")
_CLASS_WITHIN = re.compile(rb"^[ \t]+class\b", re.MULTILINE)

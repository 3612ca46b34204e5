"""Text that came from a host, made safe to show: no control sequence acts, nothing invisible stays invisible."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x9b[0-?]*[ -/]*[@-~]"  # CSI in its eight-bit form
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC: titles, links, clipboard
    r"|\x1b[ -/]*[0-~]"  # two- and three-byte escapes
)
_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and newline, DEL, C1
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff"  # undecodable bytes that were kept as surrogates
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)

_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


def visible(text: str) -> str:
    """Escape sequences removed; every other control, bidirectional or zero-width character written as ``<U+202E>``.

    Tabs and newlines stay; ``\\r\\n`` becomes ``\\n``. The result is the same when applied twice, and encodes as UTF-8.
    """
    return _INVISIBLE.sub(_spelled, _SEQUENCE.sub("", text.replace("\r\n", "\n")))


def one_line(text: str) -> str:
    """``visible`` on a single line: runs of white space become one space."""
    return " ".join(visible(text).split())


def in_backticks(text: str) -> str:
    """Foreign text on one line as a code span that it cannot leave: the fence is longer than any run of backticks within."""
    flat = one_line(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", flat)), default=0) + 1)
    pad = " " if "`" in (flat[:1], flat[-1:]) else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def code_spans(text: str) -> Iterator[tuple[bool, str]]:
    """The parts of a sentence in order, on one line; True where the part stood between backticks."""
    flat = one_line(text)
    at = 0
    for span in _CODE_SPAN.finditer(flat):
        yield False, flat[at : span.start()]
        yield True, span.group(2)
        at = span.end()
    yield False, flat[at:]


def _spelled(match: re.Match[str]) -> str:
    return f"<U+{ord(match.group()):04X}>"

"""The source of a node as it is shown to a reader: on one line, without the comments inside it."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from itertools import pairwise

_LAYOUT = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})


def one_line(source: str) -> str:
    """An expression's or statement's source; what stands in its strings stays as it is, but for their line ends, shown as ``\\n``."""
    if "\n" not in source and "#" not in source:
        return source.strip()
    try:
        return "".join(_pieces(source))
    except (tokenize.TokenError, SyntaxError):
        # Python 2, syntax newer than this interpreter: a word too many is better than no text.
        return " ".join(source.split())


def _pieces(source: str) -> Iterator[str]:
    """Tokens with the space between them; a line's end between two of them is one space, and none inside a bracket's edge."""
    # In brackets no line of it opens or closes a block, however it is indented.
    lines = f"({source}\n)".splitlines(keepends=True)
    tokens = [token for token in tokenize.generate_tokens(io.StringIO("".join(lines)).readline) if token.type not in _LAYOUT]
    for before, token in pairwise(tokens[:-1]):
        if before is not tokens[0]:
            yield _gap(before, token, lines)
        yield _verbatim(token, lines)


def _gap(before: tokenize.TokenInfo, token: tokenize.TokenInfo, lines: list[str]) -> str:
    (row, end), (next_row, start) = before.end, token.start
    if row == next_row:
        return lines[row - 1][end:start]
    return "" if before.string in "([{" or token.string in ")]}" else " "


def _verbatim(token: tokenize.TokenInfo, lines: list[str]) -> str:
    """Cut from the source: newer tokenizers give parts of f-strings unescaped."""
    (first, start), (last, end) = token.start, token.end
    if first == last:
        return lines[first - 1][start:end]
    return "".join([lines[first - 1][start:], *lines[first : last - 1], lines[last - 1][:end]]).replace("\n", "\\n")

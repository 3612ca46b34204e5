"""Records ``rca demo`` as a person sees it on a terminal: ``python -m tests.house.recording`` writes docs/demo.svg and prints the text."""

from __future__ import annotations

import re
import sys
import tempfile
from io import StringIO

from tests.cli.terminals import on_terminal
from tests.house.test_documents import ROOT

_COLUMNS = 100
_FONTS = re.compile(r"\s*@font-face\s*\{[^}]*\}")
_CONTROL = re.compile(r"\x1b\[(?P<count>\d*)(?P<what>[A-KSTf])|\x1b\[\?\d+[hl]|(?P<plain>\r|\n)")


def final_screen(output: str) -> str:
    """What stands on the terminal at the end: a live display redraws itself by going up and clearing lines."""
    lines, row, at = [""], 0, 0
    for control in _CONTROL.finditer(output):
        lines[row] += output[at : control.start()]
        at = control.end()
        if control["what"] == "A":
            row = max(0, row - int(control["count"] or 1))
        elif control["what"] == "K":
            lines[row] = ""
        elif control["plain"] == "\n":
            row += 1
            lines += [""] * (row >= len(lines))
    lines[row] += output[at:]
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def svg(screen: str) -> str:
    """The screen with its colours, as rich draws it, in the reader's own fonts: a picture asks no network for anything."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=_COLUMNS, file=StringIO(), force_terminal=True)
    console.print(Text.from_ansi(f"$ rca demo\n{screen}"))
    drawn = console.export_svg(title="rca demo", unique_id="rca-demo")
    return _FONTS.sub("", drawn).replace("font-family: Fira Code, monospace", "font-family: ui-monospace, monospace")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        code, output = on_terminal(["demo"], {"RCA_HOME": home}, columns=_COLUMNS, limit=600)
    if code != 0:
        sys.exit(f"rca demo ended with {code}:\n{output[-2000:]}")
    shown = final_screen(output)
    (ROOT / "docs" / "demo.svg").write_text(svg(shown), encoding="utf-8")
    print(re.sub(r"\x1b\[[0-9;]*m", "", shown))

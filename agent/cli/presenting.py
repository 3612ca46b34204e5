"""The answer of a single question on standard output, and in a file where one was asked for."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

    from agent.cli.options import Output


def present(answer: Mapping[str, Any], show: Callable[[Console], None], output: Output, name: str, *, markdown: str = "") -> None:
    """JSON, ``markdown``, or what ``show`` prints; with ``--out`` the same as ``NAME.json``, ``.md`` or ``.txt``. Raises StoreError."""
    from rich.console import Console

    plain = json.dumps(answer, indent=2, ensure_ascii=False, default=str) if output.format == "json" else markdown.rstrip("\n")
    if plain:
        click.echo(plain)
    else:
        show(Console(file=sys.stdout, highlight=False))
    sys.stdout.flush()
    if output.out:
        from agent.cli.run import write_report

        kept = StringIO()
        if not plain:
            show(Console(file=kept, highlight=False, width=160))
        file = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:120]
        place = Path(output.out) / f"{file}.{output.format if plain else 'txt'}"
        write_report(place, f"{plain}\n" if plain else kept.getvalue(), quiet=output.quiet)

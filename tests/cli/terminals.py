"""Runs the command line on a pseudo terminal, as a person would: what it shows, with answers typed when it asks."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def on_terminal(
    arguments: Sequence[str], environ: Mapping[str, str], *, answers: Mapping[str, str] | None = None, columns: int = 100, limit: float = 60
) -> tuple[int, str]:
    """Exit code and everything shown. ``answers``: what is typed once the text stands on the screen."""
    terminal, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "agent.cli.main", *arguments],
        cwd=ROOT,
        env={**inherited, "TERM": "xterm-256color", **environ},
        stdin=side,
        stdout=side,
        stderr=side,
        start_new_session=True,
    )
    os.close(side)
    shown, waiting = b"", dict(answers or {})
    try:
        while select.select([terminal], [], [], limit)[0]:
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
            for text in [text for text in waiting if text.encode() in shown]:
                os.write(terminal, waiting.pop(text).encode() + b"\n")
        return process.wait(limit), shown.decode("utf-8", "replace").replace("\r\n", "\n")
    finally:
        process.kill()
        process.wait()
        os.close(terminal)

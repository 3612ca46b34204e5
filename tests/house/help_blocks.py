"""Writes what the program says of itself into the documents: ``python -m tests.house.help_blocks``.

After an option has changed: its ``--help``; after a playbook has come: the table of what is found.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

from agent.config import shipped_directory
from agent.library import Library
from tests.house.test_documents import DOCUMENTS, ROOT

_BLOCK = re.compile(r"^(?P<head>```(?:console|text)\n\$ (?P<command>rca [^\n]*--help)\n).*?^```", re.MULTILINE | re.DOTALL)

_TABLE = re.compile(r"^\| failure \| release \| playbook \|\n(?:\|.*\|\n?)*(?<!\n)", re.MULTILINE)


def printed(command: str) -> str:
    """What the program prints for this command line, 100 columns wide."""
    done = subprocess.run(
        [sys.executable, "-m", "agent.cli.main", *command.split()[1:]],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def found() -> str:
    """What the shipped playbooks recognise, as the table of a document."""
    rows = ["| failure | release | playbook |", "|---|---|---|"]
    for one in Library(shipped_directory("playbooks")).all():
        applies = ", ".join(f"{release.package} {release.versions}".strip() for release in one.applies_to)
        rows.append(f"| {one.title} | {applies} | [{one.id}](playbooks/{one.id}.yaml) |")
    return "\n".join(rows)


def renewed(text: str) -> str:
    """The document with every help block and the table as they should be."""
    blocks = _BLOCK.sub(lambda block: f"{block['head']}{printed(block['command'])}```", text)
    return _TABLE.sub(lambda _: found(), blocks)


if __name__ == "__main__":
    for document in DOCUMENTS:
        before = document.read_text(encoding="utf-8")
        after = renewed(before)
        if after != before:
            document.write_text(after, encoding="utf-8")
            print(document.relative_to(ROOT))

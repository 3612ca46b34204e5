"""The recorder's idea of a terminal."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from tests.house.recording import final_screen, svg
from tests.house.test_documents import ROOT


def test_a_redrawn_display_is_seen_once() -> None:
    first, second = "\x1b[?25ltree\n- a\n- b", "\r\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2Ktree\n- a ok\n- b ok\n\x1b[?25h"
    assert final_screen(first + second + "done\n") == "tree\n- a ok\n- b ok\ndone"


def test_colours_stay() -> None:
    screen = final_screen("\x1b[31mred\x1b[0m\nplain\n")
    assert screen == "\x1b[31mred\x1b[0m\nplain"
    assert "red" in svg(screen)


def quoted() -> list[str]:
    """The lines of the README that show the end of the demonstration; those that it shortens are left out."""
    _, _, text = (ROOT / "README.md").read_text(encoding="utf-8").partition("On a terminal it ends like this:\n\n```text\n")
    lines = [line for line in text.partition("\n```")[0].split("\n") if line and " ... " not in line]
    assert len(lines) > 10
    return lines


def test_the_readme_quotes_the_recording() -> None:
    recorded = ET.parse(ROOT / "docs" / "demo.svg").iter("{http://www.w3.org/2000/svg}text")
    screen = " ".join(" ".join(part.text or "" for part in recorded).split())
    assert [line for line in quoted() if " ".join(line.split()) not in screen] == []


@pytest.mark.parametrize("picture", [svg("text"), (ROOT / "docs" / "demo.svg").read_text(encoding="utf-8")], ids=["drawn", "kept"])
def test_the_picture_asks_no_network_for_anything(picture: str) -> None:
    assert not re.search(r"@font-face|@import|<script|href|url\((?!#)", picture)
    assert set(re.findall(r"https?://[^\s\"']+", picture)) <= {"http://www.w3.org/2000/svg", "https://www.textualize.io"}
    assert "Fira" not in picture

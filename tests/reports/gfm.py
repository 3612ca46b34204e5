"""GitHub's Markdown renderer (cmark-gfm), with what a test wants to know about the page it makes."""

from __future__ import annotations

from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options


class Page(HTMLParser):
    """Tags used, text outside of code, content of code spans and blocks, count of table cells, links."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.codes: list[str] = []
        self.cells = 0
        self.links: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self._open.append(tag)
        self.cells += tag in ("td", "th")
        self.links += [value or "" for name, value in attributes if name in ("href", "src") or name.startswith("on")]
        if tag == "code":
            self.codes.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, text: str) -> None:
        if "code" in self._open or "pre" in self._open:
            self.codes[-1] += text
        else:
            self.texts.append(text)


def render(markdown: str) -> Page:
    """As GitHub does: tables, strikethrough, autolinks, task lists, raw HTML let through to be seen."""
    extensions = ["table", "strikethrough", "autolink", "tasklist"]
    html = cmarkgfm.markdown_to_html_with_extensions(markdown, options=Options.CMARK_OPT_UNSAFE, extensions=extensions)
    return Page(html)

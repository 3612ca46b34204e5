"""The brief as Atlassian Document Format (ADF, version 1), the only form of a comment that Jira Cloud's API v3 takes."""

from __future__ import annotations

from typing import Any

from agent.domain.brief import Brief, Row
from agent.domain.visible import code_spans, one_line, visible

Node = dict[str, Any]


def document(brief: Brief, footer: str) -> Node:
    """A heading, the summary, a table of the rows, the command as a code block, and the footer that finds the comment again."""
    content = [
        _node("heading", [_text(f"rca: {brief.outcome}: {brief.headline}")], level=3),
        *([_paragraph(_sentence(brief.summary))] if brief.summary else []),
        *([_table(brief.rows)] if brief.rows else []),
        *([_node("codeBlock", [_text(visible(brief.command))], language="shell")] if brief.command else []),
        _paragraph([_text(footer)]),
    ]
    return {"version": 1, "type": "doc", "content": content}


def plain_text(node: Any) -> str:
    """All text of a document, to look for the footer in what Jira gives back."""
    if isinstance(node, dict):
        return str(node.get("text", "")) + "".join(plain_text(child) for child in node.get("content", []))
    return ""


def _table(rows: tuple[Row, ...]) -> Node:
    return _node(
        "table", [_node("tableRow", [_cell("tableHeader", [_text(row.label or " ")]), _cell("tableCell", _value(row))]) for row in rows]
    )


def _cell(kind: str, inline: list[Node]) -> Node:
    return _node(kind, [_paragraph(inline)])


def _value(row: Row) -> list[Node]:
    return [_text(row.text, code=True)] if row.code else _sentence(row.text)


def _sentence(text: str) -> list[Node]:
    return [_text(part, code=is_code) for is_code, part in code_spans(text) if part] or [_text(text)]


def _paragraph(inline: list[Node]) -> Node:
    return _node("paragraph", inline)


def _text(text: str, *, code: bool = False) -> Node:
    """ADF text is text: Jira reads no markup, mention or issue key in it. It may not be empty."""
    shown = text if "\n" in text else one_line(text) if not text.startswith(" ") and not text.endswith(" ") else _spaced(text)
    marks = {"marks": [{"type": "code"}]} if code else {}
    return {"type": "text", "text": shown or " ", **marks}


def _spaced(text: str) -> str:
    """A part of a sentence keeps the space that parts it from its neighbour."""
    lead, tail = " " * text.startswith(" "), " " * text.endswith(" ")
    return f"{lead}{one_line(text)}{tail}" if text.strip() else " "


def _node(kind: str, content: list[Node], **attributes: Any) -> Node:
    return {"type": kind, **({"attrs": attributes} if attributes else {}), "content": content}

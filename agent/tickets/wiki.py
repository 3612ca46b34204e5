"""The brief as one verbatim block: in Jira's wiki markup (Server and Data Center), and in Redmine's Textile and Markdown.

These renderers link and notify on more than they document, so foreign text stands only inside the block, and the block's one way
out is taken from it.
"""

from __future__ import annotations

from agent.domain.brief import Brief
from agent.domain.visible import one_line, visible


def jira(brief: Brief, footer: str) -> str:
    """``{noformat}`` is verbatim to its closing tag; a space inside that tag's name makes it text."""
    return f"{{noformat}}\n{_plain(brief).replace('{noformat', '{no format')}\n{{noformat}}\n{footer}\n"


def textile(brief: Brief, footer: str) -> str:
    """``<pre>`` is verbatim to ``</pre>``; Redmine itself escapes everything else within it."""
    return f"<pre>\n{_plain(brief).replace('<', '‹').replace('>', '›')}\n</pre>\n\n{footer}\n"


def markdown(brief: Brief, footer: str) -> str:
    """A fence, for Redmine's two Markdown renderers, which do not agree on longer ones: no run of three may stand inside."""
    body = _plain(brief).replace("```", "`\u200b``").replace("~~~", "~\u200b~~")
    return f"```\n{body}\n```\n\n{footer}\n"


def _plain(brief: Brief) -> str:
    width = max((len(row.label) for row in brief.rows), default=0)
    lines = [f"rca: {brief.outcome}: {one_line(brief.headline)}", ""]
    lines += [one_line(brief.summary), ""] if brief.summary else []
    lines += [f"{row.label:<{width}}  {one_line(row.text)}" for row in brief.rows]
    lines += ["", visible(brief.command)] if brief.command else []
    return "\n".join(lines)

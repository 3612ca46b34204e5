"""What every report format offers."""

from __future__ import annotations

from typing import Protocol

from agent.domain.investigation import Investigation


class Report(Protocol):
    """One format. The same investigation gives the same bytes; what is shown of the host is made visible and inert."""

    name: str
    """As in ``--format``: md, json, html, sarif, text."""
    media_type: str
    suffix: str
    """Of a file that holds it, with its dot."""

    def render(self, investigation: Investigation) -> str:
        """The whole document, ending in a newline; raises nothing for any content that a host can send."""
        ...

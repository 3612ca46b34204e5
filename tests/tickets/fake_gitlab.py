"""GitLab's notes and uploads; requests are checked against the shapes of its REST API documentation (Notes, Project uploads, Users)."""

from __future__ import annotations

import re
from typing import Any

from tests.tickets.server import Request, Response, Tracker

_PROJECT = "/api/v4/projects/(?:group/sub/project|1)"
_BODIES: dict[tuple[str, str], dict[str, type]] = {
    ("POST", rf"{_PROJECT}/(issues|merge_requests)/7/notes"): {"body": str},
    ("PUT", rf"{_PROJECT}/(issues|merge_requests)/7/notes/\d+"): {"body": str},
}
"""What a JSON body must hold, and its type; ``internal`` and ``created_at`` may be there besides."""


class FakeGitLab(Tracker):
    """One project with issue 7 and merge request 7."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[dict[str, Any]] = []
        self.uploads: dict[str, bytes] = {}
        self.accounts = {"token-of-ada": 11, "token-of-bob": 12}
        ticket = rf"{_PROJECT}/(?:issues|merge_requests)/7"
        self.routes = [
            (
                "GET",
                "/api/v4/user",
                lambda request, _: Response(body={"id": self.accounts[request.headers["private-token"]], "username": "ada"}),
            ),
            ("GET", ticket, lambda *_: Response(body={"iid": 7, "id": 70, "project_id": 1})),
            ("GET", ticket + "/notes", self._list),
            ("POST", ticket + "/notes", self._create),
            ("PUT", ticket + r"/notes/(\d+)", self._edit),
            ("POST", f"{_PROJECT}/uploads", self._upload),
        ]

    def account(self, request: Request) -> str:
        return str(self.accounts.get(request.headers.get("private-token", ""), ""))

    def check(self, request: Request) -> None:
        for (method, path), wanted in _BODIES.items():
            if request.method == method and re.fullmatch(path, request.path):
                given = request.json()
                self.wrong += [f"{name} is no {kind.__name__}" for name, kind in wanted.items() if not isinstance(given.get(name), kind)]
                self.wrong += [f"unknown field {name}" for name in given if name not in (*wanted, "internal", "created_at", "id")]
                if len(given.get("body", "")) > 1_000_000:
                    self.wrong.append("a note holds 1,000,000 characters at most")

    def write(self, author: int, body: str) -> dict[str, Any]:
        """A note by somebody."""
        note = {"id": 100 + len(self.notes), "body": body, "author": {"id": author}, "noteable_iid": 7}
        self.notes.append(note)
        return note

    def _list(self, request: Request, _: re.Match[str]) -> Response:
        page, size = int(request.query.get("page", 1)), int(request.query.get("per_page", 20))
        newest_first = list(reversed(self.notes))
        shown = newest_first[(page - 1) * size : page * size]
        more = page * size < len(self.notes)
        address = f"{self.url}{request.path}?per_page={size}&page={page + 1}"
        return Response(body=shown, headers={"Link": f'<{address}>; rel="next"'} if more else {})

    def _create(self, request: Request, _: re.Match[str]) -> Response:
        return Response(status=201, body=self.write(int(self.account(request)), request.json()["body"]))

    def _edit(self, request: Request, match: re.Match[str]) -> Response:
        note = next(one for one in self.notes if one["id"] == int(match.group(1)))
        note["body"] = request.json()["body"]
        return Response(body=note)

    def _upload(self, request: Request, _: re.Match[str]) -> Response:
        name, content = request.file()
        self.uploads[name] = content
        address = f"/uploads/0123456789abcdef/{name}"
        return Response(status=201, body={"alt": name, "url": address, "full_path": address, "markdown": f"[{name}]({address})"})

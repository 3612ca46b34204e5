"""GitHub's issue comments; each request is checked against GitHub's own OpenAPI description (npm package @octokit/openapi)."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from tests.npm import npm_file
from tests.tickets.server import Request, Response, Tracker

_PAGE = 100


@cache
def description() -> dict[str, Any]:
    """The whole description, about 13 MB; raises PackageUnavailable."""
    file = npm_file("@octokit/openapi@23.0.2", "generated/api.github.com.json")
    loaded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return loaded


@cache
def templates() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    """Every path of the description as a pattern, with its operations."""
    return [(re.compile(re.sub(r"\{[^}]*\}", "[^/]+", path)), operations) for path, operations in description()["paths"].items()]


class FakeGitHub(Tracker):
    """One repository with one issue, as an Enterprise Server under /api/v3."""

    def __init__(self) -> None:
        super().__init__()
        self.comments: list[dict[str, Any]] = []
        self.accounts = {"token-of-ada": "ada", "token-of-an-app": "app"}
        issue = r"/api/v3/repos/org/repo/issues/7"
        self.routes = [
            ("GET", "/api/v3/user", self._user),
            (
                "GET",
                "/api/v3/repos/org/repo",
                lambda *_: Response(body={"full_name": "org/repo", "url": f"{self.url}/api/v3/repos/org/repo"}),
            ),
            ("GET", issue, lambda *_: Response(body={"number": 7, "url": f"{self.url}{issue}"})),
            ("GET", issue + "/comments", self._list),
            ("POST", issue + "/comments", self._create),
            ("PATCH", r"/api/v3/repos/org/repo/issues/comments/(\d+)", self._edit),
            ("DELETE", r"/api/v3/repos/org/repo/issues/comments/(\d+)", self._delete),
        ]

    def account(self, request: Request) -> str:
        return self.accounts.get(request.headers.get("authorization", "").removeprefix("token ").removeprefix("Bearer "), "")

    def write(self, login: str, body: str) -> dict[str, Any]:
        """A comment by somebody."""
        number = len(self.comments) + 1
        address = f"{self.url}/api/v3/repos/org/repo/issues/comments/{number}"
        user = {"login": login, "type": "Bot" if login == "app" else "User"}
        comment = {
            "id": number,
            "body": body,
            "user": user,
            "url": address,
            "html_url": f"{self.url}/org/repo/issues/7#issuecomment-{number}",
        }
        self.comments.append(comment)
        return comment

    def check(self, request: Request) -> None:
        path = request.path.removeprefix("/api/v3")
        for pattern, operations in templates():
            if pattern.fullmatch(path) and request.method.lower() in operations:
                self._check_body(request, operations[request.method.lower()])
                return
        self.wrong.append(f"no such operation: {request.method} {path}")

    def _check_body(self, request: Request, operation: dict[str, Any]) -> None:
        wanted = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if wanted is None:
            return
        schema = {**wanted["schema"], "components": description()["components"]}
        self.wrong += [error.message for error in Draft202012Validator(schema).iter_errors(request.json())]

    def _user(self, request: Request, _: re.Match[str]) -> Response:
        login = self.account(request)
        if login == "app":
            return Response(status=403, body={"message": "Resource not accessible by integration"})
        return Response(body={"login": login})

    def _list(self, request: Request, _: re.Match[str]) -> Response:
        page, size = int(request.query.get("page", 1)), int(request.query.get("per_page", 30))
        assert size <= _PAGE
        shown = self.comments[(page - 1) * size : page * size]
        more = page * size < len(self.comments)
        address = f"{self.url}{request.path}?per_page={size}&page={page + 1}"
        return Response(body=shown, headers={"Link": f'<{address}>; rel="next"'} if more else {})

    def _create(self, request: Request, _: re.Match[str]) -> Response:
        if len(request.json()["body"]) > 65_536:
            return _too_long()
        return Response(status=201, body=self.write(self.account(request), request.json()["body"]))

    def _edit(self, request: Request, match: re.Match[str]) -> Response:
        comment = next(one for one in self.comments if one["id"] == int(match.group(1)))
        if len(request.json()["body"]) > 65_536:
            return _too_long()
        comment["body"] = request.json()["body"]
        return Response(body=comment)

    def _delete(self, _: Request, match: re.Match[str]) -> Response:
        self.comments = [one for one in self.comments if one["id"] != int(match.group(1))]
        return Response(status=204, body=b"")


def _too_long() -> Response:
    errors = [
        {"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "Body is too long (maximum is 65536 characters)"}
    ]
    return Response(status=422, body={"message": "Validation Failed", "errors": errors})

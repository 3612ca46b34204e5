"""Jira's comments and attachments, Cloud (API v3, ADF checked against Atlassian's JSON Schema) and Data Center (API v2)."""

from __future__ import annotations

import base64
import json
import re
from functools import cache
from typing import Any

import jsonschema_rs

from tests.npm import npm_file
from tests.tickets.server import Request, Response, Tracker

_PAGE = 100
"""So many comments Jira Cloud gives at once at most, and where nothing is said."""


@cache
def adf_schema() -> jsonschema_rs.Draft4Validator:
    """Atlassian's schema of its document format; raises PackageUnavailable."""
    file = npm_file("@atlaskit/adf-schema@57.7.22", "dist/json-schema/v1/full.json")
    return jsonschema_rs.Draft4Validator(json.loads(file.read_text(encoding="utf-8")))


class FakeJira(Tracker):
    """One issue, ABC-7. ``cloud`` False is a Data Center."""

    def __init__(self, *, cloud: bool = True) -> None:
        super().__init__()
        self.cloud = cloud
        self.comments: list[dict[str, Any]] = []
        self.attachments: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        issue = r"/rest/api/([23])/issue/ABC-7"
        self.routes = [
            (
                "GET",
                r"/rest/api/2/serverInfo",
                lambda *_: Response(body={"deploymentType": "Cloud" if cloud else "Server", "versionNumbers": [9]}),
            ),
            ("GET", r"/rest/api/[23]/myself", lambda request, _: Response(body=_author(self.account(request), cloud))),
            (
                "GET",
                issue,
                lambda *_: Response(
                    body={
                        "id": "7",
                        "key": "ABC-7",
                        "self": f"{self.url}/rest/api/3/issue/ABC-7",
                        "fields": {"attachment": self.attachments},
                    }
                ),
            ),
            ("GET", issue + "/comment", self._list),
            ("POST", issue + "/comment", self._create),
            ("PUT", issue + r"/comment/(\d+)", self._edit),
            ("GET", issue + r"/comment/(\d+)", lambda _, match: Response(body=self._find(match.group(2)))),
            ("POST", issue + "/attachments", self._attach),
        ]

    def account(self, request: Request) -> str:
        kind, _, value = request.headers.get("authorization", "").partition(" ")
        if kind == "Basic":
            return {"ada@example.com:token-of-ada": "ada", "bob@example.com:token-of-bob": "bob"}.get(base64.b64decode(value).decode(), "")
        return {"token-of-ada": "ada", "token-of-bob": "bob"}.get(value, "") if kind == "Bearer" and not self.cloud else ""

    def check(self, request: Request) -> None:
        if not re.search(r"/comment(/\d+)?$", request.path) or request.method not in ("POST", "PUT"):
            return
        body = request.json().get("body")
        if "/rest/api/3/" in request.path:
            self.wrong += [str(error)[:300] for error in adf_schema().iter_errors(body)]
            if len(json.dumps(body)) > 32_767 * 8 or len(_text(body)) > 32_767:
                self.wrong.append("a comment holds 32,767 characters at most")
        elif not isinstance(body, str):
            self.wrong.append("API v2 takes text")

    def write(self, author: str, body: Any) -> dict[str, Any]:
        """A comment by somebody."""
        number = str(200 + len(self.comments))
        comment = {
            "id": number,
            "self": f"{self.url}/rest/api/{3 if self.cloud else 2}/issue/ABC-7/comment/{number}",
            "body": body,
            "author": _author(author, self.cloud),
        }
        self.comments.append(comment)
        return comment

    def _list(self, request: Request, _: re.Match[str]) -> Response:
        start, most = int(request.query.get("startAt", 0)), min(int(request.query.get("maxResults", _PAGE)), _PAGE)
        start, most = (start, most) if self.cloud else (0, len(self.comments))  # old servers know no pages
        shown = self.comments[start : start + most]
        return Response(body={"startAt": start, "maxResults": most, "total": len(self.comments), "comments": shown})

    def _create(self, request: Request, _: re.Match[str]) -> Response:
        return Response(status=201, body=self.write(self.account(request), request.json()["body"]))

    def _edit(self, request: Request, match: re.Match[str]) -> Response:
        comment = self._find(match.group(2))
        comment["body"] = request.json()["body"]
        return Response(body=comment)

    def _find(self, number: str) -> dict[str, Any]:
        return next(one for one in self.comments if one["id"] == number)

    def _attach(self, request: Request, _: re.Match[str]) -> Response:
        if request.headers.get("x-atlassian-token") != "no-check":
            self.wrong.append("attachments need X-Atlassian-Token: no-check")
        name, content = request.file()
        self.files[name] = content
        attachment = {"id": str(len(self.attachments)), "filename": name, "size": len(content), "self": f"{self.url}/attachment/{name}"}
        self.attachments.append(attachment)
        return Response(body=[attachment])


def _author(name: str, cloud: bool) -> dict[str, str]:
    return {"accountId": f"account-{name}", "displayName": name} if cloud else {"name": name, "key": name, "displayName": name}


def _text(node: Any) -> str:
    return str(node.get("text", "")) + "".join(map(_text, node.get("content", []))) if isinstance(node, dict) else ""

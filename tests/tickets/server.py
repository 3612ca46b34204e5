"""A tracker's HTTP side on loopback: routes, an account per token, planned failures, and a record of every request."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it came; ``query`` has the first value of each name."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    def file(self) -> tuple[str, bytes]:
        """Name and content of the one file of a multipart body."""
        head = f"Content-Type: {self.headers['content-type']}\r\n\r\n".encode()
        message = BytesParser(EmailMessage, policy=HTTP).parsebytes(head + self.body)
        (part,) = (one for one in message.iter_parts() if one.get_param("name", header="content-disposition") == "file")
        return part.get_filename() or "", part.get_payload(decode=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """JSON unless ``body`` is bytes."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


Handler = Callable[[Request, re.Match[str]], Response]
STALL = Response(status=-1)
"""Never answered: the client must give up by itself."""


class Tracker:
    """Subclasses fill ``routes`` and say in ``account`` who a request comes from. ``wrong`` collects what breaks the API's shape."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[Request] = []
        self.wrong: list[str] = []
        self.routes: list[tuple[str, str, Handler]] = []
        self._planned: list[list[Any]] = []
        self.over = threading.Event()

    def account(self, request: Request) -> str:
        """The account behind the request's token; "" refuses it."""
        raise NotImplementedError

    def check(self, request: Request) -> None:
        """Adds to ``wrong`` what the published API would not take."""

    def fail(self, method: str, path: str, response: Response, *, after: int = 0) -> None:
        """The next request of that method whose path matches is answered so; ``after`` so many that are answered as ever."""
        self._planned.append([after, method, path, response])

    def writes(self) -> list[Request]:
        """Every request that was not a read."""
        return [request for request in self.requests if request.method not in ("GET", "HEAD")]

    def answer(self, request: Request) -> Response:
        self.requests.append(request)
        self.check(request)
        for planned in self._planned:
            after, method, path, response = planned
            if request.method == method and re.search(path, request.path):
                planned[0] -= 1
                if not after:
                    self._planned.remove(planned)
                    return response
        if not self.account(request):
            return Response(status=401, body={"message": "Bad credentials"})
        for method, pattern, handler in self.routes:
            match = re.fullmatch(pattern, request.path)
            if match and method == request.method:
                return handler(request, match)
        return Response(status=404, body={"message": "Not Found", "errorMessages": ["Issue does not exist"]})


@contextmanager
def serving(tracker: Tracker) -> Iterator[Tracker]:
    """``tracker.url`` is its address within the context."""

    class Handling(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            size = int(self.headers.get("Content-Length") or 0)
            request = Request(
                method=self.command,
                path=unquote(parts.path),
                query={name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()},
                headers={name.lower(): value for name, value in self.headers.items()},
                body=self.rfile.read(size),
            )
            response = tracker.answer(request)
            if response.status < 0:
                tracker.over.wait(30)
                self.close_connection = True
                return
            content = response.body if isinstance(response.body, bytes) else json.dumps(response.body).encode()
            self.send_response(response.status)
            for name, value in {"Content-Type": "application/json", **response.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

        def log_message(self, format: str, *arguments: object) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None: ...

    server = Server(("127.0.0.1", 0), Handling)
    tracker.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield tracker
    finally:
        tracker.over.set()
        server.shutdown()
        thread.join()
        server.server_close()

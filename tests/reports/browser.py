"""A headless Chromium over its debugging pipe: pages, key strokes, media, console, screenshots; nothing but the standard library."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.apt import PackagesUnavailable, ensure

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_WIRING = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3])
os.dup2(read, 3), os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Chromium reads its debugging pipe from descriptor 3 and writes to 4."""


class BrowserMissing(RuntimeError):
    """There is no Chromium and it cannot be installed; the message says why."""


def find_chromium() -> str:
    """Path of a Chromium; root on a Debian-like system gets it from apt. Raises BrowserMissing."""
    try:
        ensure(["chromium"], lambda: _chromium() is not None)
    except PackagesUnavailable as reason:
        raise BrowserMissing(str(reason)) from None
    found = _chromium()
    assert found
    return found


def _chromium() -> str | None:
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Browser:
    """One page. ``problems`` collects console errors, exceptions, policy violations; ``requests`` every URL asked for."""

    def __init__(self, send: int, receive: int) -> None:
        self._send, self._receive = send, receive
        self._buffer = b""
        self._last = 0
        self._session = ""
        self._seen: set[str] = set()
        self.problems: list[str] = []
        self.requests: list[str] = []

    def open(self, path: Path, *, width: int = 1100, height: int = 900) -> None:
        """Loads a local file and waits for its end."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self._seen.clear()
        self.requests.clear()
        self.call("Page.navigate", url=path.as_uri())
        while "Page.loadEventFired" not in self._seen:
            self._take()

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page (the debugger is not bound by the page's policy)."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """One key stroke: Tab, Enter, or Space."""
        code, text = {"Tab": (9, ""), "Enter": (13, "\r"), "Space": (32, " ")}[key]
        named = {"key": " " if key == "Space" else key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **named)
        self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    def media(self, *, scheme: str = "light", media: str = "screen") -> None:
        """What the page believes to be shown on."""
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """A PNG of the visible part, or of the whole page."""
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(picture["data"]))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the DevTools protocol and its answer; events that come meanwhile are kept."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session and not method.startswith("Target."):
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._take()
            if answer.get("id") == self._last:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result

    def _take(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            piece = os.read(self._receive, 65536)
            assert piece, "chromium ended"
            self._buffer += piece
        text, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(text)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        method, parameters = message.get("method", ""), message.get("params", {})
        self._seen.add(method)
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown" or (method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning")):
            self.problems.append(json.dumps(parameters))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append(parameters["entry"]["text"])


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser with a profile of its own, ended with the context. Raises BrowserMissing."""
    program = find_chromium()
    to_browser, from_browser = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(prefix="rca-chromium-", ignore_cleanup_errors=True) as profile:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars"]
        command = [program, *options, f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        wired = [sys.executable, "-c", _WIRING, str(to_browser[0]), str(from_browser[1]), *command]
        process = subprocess.Popen(
            wired, pass_fds=(to_browser[0], from_browser[1]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        os.close(to_browser[0])
        os.close(from_browser[1])
        try:
            browser = Browser(to_browser[1], from_browser[0])
            yield browser
            browser.call("Browser.close")
        finally:
            os.close(to_browser[1])
            os.close(from_browser[0])
            process.kill()
            process.wait()

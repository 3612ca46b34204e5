"""Asks a language server who refers to one attribute: ``lsp_references.py ROOT FILE LINE COLUMN COMMAND ...``; prints how many do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


class Server:
    """JSON-RPC over the standard streams of a process; what the server asks meanwhile gets an empty answer."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.asked = 0

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        self.asked += 1
        self._send({"id": self.asked, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" in message and "id" in message:
                items = message["params"].get("items") if message["method"] == "workspace/configuration" else None
                self._send({"id": message["id"], "result": [{} for _ in items] if items is not None else None})
            elif message.get("id") == self.asked and "method" not in message:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']['message']}")
                return message["result"]

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.process.stdin.flush()

    def _receive(self) -> Any:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline().strip()) or not length:
            if not line:
                raise SystemExit("the server has gone")
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return json.loads(self.process.stdout.read(length))


def main(root: str, file: str, line: int, column: int, command: list[str]) -> int:
    server, folder, document = Server(command), Path(root).as_uri(), Path(file).as_uri()
    folders, able = [{"uri": folder, "name": "tree"}], {"workspace": {"configuration": True}}
    server.ask("initialize", {"processId": None, "rootUri": folder, "workspaceFolders": folders, "capabilities": able})
    server.tell("initialized", {})
    text = Path(file).read_text(encoding="utf-8")
    server.tell("textDocument/didOpen", {"textDocument": {"uri": document, "languageId": "python", "version": 1, "text": text}})
    place = {
        "textDocument": {"uri": document},
        "position": {"line": line - 1, "character": column},
        "context": {"includeDeclaration": True},
    }
    found = server.ask("textDocument/references", place)
    print(len(found or ()), "references")
    server.ask("shutdown", None)
    server.tell("exit", None)
    return server.process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:]))

"""What leaves the Host is redacted by what was read: environments, argument vectors, configuration, logs; code only where it is shown.

Whole source files (``fetch`` and ``sync_tree`` of ``*.py``) keep their exact bytes: the engine's hashes and line numbers
rest on them, and they stay on this machine. Whoever shows a line of them passes it through ``domain.redaction`` first;
lines and grep hits of source files, which are read in order to be shown, are redacted here (quoted values only).
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace

from agent.config import GENERAL_ENVIRONMENT
from agent.domain.command import Command, CommandResult
from agent.domain.redaction import placeholder, redact_argv, redact_environment, redact_json, redact_text
from agent.domain.secret_blocks import open_block
from agent.domain.secret_shapes import open_key, redact_shapes

_SOURCE = re.compile(r".*\.pyi?", re.DOTALL)
_EXACT_PROGRAMS = frozenset("test tar".split())
_NAMES_ONLY = frozenset("find stat sha256sum readlink id uname date df".split())
# Files that are kept for nothing but secrets: no row of them is shown, however harmless it looks.
_CREDENTIALS = re.compile(
    r".*/(?:\.netrc|_netrc|\.pgpass|\.my\.cnf|\.htpasswd|\.git-credentials|\.pypirc|\.npmrc|\.dockercfg|g?shadow-?|credentials|kubeconfig"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|ssh_host_\w+_key|\.docker/config\.json|\.kube/config|\.cache/huggingface/(?:token|stored_tokens)"
    r"|(?:var/)?run/secrets/.*|[^/]*\.(?:pem|key|p12|pfx|jks|ppk|kdbx|keytab))",
    re.DOTALL,
)
_GREP_ROW = re.compile(r"(?P<path>[^\0\n]*\0|/[^:\n]*:)(?P<line>\d+:)")
_WHOLE_FILES = frozenset(("cat", "head"))
_MAX_ROW = 1_000_000


class Redactor:
    """``environment``: fnmatch patterns of variable names whose values may be read, in addition to the general ones."""

    def __init__(self, environment: Sequence[str] = ()) -> None:
        self._environment = (*GENERAL_ENVIRONMENT, *environment)

    def result(self, result: CommandResult) -> CommandResult:
        """The same result without secrets. A tail that starts within a line loses that part line: its name may be cut off."""
        rule = self._rule(result.command)
        stdout = result.stdout
        if rule is not None and stdout:
            stdout = _encode(rule(_decode(_from_line_start(result.command, stdout))))
        stderr = _encode(redact_text(_decode(result.stderr))) if result.stderr else b""
        return replace(result, stdout=stdout, stderr=stderr)

    def file(self, path: str, content: bytes) -> bytes:
        """One whole file as fetched."""
        if _SOURCE.fullmatch(path) or not content:
            return content
        if path.startswith("/proc/"):
            return _encode(self._proc_rule(path)(_decode(content)))
        if path.endswith(".dist-info/RECORD"):  # names and digests, many
            return _encode(redact_shapes(_decode(content)))
        if _CREDENTIALS.fullmatch(path):
            return _encode(_redact_credentials(_decode(content)))
        rule = redact_json if path.endswith(".json") else redact_text
        return _encode(rule(_decode(content)))

    async def stream(self, command: Command, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The pieces again, cut at line ends and never within a private key or a block below a secret's name."""
        rule = self._rule(command)
        held = b""
        async for piece in pieces:
            if rule is None:
                yield piece
                continue
            held += piece
            cut = held.rfind(b"\n") + 1
            if cut and len(held) < _MAX_ROW:
                cut = _complete(held[:cut])
            if not cut and len(held) > _MAX_ROW:
                cut = len(held)
            if cut:
                yield _encode(rule(_decode(held[:cut])))
                held = held[cut:]
        if held and rule is not None:
            yield _encode(rule(_decode(held)))

    def _rule(self, command: Command) -> Callable[[str], str] | None:
        """How this command's output is redacted; None is "exactly as it is" (archives, which are redacted file by file)."""
        argv = command.argv
        program = _program(argv)
        if program in _EXACT_PROGRAMS:
            return None
        if program in _NAMES_ONLY:
            return redact_shapes
        if "/proc/[0-9]*/cmdline" in argv:
            return _redact_command_lines
        path = argv[-1]
        if program == "cat" and path.startswith("/proc/"):
            return self._proc_rule(path)
        if program == "grep":
            names = [argv[i + 1] for i, word in enumerate(argv) if word == "-name"]
            return _redact_source if names and all(_SOURCE.fullmatch(name) for name in names) else _redact_hits
        if _CREDENTIALS.fullmatch(path):
            return _redact_credentials
        if program == "curl" or (program in _WHOLE_FILES and path.endswith(".json")):
            return redact_json
        return _redact_source if _SOURCE.fullmatch(path) else redact_text

    def _proc_rule(self, path: str) -> Callable[[str], str]:
        if path.endswith("/environ"):
            return lambda text: "\0".join(redact_environment(text.split("\0"), self._environment))
        if path.endswith("/cmdline"):
            return lambda text: "\0".join(redact_argv(text.split("\0")))
        return redact_text


def _program(argv: Sequence[str]) -> str:
    """What makes the output: of a find, what its last ``-exec`` runs (an earlier one belongs to the test for regular files)."""
    runs = [argv[i + 1] for i, word in enumerate(argv[:-1]) if word == "-exec"]
    return runs[-1] if argv[0] == "find" and runs and argv[-1] != "-print0" else argv[0]


def _from_line_start(command: Command, stdout: bytes) -> bytes:
    argv = command.argv
    whole = argv[0] != "tail" or (not argv[2].startswith("+") and len(stdout) < int(argv[2]))
    if whole:
        return stdout
    cut = stdout.find(b"\n") + 1
    return stdout[cut:] if cut else b""


def _redact_credentials(text: str) -> str:
    return "\n".join(placeholder("credentials") if row.strip() else row for row in text.split("\n"))


def _redact_hits(text: str) -> str:
    """Rows of grep, each with the path of its file."""
    rows = redact_text(text).split("\n")
    for number, row in enumerate(rows):
        hit = _GREP_ROW.match(row)
        if hit and _CREDENTIALS.fullmatch(hit["path"][:-1]):
            rows[number] = hit[0] + placeholder("credentials")
    return "\n".join(rows)


def _complete(held: bytes) -> int:
    """How much of these whole rows can be redacted without those that follow."""
    text = _decode(held)
    return len(_encode(text[: min(open_key(text), open_block(text))]))


def _redact_source(text: str) -> str:
    return redact_text(text, literals_only=True)


def _redact_command_lines(text: str) -> str:
    rows = (row.partition("\0") for row in text.split("\n"))
    return "\n".join(f"{name}{sign}{chr(0).join(redact_argv(rest.split(chr(0))))}" for name, sign, rest in rows)


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

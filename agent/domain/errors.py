"""The one tree of errors; each carries data and reads as one clear line with what to do next.

RcaError
├── UsageError            the call itself is wrong (unknown target, bad option, bad playbook)
│   ├── TargetNotFound    with near misses
│   ├── LaunchRejected    the launch command is one the program itself would refuse
│   └── PlaybookInvalid   with the path of the wrong entry, like ``steps[2].target``
├── HostError             something between here and the host; carries ``host``
│   ├── ConnectFailed     DNS, refused, reset, time-out before login
│   ├── AuthFailed        never retried
│   ├── HostKeyUnknown    stop, unless the policy is accept-new
│   ├── HostKeyChanged    hard stop, with both fingerprints
│   ├── RestrictedHost    logged in, but no shell answers (ForceCommand, sftp-only)
│   ├── CommandTimeout    one read command took too long
│   ├── Truncated         the reply ended before its end frame
│   └── ConnectionLost    keepalive or transport failure in mid-session
├── NotFoundOnHost        no such process, tree, file; carries what was looked for and where
├── StoreError            runs and snapshots on disk
├── ModelError            the language-model endpoint
└── TicketError           the tracker
"""

from __future__ import annotations


class RcaError(Exception):
    """An error a person can act on: ``what`` happened in one line, ``hint`` says what to do."""

    def __init__(self, what: str, *, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.what} ({self.hint})" if self.hint else self.what


class UsageError(RcaError):
    """The call itself is wrong."""


class TargetNotFound(UsageError):
    """No such file, line, symbol or call in the tree."""

    def __init__(self, what: str, *, suggestions: tuple[str, ...] = (), hint: str = "") -> None:
        near = f"did you mean {', '.join(suggestions)}?" if suggestions else hint
        super().__init__(what, hint=near)
        self.suggestions = suggestions


class LaunchRejected(UsageError):
    """The program's own argument parser would refuse this launch command."""

    def __init__(self, what: str, *, path: str = "", line: int = 0, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.path = path
        self.line = line


class PlaybookInvalid(UsageError):
    """A playbook breaks the schema; ``where`` is the path of the wrong entry."""

    def __init__(self, what: str, *, where: str, file: str = "") -> None:
        super().__init__(f"{file}: {where}: {what}" if file else f"{where}: {what}")
        self.where = where
        self.file = file


class HostError(RcaError):
    """Something between here and the host."""

    def __init__(self, what: str, *, host: str, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.host = host


class ConnectFailed(HostError):
    """The TCP connection or the handshake before login failed."""


class AuthFailed(HostError):
    """The host refused every credential; never retried."""


class HostKeyUnknown(HostError):
    """The host's key is in no known_hosts file."""


class HostKeyChanged(HostError):
    """The host shows another key than the recorded one: a hard stop."""

    def __init__(self, what: str, *, host: str, expected: str, actual: str, hint: str = "") -> None:
        super().__init__(what, host=host, hint=hint)
        self.expected = expected
        self.actual = actual


class RestrictedHost(HostError):
    """Login works, yet no shell answers (ForceCommand, sftp-only account)."""


class CommandTimeout(HostError):
    """One read command took longer than its limit, in seconds."""


class Truncated(HostError):
    """A reply ended before its end frame: it is no result."""


class ConnectionLost(HostError):
    """The connection died in mid-session."""


class NotFoundOnHost(RcaError):
    """No such process, tree or file; ``looked_for`` and ``where`` say what was tried."""

    def __init__(self, what: str, *, looked_for: str, where: str = "", hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.looked_for = looked_for
        self.where = where


class StoreError(RcaError):
    """Runs or snapshots on disk cannot be read or written."""


class ModelError(RcaError):
    """The language-model endpoint cannot be used."""


class TicketError(RcaError):
    """The tracker refused; ``status`` is its HTTP status, 0 where there was no answer."""

    def __init__(self, what: str, *, status: int = 0, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.status = status

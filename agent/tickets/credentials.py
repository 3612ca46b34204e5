"""Where tokens come from: the environment or the keyring, each bound to the host it was made for; never from a command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from agent.domain.errors import TicketError

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """``user`` is empty where the token alone is enough. The value is in no repr, so in no log and no traceback."""

    value: str = field(repr=False)
    user: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A tracker's variables: ``tokens`` hold the token, ``homes`` say which server it is for, ``public`` is the one without any."""

    tokens: tuple[str, ...]
    homes: tuple[str, ...]
    public: str = ""
    user: str = ""

    def home(self, environ: Mapping[str, str]) -> str:
        """The configured server as ``scheme://host[:port][/path]``, the public one else, "" where there is none."""
        given = next((environ[name] for name in self.homes if environ.get(name)), "")
        if given and "://" not in given:
            given = f"https://{given}"
        return (given or (f"https://{self.public}" if self.public else "")).rstrip("/")

    def token(self, base: str, environ: Mapping[str, str]) -> Token:
        """The token for the server at ``base``. Raises TicketError: a token is never sent to a server it was not given for."""
        host = urlsplit(base).netloc
        self._check_scheme(base, environ)
        given = next((environ[name] for name in self.tokens if environ.get(name)), "")
        if given and self._is_home(host, environ):
            return Token(value=given, user=environ.get(self.user, "") if self.user else "")
        kept = _from_keyring(host)
        if kept is not None:
            return kept
        raise TicketError(self._missing(host, bool(given), environ), hint=self._advice(base, bool(given)))

    def _is_home(self, host: str, environ: Mapping[str, str]) -> bool:
        return host == urlsplit(self.home(environ)).netloc or (host == self.public != "")

    def _missing(self, host: str, given: bool, environ: Mapping[str, str]) -> str:
        if given:
            meant = urlsplit(self.home(environ)).netloc or "no server in particular"
            return f"{self.tokens[0]} is meant for {meant}; it is not sent to {host}"
        return f"no token for {host}"

    def _advice(self, base: str, given: bool) -> str:
        host = urlsplit(base).netloc
        server = f"set {self.homes[0]}={urlsplit(base).scheme}://{host}" if self.homes else ""
        own = server if given else f"set {self.tokens[0]}" + (f" and {server}" if server and host != self.public else "")
        return f"{own}, or store one with `keyring set rca:{host} USER`"

    def _check_scheme(self, base: str, environ: Mapping[str, str]) -> None:
        parts = urlsplit(base)
        if parts.scheme == "https" or parts.hostname in _LOOPBACK or self.home(environ).startswith(f"http://{parts.netloc}"):
            return
        raise TicketError(f"{base}: a token would cross the network in the clear", hint="use the https:// address")


def _from_keyring(host: str) -> Token | None:
    """The entry ``rca:HOST``; None where there is none, no keyring library, or no keyring that answers."""
    try:
        import keyring
        import keyring.errors
    except ImportError:
        return None
    try:
        entry = keyring.get_credential(f"rca:{host}", None)
    except (keyring.errors.KeyringError, RuntimeError):
        return None
    return None if entry is None else Token(value=entry.password, user=entry.username or "")

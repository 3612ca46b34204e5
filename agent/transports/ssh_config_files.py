"""Looking into ssh_config files without interpreting them: whether ``ssh -G`` has to be asked at all, and whether for every host anew.

``ssh -G`` takes 10 ms of a processor; for 200 hosts that is as much as their logins.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

Setting = tuple[str, str]
_DEPTH = 4
# Settings that change nothing about where and how this program logs in.
_OF_NO_MATTER = frozenset(
    "host sendenv setenv hashknownhosts gssapiauthentication gssapidelegatecredentials serveraliveinterval serveralivecountmax forwardagent"
    " forwardx11 forwardx11trusted compression loglevel addkeystoagent controlmaster controlpersist visualhostkey tcpkeepalive"
    " stricthostkeychecking permitlocalcommand updatehostkeys escapechar localforward remoteforward dynamicforward requesttty".split()
)
_UNREADABLE: Setting = ("unreadable", "")


def settings_in(files: Sequence[Path], depth: int = 0) -> Iterator[Setting]:
    """Every keyword (lower case) with its value, in order, included files in their place; a missing file is empty."""
    for path in files:
        try:
            lines = path.read_text("utf-8").splitlines()
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError):
            yield _UNREADABLE
            continue
        for line in lines:
            keyword, _, value = line.strip().replace("=", " ", 1).partition(" ")
            if keyword.lower() == "include" and depth < _DEPTH:
                for pattern in value.split():
                    place = path.parent / os.path.expanduser(pattern)
                    yield from settings_in(sorted(place.parent.glob(place.name)), depth + 1)
            elif keyword and not keyword.startswith("#"):
                yield keyword.lower(), value.strip()


def says_nothing(settings: Sequence[Setting]) -> bool:
    """Whether nothing in them matters here: ``ssh -G`` would give the defaults."""
    return all(keyword in _OF_NO_MATTER for keyword, _ in settings)


def says_the_same_of_all(settings: Sequence[Setting]) -> bool:
    """Whether the answer for one host holds for every other: no blocks for some hosts, no tokens, no names rewritten."""
    return not any(keyword in _ABOUT_NAMES or "%" in value or (keyword == "host" and value != "*") for keyword, value in settings)


_ABOUT_NAMES = frozenset(("match", "hostname", "canonicalizehostname", "canonicaldomains", "include", _UNREADABLE[0]))

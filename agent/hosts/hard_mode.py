"""Hard mode: shells that see every file system of the host mounted read-only, in a mount namespace of their own.

The third layer of read-only, for who wants the kernel to refuse even an empty file. It needs ``unshare`` and ``mount`` on the host
and, for accounts other than root, user namespaces; such an account then reads only what its own user id may. Nothing of it is seen
outside the shell's own namespace, and it ends with the shell.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.hosts.shell import quote

# Mounts are made read-only one by one: a remount does not reach those below. Where a usual place stays writable, the shell ends.
_SCRIPT = """\
while read -r d m rest;do mount -o remount,bind,ro "$(printf %b "$m")" 2>/dev/null;done </proc/self/mounts
for d in / /tmp /var/tmp "$HOME" "$PWD";do [ -w "$d" ]&&{ echo "$d could not be made read-only" >&2;exit 1;};done
exec """
_START = 'if [ "$(id -u)" = 0 ];then exec unshare -m /bin/sh -c {script};else exec unshare -Urm /bin/sh -c {script};fi'


def harden(shells: Sequence[str]) -> tuple[str, ...]:
    """Commands that start the same shells in hard mode. Containers are left as they are: their engine starts them from outside."""
    return tuple(shell if "exec -i" in shell else _hardened(shell) for shell in shells)


def _hardened(shell: str) -> str:
    start = _START.format(script=quote(_SCRIPT + shell.removeprefix("exec ")))
    return f"exec /bin/sh -c {quote(start)}"

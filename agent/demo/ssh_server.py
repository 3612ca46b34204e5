"""An SSH server on loopback with throw-away keys that runs this machine's ``/bin/sh`` for whoever holds its one user key."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agent.domain.launch import HostSpec

_USER = "demo"
_PIECE = 256 * 1024


@asynccontextmanager
async def serving() -> AsyncIterator[HostSpec]:
    """The server, its keys and its known_hosts end with the context."""
    with tempfile.TemporaryDirectory(prefix="rca-demo-keys-") as folder:
        async with _serving(Path(folder)) as spec:
            yield spec


@asynccontextmanager
async def _serving(folder: Path) -> AsyncIterator[HostSpec]:
    import asyncssh

    host_key, user_key = asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ssh-ed25519")
    identity, known_hosts = folder / "id_ed25519", folder / "known_hosts"
    user_key.write_private_key(identity)
    identity.chmod(0o600)
    server = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_host_keys=[host_key],
        authorized_client_keys=asyncssh.import_authorized_keys(user_key.export_public_key().decode()),
        process_factory=_serve_shell,
        encoding=None,
        gss_host=None,
    )
    port = server.get_port()
    known_hosts.write_text(f"[127.0.0.1]:{port} {host_key.export_public_key().decode()}", encoding="ascii")
    try:
        yield HostSpec(name="127.0.0.1", port=port, user=_USER, identities=(str(identity),), known_hosts=str(known_hosts))
    finally:
        server.close()
        await server.wait_closed()


async def _serve_shell(process: Any) -> None:
    """One session: its command in a shell of its own, which does not outlive it."""
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", process.command or "exec /bin/sh", stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    feeding = asyncio.create_task(_feed(process.stdin, child.stdin))
    try:
        await asyncio.gather(_drain(child.stdout, process.stdout), _drain(child.stderr, process.stderr))
        process.exit(max(await child.wait(), 0))
    except (OSError, EOFError):  # the client is gone
        process.close()
    finally:
        feeding.cancel()
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            await child.wait()


async def _feed(source: Any, shell: Any) -> None:
    """What the client sends; its end, or its loss, ends the shell's input."""
    with contextlib.suppress(OSError, EOFError):
        while piece := await source.read(_PIECE):
            shell.write(piece)
            await shell.drain()
    shell.close()


async def _drain(shell: Any, sink: Any) -> None:
    while piece := await shell.read(_PIECE):
        sink.write(piece)
        await sink.drain()

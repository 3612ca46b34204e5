"""Which keys ssh(1) may offer: where they are more than a server bears, the same five that the other transports would."""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
from pathlib import Path

from agent.transports.credentials import last_good, public_blob
from agent.transports.ssh_config import Target
from agent.transports.ssh_options import SshOptions


async def limited(target: Target, options: SshOptions, directory: Path) -> list[str]:
    """Arguments that leave the agent's keys out which are too many; none where all may be offered.

    ssh offers an agent's keys before the files, and a server hangs up at MaxAuthTries. It takes a key from the agent by a file that holds
    the public half, which is written to ``directory``.
    """
    in_agent = await _agents_keys(target)
    files = {public_blob(path) or path.encode() for path in target.identities}
    others = [blob for blob in in_agent if blob not in files]
    if len(files) + len(others) <= options.key_limit or target.identities_only:
        return []
    good = last_good(options, target)
    others.sort(key=lambda blob: blob != good)
    arguments = ["-o", "IdentitiesOnly=yes"]
    for number, blob in enumerate(others[: max(options.key_limit - len(files), 0)]):
        path = directory / f"key{number}.pub"
        size = int.from_bytes(blob[:4], "big")
        path.write_bytes(blob[4 : 4 + size] + b" " + base64.b64encode(blob) + b"\n")
        arguments += ["-i", str(path)]
    return arguments


async def _agents_keys(target: Target) -> list[bytes]:
    """Public keys that the agent holds; none where there is no agent or no ssh-add to ask it with."""
    path = target.agent or os.environ.get("SSH_AUTH_SOCK", "")
    if not path or path == "none":
        return []
    try:
        process = await asyncio.create_subprocess_exec(
            "ssh-add", "-L", stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "SSH_AUTH_SOCK": path},
        )  # fmt: skip
    except OSError:
        return []
    said, _ = await process.communicate()
    found = []
    for row in said.splitlines() if process.returncode == 0 else ():
        try:
            found.append(base64.b64decode(row.split()[1], validate=True))
        except (binascii.Error, IndexError):
            continue
    return found

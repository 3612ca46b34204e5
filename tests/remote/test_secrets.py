"""Thirty planted secrets: in flags, environment, configuration, logs, addresses. None leaves the host; a stable placeholder does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.domain.command import CommandResult
from agent.domain.errors import RestrictedHost
from agent.domain.redaction import is_redacted, redact_text
from agent.hosts import commands
from agent.hosts.audit import AuditLog
from agent.hosts.redact import Redactor
from tests.remote.conftest import Connect
from tests.sshd import Sshd, serving


def secret(number: int) -> str:
    """Unmistakable, and of no known shape."""
    return f"Zq{number:02d}wK8vX3-tP{number:02d}"


UUID = "7f9c24e5-2b1a-4c3d-9e8f-0123456789ab"
PEM = ["-----BEGIN RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEAsecretsecret01", "c2VjcmV0c2VjcmV0c2VjcmV002", "-----END RSA PRIVATE KEY-----"]


@dataclass(frozen=True, slots=True)
class Planted:
    pid: int
    root: Path
    secrets: tuple[str, ...]


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[Planted]:
    root = tmp_path / "model"
    root.mkdir()
    s = secret
    (root / "config.json").write_text(
        json.dumps({
            "hidden_size": 7168, "eos_token": "</s>", "api_key": s(1), "auth": {"user": "someone", "value": s(2)},
            "tokens": {"hf_token": s(3)},
            "endpoint": f"https://svc:{s(4)}@example.com/v1", "api_keys": [s(5), s(6)], "license_key_id": UUID, "note": f"Bearer {s(7)}",
        }, indent=2)
    )  # fmt: skip
    (root / "settings.yaml").write_text(f"port: 8000\npassword: {s(8)}\nclient_secret: '{s(9)}'\nredis: redis://:{s(10)}@cache/0\n")
    (root / ".env").write_text(f'HF_TOKEN={s(11)}\nexport WANDB_API_KEY="{s(12)}"\n')
    rows = [
        f"ServerArgs(model_path='/m', api_key='{s(13)}', max_total_tokens=4096)",
        f"{{'admin_api_key': '{s(14)}', 'tp_size': 8}}",
        f"GET https://example.com/x?token={s(15)}&page=2",
        f"authorization: Bearer {s(16)}",
        f"X-Api-Key: {s(17)}",
        f"Cookie: session={s(18)}; theme=dark",
        "key loaded:",
        *PEM,
        f'escaped {{\\"secret_key\\": \\"{s(19)}\\"}}',
        "token sk-" + s(20).replace("-", "") + "abcdef",
        "Decode batch, #token: 12, accept len: 1.00",
    ]
    (root / "server.log").write_text("\n".join(rows * 40) + "\n")
    (root / "start.py").write_text(f"client = connect(api_key='{s(21)}')\n")
    flags = [
        "--api-key",
        s(22),
        f"--hf-token={s(23)}",
        "--header",
        f"Authorization: Bearer {s(24)}",
        "--db",
        f"postgresql://u:{s(25)}@db/x",
        "--port",
        "8000",
    ]
    environment = {
        "PATH": os.environ["PATH"],
        "HF_TOKEN": s(26),
        "MY_SETTING": s(27),
        "NCCL_DEBUG": "INFO",
        "NCCL_SECRET": s(28),
        "CUDA_URL": f"http://u:{s(29)}@h",
    }
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()", *flags], env=environment, stdin=subprocess.PIPE)
    plain = [s(number) for number in range(1, 30) if number != 20] + [s(20).replace("-", "")]
    yield Planted(process.pid, root, (*plain, UUID, *PEM[1:3]))
    process.kill()
    process.wait()
    assert process.stdin is not None
    process.stdin.close()


async def test_no_secret_leaves_the_host(planted: Planted, sshd: Sshd, tmp_path: Path, connect: Connect) -> None:
    audit = tmp_path / "audit.jsonl"
    host = await connect("asyncssh", sshd.spec(), audit=AuditLog(audit), cache_dir=tmp_path / "cache")
    root, log = planted.root, str(planted.root / "server.log")
    reads = [
        commands.proc_file(planted.pid, "cmdline"), commands.proc_file(planted.pid, "environ"), commands.command_lines(), commands.ps(),
        commands.read_bytes(str(root / "config.json")), commands.read_bytes(str(root / "settings.yaml")), commands.read_bytes(log),
        commands.tail_bytes(log, 3000), commands.read_bytes(log, offset=777, size=3000), commands.lines(log, 1, 300),
        commands.grep("Bearer", [str(root)], include=()), commands.grep("e", [log], include=(), as_text=True),
        commands.grep("api_key", [str(root)]), commands.lines(str(root / "start.py"), 1, 1), commands.lines(str(root / ".env"), 1, 9),
        commands.grep(f"--token {secret(22)}", [str(root)], include=(), fixed=True),
    ]  # fmt: skip
    answers = await host.batch(reads)
    results = [answer for answer in answers if isinstance(answer, CommandResult)]
    assert len(results) == len(reads)
    fetched = await host.fetch(
        [str(root / name) for name in ("config.json", "settings.yaml", ".env", "server.log")] + [f"/proc/{planted.pid}/environ"]
    )
    streamed = b"".join([piece async for piece in host.stream(commands.read_bytes(log))])
    outputs = {f"read {number}": result.stdout + result.stderr for number, result in enumerate(results)}
    outputs |= {path: content for path, content in fetched.items() if isinstance(content, bytes)} | {"stream": streamed}
    outputs["audit"] = audit.read_bytes()
    for name, content in outputs.items():
        leaked = [word for word in planted.secrets if word.encode() in content]
        assert leaked == [], name
    assert all(b"<redacted:" in outputs[name] for name in ("read 0", "read 1", "read 4", "read 6", "stream"))

    config = json.loads(outputs[str(root / "config.json")])
    assert (config["hidden_size"], config["eos_token"]) == (7168, "</s>")
    assert config["api_key"] == "<redacted:api-key>"
    assert all(
        is_redacted(word) for word in (config["auth"]["value"], config["tokens"]["hf_token"], config["license_key_id"], *config["api_keys"])
    )
    environment = dict(item.split("=", 1) for item in outputs["read 1"].decode().rstrip("\0").split("\0"))
    assert environment["NCCL_DEBUG"] == "INFO"
    assert environment["HF_TOKEN"] == "<redacted:hf-token>"
    argv = commands.parse_command_lines(results[2])[planted.pid]
    assert argv[-2:] == ("--port", "8000")
    assert argv[3:6] == ("--api-key", "<redacted:api-key>", "--hf-token=<redacted:hf-token>")
    assert b"accept len: 1.00" in streamed


async def test_placeholders_are_the_same_every_time(planted: Planted, sshd: Sshd, connect: Connect) -> None:
    host = await connect("asyncssh", sshd.spec())
    read = commands.read_bytes(str(planted.root / "server.log"))
    first, second = await host.batch([read, read])
    assert isinstance(first, CommandResult) and isinstance(second, CommandResult)
    assert first.stdout == second.stdout
    assert first.stdout == b"".join([piece async for piece in host.stream(read)])


async def test_source_keeps_its_bytes_in_the_snapshot_alone(planted: Planted, sshd: Sshd, tmp_path: Path, connect: Connect) -> None:
    host = await connect("asyncssh", sshd.spec(), cache_dir=tmp_path / "cache")
    tree = await host.sync_tree(str(planted.root), [])
    assert secret(21).encode() in tree.read("start.py")  # type: ignore[operator]
    cached = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert all(path.stat().st_mode & 0o077 == 0 for path in cached if path.name != "lock")
    assert [word for word in planted.secrets for path in cached if word.encode() in path.read_bytes()] == [secret(21)]


CREDENTIALS = (".netrc", ".pgpass", "id_ed25519", "server.key", ".aws/credentials", ".kube/config", "run/secrets/x")


@pytest.mark.parametrize("name", CREDENTIALS)
async def test_a_file_of_credentials_shows_nothing(name: str, sshd: Sshd, tmp_path: Path, connect: Connect) -> None:
    """Not even what looks harmless in it."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("db:5432:prod:svc:correct horse\nrow 2\n")
    host = await connect("asyncssh", sshd.spec())
    reads = [commands.read_bytes(str(path)), commands.lines(str(path), 1, 2), commands.tail_bytes(str(path))]
    answers = [*await host.batch([*reads, commands.grep("r", [str(tmp_path)], include=())])]
    shown = b"".join(answer.stdout for answer in answers if isinstance(answer, CommandResult))
    fetched = (await host.fetch([str(path)]))[str(path)]
    streamed = b"".join([piece async for piece in host.stream(reads[0])])
    assert isinstance(fetched, bytes) and b"<redacted:credentials>" in shown
    assert not [word for word in (b"horse", b"prod", b"row 2") if word in shown + fetched + streamed]


async def test_a_secret_in_a_files_name(sshd: Sshd, tmp_path: Path, connect: Connect) -> None:
    token = "hf_" + "Ab1" * 12
    (tmp_path / token).mkdir()
    (tmp_path / token / "config.json").write_text("{}")
    (tmp_path / "link").symlink_to(tmp_path / token)
    host = await connect("asyncssh", sshd.spec())
    reads = [commands.find([str(tmp_path)]), commands.stat([str(tmp_path / token)]), commands.list_dir(str(tmp_path)),
             commands.readlink(str(tmp_path / "link")), commands.sha256([str(tmp_path / token / "config.json")])]  # fmt: skip
    for answer in await host.batch(reads):
        assert isinstance(answer, CommandResult)
        assert token.encode() not in answer.stdout and b"<redacted:token>" in answer.stdout


BLOCK = (
    "x: 1\napi_keys:\n  - {s}\n  - {s}\nauth:\n  deep:\n    a: b\n  value: {s}\n"
    "-----BEGIN PRIVATE KEY-----\n{s}\n-----END PRIVATE KEY-----\nend: 1\n"
)


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("size", [1, 2, 7, 30])
async def test_a_block_that_arrives_in_pieces(size: int, ends: str) -> None:
    text = BLOCK.replace("{s}", "plainword").replace("\n", ends)

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(text), size):
            yield text[at : at + size].encode()

    read = commands.read_bytes("/a/settings.yaml")
    streamed = b"".join([piece async for piece in Redactor().stream(read, pieces())]).decode()
    assert "plainword" not in streamed
    assert streamed == redact_text(text)


async def test_what_an_account_without_a_shell_says_is_redacted(tmp_path: Path, connect: Connect) -> None:
    with serving(tmp_path, more=f"ForceCommand echo 'closed; password={secret(1)}'\n") as sshd:
        host = await connect("asyncssh", sshd.spec())
        with pytest.raises(RestrictedHost) as caught:
            await host.run(commands.uname())
    assert "closed" in caught.value.what and secret(1) not in caught.value.what

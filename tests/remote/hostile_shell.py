"""A shell that lies: it reads the prelude, so it knows the nonce, and answers each request as its first argument says."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import zlib


def out(raw: bytes) -> None:
    os.write(1, raw)


def both(raw: bytes) -> None:
    os.write(1, raw)
    os.write(2, raw)


def endless(raw: bytes, stream: int) -> None:
    while True:
        os.write(stream, raw)


def bomb() -> bytes:
    """Three hundred megabytes of zeros in three hundred kilobytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(10_000_000)) for _ in range(30)) + packer.flush()


def answer(way: str, nonce: bytes, number: bytes, line: bytes) -> None:
    frame = nonce + b" " + number + b" 0\n"
    match way:
        case "status":
            both(nonce + b" " + number + " ²\n".encode())
        case "long status":
            both(nonce + b" " + number + b" " + b"9" * 5000 + b"\n")
        case "another number":
            both(nonce + b" 7 0\n")
        case "twice":
            both(frame + frame)
        case "ready again":
            both(nonce + b" ready pid=1 pg=1\n" + frame)
        case "endless":
            endless(b"x" * 60_000, 1)
        case "endless problems":
            endless(b"x\n" * 30_000, 2)
        case "endless frame":
            endless(nonce + b" 1 " + b"0" * 60_000, 1)
        case "garbage":
            out(b"\xff\xfe\x1b]0;x\x07 1 2 3 4 5 6 7 8 9\n" * 50)
            both(frame)
        case "vanish":
            out(b"half an ans")
            os._exit(0)
        case "bomb" if line.startswith(b"z "):
            out(bomb())
            both(frame)
        case "rows" if b"stat" in line:
            out(b"81a4 10 1 1 1 1 0 0 /r/p/a.py\nz y x w v u t s r q\n" + b"9" * 5000 + b" 1 1 1 1 1 0 0 /r/p/b.py\n")
            both(frame)
        case _:
            out(b"not a number\n")
            both(frame)


def main() -> None:
    way = sys.argv[1]
    if way == "endless noise":
        endless(b"welcome\n" * 8000, 1)
    nonce = b""
    for line in sys.stdin.buffer:
        if found := re.match(rb"n=([0-9a-f]+)$", line):
            nonce = found[1]
        elif line.startswith(b'echo "$n ready $r"'):
            tail = (
                "pid=² pg=" + "9" * 5000 + " uid=x zstd=0 gzip=1 kernel=\x1b[31mevil"
                if way == "features"
                else "pid=0 pg=0 uid=0 gzip=1 kernel=k"
            )
            both(nonce + b" ready " + tail.encode() + b"\n")
        elif nonce and (asked := re.match(rb"[qgcz] (\d+) ", line)):
            answer(way, nonce, asked[1], line)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()

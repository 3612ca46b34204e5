"""Laws of the archive reader: however the stream is cut the files are the same, and no stream makes it raise but at its end."""

from __future__ import annotations

import contextlib
import hashlib
import io
import tarfile
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.hosts.archive import Archive, BadArchive, unpack

FILES = st.dictionaries(
    st.text("abc/éx", min_size=1, max_size=150).map(lambda name: f"r/{name.strip('/')}x"), st.binary(max_size=2000), max_size=6
)


def packed(files: dict[str, bytes], form: int = tarfile.GNU_FORMAT) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=form) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return raw.getvalue()


@given(FILES, st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]), st.integers(1, 3000))
def test_any_split_gives_the_files_with_their_digests(files: dict[str, bytes], form: int, size: int) -> None:
    raw = packed(files, form) * 2  # archives may follow each other
    archive = Archive()
    for at in range(0, len(raw), size):
        archive.feed(raw[at : at + size])
    archive.finish()
    assert archive.files == files == unpack(raw)
    assert archive.digests == {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


@given(st.lists(st.binary(max_size=1500), max_size=6))
def test_no_stream_breaks_it(pieces: list[bytes]) -> None:
    archive = Archive()
    for piece in pieces:
        archive.feed(piece)
    with contextlib.suppress(BadArchive):
        archive.finish()
    assert archive.files.keys() == archive.digests.keys()


def test_a_stream_that_ends_early_is_told() -> None:
    raw = packed({"a": b"x" * 5000})
    archive = Archive()
    archive.feed(raw[:2000])
    with pytest.raises(BadArchive, match="'a'"):
        archive.finish()


def test_a_large_member_is_not_copied_with_every_piece() -> None:
    raw = packed({"a": bytes(30_000_000)})
    archive = Archive()
    began = time.process_time()
    for at in range(0, len(raw), 4096):
        archive.feed(raw[at : at + 4096])
    archive.finish()
    assert len(archive.files["a"]) == 30_000_000
    assert time.process_time() - began < 5, "joined with each of 7,000 pieces it takes a minute"

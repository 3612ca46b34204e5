"""Laws of framing: however the bytes are split the same pieces come out, and no output can forge a frame."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from agent.hosts.frames import Frame, FrameParser, new_nonce

NONCE = b"0123456789abcdef01234567"
OTHER = b"fedcba9876543210fedcba98"
_noise = st.one_of(
    st.binary(max_size=80),
    st.sampled_from([NONCE[:5], NONCE[:-1], NONCE[:12] + NONCE[:12], OTHER + b" 1 0\n", b" 1 0\n", b"\n", NONCE[1:]]),
)
_outputs = st.lists(_noise, max_size=5).map(b"".join).filter(lambda raw: NONCE not in raw and not _ends_like_nonce(raw))


def _ends_like_nonce(raw: bytes) -> bool:
    """An output whose end and the frame's beginning make the nonce start earlier: the nonce overlaps itself nowhere, so never."""
    return NONCE in (raw + NONCE)[: len(raw) + len(NONCE) - 1]


def _read(chunks: list[bytes]) -> tuple[list[tuple[bytes, int, str]], bytes]:
    parser, payload, found = FrameParser(NONCE), b"", []
    for chunk in chunks:
        for piece in parser.feed(chunk):
            if isinstance(piece, Frame):
                found.append((payload, piece.id, piece.tail))
                payload = b""
            else:
                assert piece
                payload += piece
    return found, payload + parser.held


def _split(raw: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(raw) + 1) for cut in cuts), len(raw)]
    return [raw[a:b] for a, b in pairwise(edges)]


@given(
    outputs=st.lists(_outputs, max_size=6),
    statuses=st.lists(st.integers(0, 255), min_size=6, max_size=6),
    rest=_outputs,
    cuts=st.lists(st.integers(0, 10**6), max_size=40),
)
def test_any_split_gives_the_same_replies(outputs: list[bytes], statuses: list[int], rest: bytes, cuts: list[int]) -> None:
    raw = b"".join(b"%s%s %d %d\n" % (output, NONCE, number, statuses[number]) for number, output in enumerate(outputs)) + rest
    found, left = _read(_split(raw, cuts))
    assert found == [(output, number, str(statuses[number])) for number, output in enumerate(outputs)]
    assert left == rest


@given(output=_outputs, cuts=st.lists(st.integers(0, 10**6), max_size=20))
def test_no_output_makes_a_frame(output: bytes, cuts: list[int]) -> None:
    found, left = _read(_split(output, cuts))
    assert found == [] and left == output


@given(
    before=_outputs,
    tail=st.text(alphabet=st.characters(exclude_characters="\n", codec="ascii"), max_size=60),
    cuts=st.lists(st.integers(0, 999), max_size=9),
)
def test_the_ready_frame_keeps_its_features(before: bytes, tail: str, cuts: list[int]) -> None:
    found, _ = _read(_split(b"%s%s ready %s\n" % (before, NONCE, tail.encode()), cuts))
    assert found == [(before, -1, tail)]


@given(after=st.binary(max_size=60), cuts=st.lists(st.integers(0, 999), max_size=9))
def test_the_nonce_alone_is_payload(after: bytes, cuts: list[int]) -> None:
    """A shell that echoes what it is told shows the nonce, but never in the form of a frame."""
    raw = b"n=" + NONCE + b"\n" + after.replace(NONCE, b"")
    found, left = _read(_split(raw, cuts))
    assert found == [] and left == raw


def test_nonces_are_fresh_and_long() -> None:
    drawn = {new_nonce() for _ in range(1000)}
    assert len(drawn) == 1000
    assert all(len(nonce) == 24 for nonce in drawn)

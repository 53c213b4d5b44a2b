"""The control channel's host side takes any bytes: it gives frames, or says that there are none."""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.sandbox.guest.wire import FROM_GUEST, BadFrame, Bounds, Decoder, Frame, encode_frame

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
headers = st.dictionaries(st.text().filter(lambda key: key != "parts"), json_values, max_size=5)
ROOMY = Bounds(1 << 20, 1 << 20)


def drain(decoder: Decoder) -> list[Frame]:
    frames = []
    while (frame := decoder.find_frame()) is not None:
        frames.append(frame)
    return frames


@given(st.lists(st.tuples(headers, st.lists(st.binary(max_size=64), max_size=3)), max_size=4), st.data())
def test_frames_survive_any_cutting_of_the_stream(frames: list, data: st.DataObject) -> None:  # type: ignore[type-arg]
    stream = b"".join(encode_frame(header, parts) for header, parts in frames)
    decoder, got = Decoder(ROOMY), []
    while stream:
        cut = data.draw(st.integers(1, len(stream)))
        decoder.add_bytes(stream[:cut])
        stream = stream[cut:]
        got += drain(decoder)
    assert [(frame.header, list(frame.parts)) for frame in got] == frames


@given(st.binary(max_size=400))
def test_rubbish_is_refused_or_waited_for_and_never_crashes(rubbish: bytes) -> None:
    decoder = Decoder(FROM_GUEST)
    decoder.add_bytes(rubbish)
    try:
        drain(decoder)
    except BadFrame:
        return


@given(st.binary(max_size=200), st.binary(max_size=50))
def test_a_well_framed_lie_is_refused_or_decoded(header: bytes, body: bytes) -> None:
    decoder = Decoder(ROOMY)
    decoder.add_bytes(struct.pack("!II", len(header), len(body)) + header + body)
    try:
        drain(decoder)
    except BadFrame:
        return


def test_a_length_over_the_bound_is_refused_before_anything_is_read() -> None:
    decoder = Decoder(FROM_GUEST)
    decoder.add_bytes(struct.pack("!II", 0xFFFFFFFF, 0))
    with pytest.raises(BadFrame, match="bound"):
        decoder.find_frame()


@pytest.mark.parametrize(
    "header",
    [
        "[]",
        "1",
        "{}",
        '{"parts": 1}',
        '{"parts": [-1]}',
        '{"parts": [true]}',
        '{"parts": [1]}',
        "[" * 100_000,
    ],
)
def test_a_header_that_is_not_one_is_refused(header: str) -> None:
    decoder = Decoder(ROOMY)
    decoder.add_bytes(struct.pack("!II", len(header), 0) + header.encode())
    with pytest.raises(BadFrame):
        decoder.find_frame()


def test_lone_surrogates_and_nul_travel() -> None:
    decoder = Decoder(ROOMY)
    decoder.add_bytes(encode_frame({"a": "\ud800\0"}))
    frame = decoder.find_frame()
    assert frame is not None
    assert frame.header == {"a": "\ud800\0"}
    assert json.dumps(frame.header)

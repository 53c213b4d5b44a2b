"""What a supervisor sends its guest arrives as it was sent, in whatever pieces; the rest is dropped."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.sandbox.guest.inbox import Inbox, encode_message

TEXTS = st.text(st.characters(codec=None))  # lone surrogates among them
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.lists(st.binary(max_size=300), max_size=3), st.integers(1, 40))
def test_a_message_arrives_in_pieces(value: object, parts: list[bytes], size: int) -> None:
    data = encode_message({"kind": "other"}, [b"dropped"]) + encode_message(
        {"kind": "job", "value": value}, parts
    )
    ours, theirs = os.pipe()
    inbox = Inbox(ours)
    inbox.add_bytes(data[:size])
    os.write(theirs, data[size:])
    os.close(theirs)
    assert inbox.wait_for_message("job") == ({"kind": "job", "value": value}, tuple(parts))
    with pytest.raises(EOFError):
        inbox.wait_for_message("job")
    os.close(ours)


def test_messages_keep_their_order() -> None:
    inbox = Inbox(-1)
    inbox.add_bytes(b"".join(encode_message({"kind": "step", "step": step}) for step in range(3)))
    assert [inbox.wait_for_message("step")[0]["step"] for _ in range(3)] == [0, 1, 2]

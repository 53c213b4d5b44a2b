"""The recorded calls of one run, each given once.

In: calls as a program makes them. Out: the answer of the first recorded call that matches and was not yet
given, or None. A call made more often than it was recorded is not recorded: the same answer again would be a
guess, and a replay that calls more often than its record has diverged.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from spanproof.sandbox.guest.wire import FROM_HOST, Decoder, Header, encode_frame
from spanproof.sandbox.model import Exchange
from spanproof.sandbox.supervisor.tape.urls import Url, read_url


class Recording:
    """Exchanges by what they answer."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._left: defaultdict[tuple[str, str], deque[Exchange]] = defaultdict(deque)
        # Of all calls, in order.
        self.urls: list[Url] = []
        for exchange in exchanges:
            url = read_url(exchange.url)
            self.urls.append(url)
            self._left[exchange.method, str(url)].append(exchange)

    def find_exchange(self, method: str, url: Url, body: bytes) -> Exchange | None:
        """Return the first unused exchange of this request, and use it up; None where there is none."""
        waiting = self._left.get((method, str(url)), ())
        for exchange in waiting:
            if exchange.request_body is None or exchange.request_body == body:
                self._left[method, str(url)].remove(exchange)
                return exchange
        return None


def encode_recording(exchanges: Sequence[Exchange], identity: Header) -> bytes:
    """Pack exchanges, and the `identity` of their server, as one part of a job."""
    rows: list[list[object]] = []
    parts: list[bytes] = []
    for one in exchanges:
        rows.append([one.method, one.url, one.status, one.headers, one.request_body is not None])
        parts += [one.body, one.request_body or b""]
    return encode_frame({"exchanges": rows, "identity": identity}, parts)


def decode_recording(data: bytes) -> tuple[list[Exchange], Header]:
    """Return what `pack` made, on the supervisor's side."""
    decoder = Decoder(FROM_HOST)
    decoder.add_bytes(data)
    frame = decoder.find_frame()
    assert frame is not None, "the host sends whole frames"
    exchanges = []
    for index, (method, url, status, headers, has_request) in enumerate(frame.header["exchanges"]):
        body, request = frame.parts[2 * index : 2 * index + 2]
        pairs = tuple((str(name), str(value)) for name, value in headers)
        exchanges.append(Exchange(method, url, status, pairs, body, request if has_request else None))
    identity: Header = frame.header["identity"]
    return exchanges, identity

"""Requests to the products, and what their answers mean for the queue."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Protocol

import httpx

from spanproof.collector.sinks.score import Item


class Unavailable(Exception):  # noqa: N818 - says what happened
    """The product cannot take anything now: all of it is tried again.

    Attributes:
        retry_after_s: how long it wants to be left alone; 0 where it does not say.
    """

    def __init__(self, message: str, retry_after_s: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Refused(Exception):  # noqa: N818 - says what happened
    """The product will never take this request."""


class NotThere(Exception):  # noqa: N818 - says what happened
    """The product does not have the span yet that the score is about."""


class Adapter(Protocol):
    """Speaks one product's API.

    Attributes:
        batch: most items of one `send`.
    """

    batch: int

    def send(self, client: httpx.Client, items: Sequence[Item]) -> None:
        """Send these to the product, so that sending them again changes nothing.

        Raises:
            Unavailable: nothing can be taken now.
            Refused: one of them will never be taken.
            NotThere: the span of one of them is not known yet.
        """

    def fetch_status(self, client: httpx.Client) -> str:
        """Return what answers, in a sentence, without changing anything.

        Raises:
            Unavailable: nothing answers, or the key is not accepted.
            Refused: what answers does not know the request.
            NotThere: it has no such project.
        """


def send_request(
    client: httpx.Client, method: str, path: str, *, missing_is_late: bool = False, **named: Any
) -> httpx.Response:
    """Send a request and return its answer, where that is a success.

    Args:
        client: with the product's address and credentials.
        method: of the request.
        path: below the address.
        named: further arguments of `httpx.Client.request`.
        missing_is_late: whether 404 says that a span has not come yet.

    Raises:
        Unavailable: no answer, a wrong key, or a status that a later attempt may change.
        Refused: another status.
        NotThere: 404, where that is meant.
    """
    try:
        response = client.request(method, path, **named)
    except httpx.HTTPError as failure:
        raise Unavailable(f"{type(failure).__name__}: {failure}") from failure
    status = response.status_code
    if response.is_success:
        return response
    why = f"{method} {path.partition('?')[0]}: HTTP {status}: {_format_body(response)}"
    # A wrong key is set right by a person: what waits must not be lost meanwhile.
    if status in (401, 403, 407, 408, 425, 429) or status >= 500:
        raise Unavailable(why, _get_retry_after_s(response))
    if status == httpx.codes.NOT_FOUND and missing_is_late:
        raise NotThere(why)
    raise Refused(why)


def read_json(response: httpx.Response) -> Any:
    """Return the answer's document.

    Raises:
        Unavailable: it is no JSON, so something else than the product answered.
    """
    try:
        return response.json()
    except ValueError as problem:
        raise Unavailable(
            f"{response.request.method} {response.url.path}: the answer is no JSON"
        ) from problem


def _format_body(response: httpx.Response) -> str:
    return " ".join(response.text[:300].split())


def _get_retry_after_s(response: httpx.Response) -> float:
    header = response.headers.get("retry-after", "").strip()
    if header.isdecimal():
        return min(float(header), 3600.0)
    try:
        return min(3600.0, max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()))
    except (ValueError, TypeError):
        return 0.0

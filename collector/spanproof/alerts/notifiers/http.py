"""Requests to targets over HTTP, with one meaning of each answer.

Paths, queries and headers of targets carry tokens: of an address only the host is ever named.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson

from spanproof.alerts.notifiers.base import NotDelivered

# Besides 5xx: the same request may pass later.
_LATER = frozenset({408, 425, 429})

_LONGEST_WAIT_S = 3600.0


class HttpTarget:
    """Sends requests to one target; a connection for each.

    Args:
        kind: of the target, for messages.
        timeout_s: of a request.
        headers: sent with every request.
    """

    def __init__(self, kind: str, timeout_s: float, headers: Mapping[str, str] | None = None) -> None:
        self._kind = kind
        self._timeout_s = timeout_s
        self._headers = {"User-Agent": "spanproof", **(headers or {})}

    def send_json(self, url: str, body: Any, headers: Mapping[str, str] | None = None) -> Any:
        """Post JSON and return the JSON of the answer, None where it has none."""
        return self.send_request("POST", url, orjson.dumps(body), headers)

    def send_request(
        self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        """Send a request with a JSON body and return the JSON of the answer, None where it has none.

        Raises:
            NotDelivered: no connection, no answer in time, or an answer that is no success.
        """
        sent = {**self._headers, **(headers or {})}
        if body is not None:
            sent["Content-Type"] = "application/json"
        receiver = f"{self._kind} {urlsplit(url).netloc.rpartition('@')[2]}"
        try:
            with httpx.Client(
                verify=_build_ssl_context(), timeout=self._timeout_s, follow_redirects=False
            ) as client:
                answer = client.request(method, url, content=body, headers=sent)
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            raise NotDelivered(f"{receiver}: {type(problem).__name__}") from None
        if not answer.is_success:
            later = answer.status_code in _LATER or answer.status_code >= 500
            raise NotDelivered(
                f"{receiver}: HTTP {answer.status_code}",
                refused=not later,
                retry_after_s=_find_retry_after(answer.headers.get("retry-after", "")) if later else None,
            )
        try:
            return orjson.loads(answer.content)
        except orjson.JSONDecodeError:
            return None


@cache
def _build_ssl_context() -> ssl.SSLContext:
    """Return the authorities that requests trust; reading all their certificates takes 35 ms of CPU."""
    return httpx.create_ssl_context()


def _find_retry_after(value: str) -> float | None:
    """Return the seconds of a `Retry-After` header, in either of its forms."""
    try:
        wait_s = float(value)
    except ValueError:
        try:
            wait_s = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, TypeError):
            return None
    if wait_s == wait_s:
        return min(max(0.0, wait_s), _LONGEST_WAIT_S)
    return None

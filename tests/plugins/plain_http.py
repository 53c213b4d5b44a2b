"""Requests to servers of this machine, without TLS.

httpx's own functions read the certificates of all authorities for each request: 35 ms of CPU.
"""

from __future__ import annotations

import ssl
from typing import Any

import httpx

_NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def get(url: str, **more: Any) -> httpx.Response:
    """As `httpx.get`."""
    return httpx.get(url, verify=_NO_AUTHORITIES, **more)


def post(url: str, **more: Any) -> httpx.Response:
    """As `httpx.post`."""
    return httpx.post(url, verify=_NO_AUTHORITIES, **more)

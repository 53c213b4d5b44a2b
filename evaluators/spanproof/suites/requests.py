"""HTTP calls of an agent, and what a case requires of them.

In: the calls that went through the proxy of a case's recorded HTTP, and those that tools made by their
arguments. Out: which of them a requirement describes. A name such as `GET https://api.example.com/orders` is
a call over HTTP; any other is a tool.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from spanproof.trace import JsonValue

_REQUEST_NAME = re.compile(r"(?P<method>[A-Z]+) (?P<url>https?://\S+)")
# Arguments of tools, by what they hold.
_URL_ARGUMENTS = ("url", "uri", "endpoint")
_BODY_ARGUMENTS = ("body", "json", "data", "payload")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One call over HTTP.

    Attributes:
        body: as text.
        is_recorded: whether the case has an answer to it.
    """

    method: str
    url: str
    body: str = ""
    is_recorded: bool = True

    def to_json(self) -> dict[str, JsonValue]:
        """Return it as data, which `from_json` reads."""
        return {"method": self.method, "url": self.url, "body": self.body, "is_recorded": self.is_recorded}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote."""
        return cls(data["method"], data["url"], data["body"], data["is_recorded"])

    def __str__(self) -> str:
        return f"{self.method} {self.url}"


@dataclass(frozen=True, slots=True)
class RequestPattern:
    """The calls that a requirement describes.

    Attributes:
        url: without a query, which `query` holds.
        query: parameters that a call must have, with these values; it may have others.
        body: what it must send: a text as it is, other JSON as data; None where it may send anything.
    """

    method: str
    url: str
    query: Mapping[str, JsonValue]
    body: JsonValue = None

    def matches(self, request: HttpRequest) -> bool:
        """Whether a call is one of them."""
        if request.method != self.method or _format_without_query(request.url) != self.url:
            return False
        query = parse_qs(urlsplit(request.url).query, keep_blank_values=True)
        if any(_format_value(value) not in query.get(name, ()) for name, value in self.query.items()):
            return False
        return self.body is None or _is_same_body(self.body, request.body)


def find_pattern(name: str, query: Mapping[str, JsonValue], body: JsonValue) -> RequestPattern | None:
    """Return the calls that a name describes; None where it names a tool."""
    found = _REQUEST_NAME.fullmatch(name)
    if found is None:
        return None
    of_url = {key: values[-1] for key, values in parse_qs(urlsplit(found["url"]).query).items()}
    return RequestPattern(found["method"], _format_without_query(found["url"]), {**of_url, **query}, body)


def find_request(tool: str, kwargs: Mapping[str, JsonValue]) -> HttpRequest | None:
    """Return the call over HTTP that a tool made by its arguments; None where they name no URL."""
    url = next((kwargs[name] for name in _URL_ARGUMENTS if isinstance(kwargs.get(name), str)), None)
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        return None
    body = next((kwargs[name] for name in _BODY_ARGUMENTS if kwargs.get(name) is not None), "")
    text = body if isinstance(body, str) else json.dumps(body)
    return HttpRequest(_parse_method(tool, kwargs), url, text)


def _parse_method(tool: str, kwargs: Mapping[str, JsonValue]) -> str:
    stated = kwargs.get("method")
    if isinstance(stated, str):
        return stated.upper()
    words = re.split(r"[^a-z]+", tool.lower())
    return next((word.upper() for word in words if word in ("post", "put", "patch", "delete")), "GET")


def _format_without_query(url: str) -> str:
    parts = urlsplit(url)
    if parts.port in (None, {"http": 80, "https": 443}.get(parts.scheme)):
        port = ""
    else:
        port = f":{parts.port}"
    return f"{parts.scheme}://{(parts.hostname or '').lower()}{port}{parts.path or '/'}"


def _format_value(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value)


def _is_same_body(expected: JsonValue, sent: str) -> bool:
    if isinstance(expected, str):
        return sent.strip() == expected.strip()
    try:
        return bool(json.loads(sent) == expected)
    except ValueError:
        return False

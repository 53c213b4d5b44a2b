"""One spelling for each URL, so that a call is found however a client writes it.

In: an absolute `http` or `https` URL. Out: scheme and host in lower case, the host in ASCII, no default port,
no user, no fragment, a path, and percent-encoding as RFC 3986 6.2.2 normalises it. The query stays in its
order: to some servers that means something.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

DEFAULT_PORTS = {"http": 80, "https": 443}

_ABSOLUTE = re.compile(r"(https?)://([^/?#]*)([^#]*)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:[^@]*@)?(\[[0-9a-fA-F:.]+\]|[^\[\]:@\s]+)(?::([0-9]{0,5}))?")
_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# What `quote` leaves: it is to encode spaces, controls and what is not ASCII.
_LEFT = "%:/?#[]@!$&'()*+,;=-._~\"<>\\^`{|}"


@dataclass(frozen=True, slots=True)
class Url:
    """A URL in its one spelling.

    Attributes:
        host: without brackets.
        target: path and query.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Host, and port where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        if self.port == DEFAULT_PORTS[self.scheme]:
            return host
        return f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def read_url(text: str) -> Url:
    """Read an absolute URL.

    Raises:
        ValueError: it is none, or not one of HTTP.
    """
    absolute = _ABSOLUTE.fullmatch(text.strip().partition("#")[0])
    authority = _AUTHORITY.fullmatch(absolute[2]) if absolute else None
    if absolute is None or authority is None:
        raise ValueError(f"{text[:200]!r} is no absolute http or https URL")
    scheme = absolute[1].lower()
    port = int(authority[2] or DEFAULT_PORTS[scheme])
    if not 0 < port < 65536:
        raise ValueError(f"{text[:200]!r} has no valid port")
    if absolute[3].startswith("/"):
        rest = absolute[3]
    else:
        rest = f"/{absolute[3]}"
    return Url(scheme, _format_host(authority[1]), port, _format_encoding(rest))


def _format_host(text: str) -> str:
    host = text.strip("[]").rstrip(".").lower()
    try:
        if host.isascii():
            spelled = host
        else:
            spelled = host.encode("idna").decode("ascii")
    except UnicodeError:
        raise ValueError(f"{text[:200]!r} is no host name") from None
    if not spelled or not spelled.isprintable():
        raise ValueError(f"{text[:200]!r} is no host name")
    return spelled


def _format_encoding(text: str) -> str:
    return quote(_ENCODED.sub(_format_escape, text), safe=_LEFT, errors="surrogatepass")


def _format_escape(match: re.Match[str]) -> str:
    value = int(match[1], 16)
    if value in _UNRESERVED:
        return chr(value)
    return f"%{value:02X}"

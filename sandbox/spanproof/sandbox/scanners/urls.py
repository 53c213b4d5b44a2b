"""URLs in any text: what is wrong with one however it is used.

In: a source. Out: findings for credentials in a URL, and names that look like others; advice for odd schemes,
addresses instead of names and the metadata service of clouds. Whether a host may be reached is judged where
it is reached, by the scanner of the language: a URL that is only compared crosses nothing.
"""

from __future__ import annotations

import ipaddress
import re

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.scanners.boundary import PLACES
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.source import Source

_URL = re.compile(r"\b([A-Za-z][A-Za-z0-9+.\-]{1,20})://([^\s\"'`<>\\)\]}]{1,2048})")
_SCRIPT_URL = re.compile(r"(?i)[\"'=(\s](javascript|vbscript):\s{0,3}[a-z(]")
_METADATA = re.compile(
    r"169\.254\.169\.254|169\.254\.170\.2|metadata\.google\.internal|100\.100\.100\.200|fd00:ec2::254"
)
_DOCUMENTATION = split_entry(PLACES["hosts"], "documentation")
# Characters of a password: shorter ones are placeholders (`u:p`, `user:pw`).
_LEAST_PASSWORD = 4
_ODD_SCHEMES = split_entry(PLACES["schemes"], "odd")


def scan(context: Context, source: Source) -> None:
    """Report URLs that are wrong in themselves."""
    text = source.text
    for found in _METADATA.finditer(text):
        context.add("url.metadata", source.place(*found.span()), f"names the metadata service {found[0]}")
    if "://" in text:
        for found in _URL.finditer(text):
            _judge(context, source, found)
    if "script:" in source.lowered:
        for found in _SCRIPT_URL.finditer(text):
            context.add("url.scheme", source.place(*found.span(1)), f"a URL with the scheme {found[1]}")


def _judge(context: Context, source: Source, found: re.Match[str]) -> None:
    place = source.place(*found.span())
    if found[1].lower() in _ODD_SCHEMES:
        context.add("url.scheme", place, f"a URL with the scheme {found[1].lower()}")
    authority = re.split(r"[/?#]", found[2], maxsplit=1)[0]
    userinfo, at, host = authority.rpartition("@")
    if not host.startswith("["):
        name = host.partition(":")[0]
    else:
        name = host.partition("]")[0] + "]"
    is_given = at and ":" in userinfo and not userinfo.endswith(":") and not _is_template(userinfo)
    if is_given and name.lower() not in _DOCUMENTATION and not _is_no_secret(userinfo):
        context.add("url.userinfo", place, "a URL holds a user name and a password")
    if "xn--" in name.lower() or not name.isascii():
        context.add("url.punycode", place, "a host name that can look like another")
    elif _is_address(name.strip("[]")):
        context.add("url.raw-ip", place, f"a URL by address: {name}")


def _is_no_secret(userinfo: str) -> bool:
    """Whether a password is too short for one, or the name of its user."""
    user, _, password = userinfo.partition(":")
    return len(password) < _LEAST_PASSWORD or password == user


def _is_template(userinfo: str) -> bool:
    return any(mark in userinfo for mark in "{}$<%*") or userinfo in {
        "user:password",
        "username:password",
        "user:pass",
    }


def _is_address(name: str) -> bool:
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name.isdigit() and len(name) > 6
    return not address.is_loopback

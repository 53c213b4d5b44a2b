"""Locks: every package of an environment, those that others need included, with version and hash.

A lock is made at the first build of a package set and kept: the same set gives the same packages from then
on, whatever has been published since. Two keys follow from it: of what was requested, and of what was locked.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
from dataclasses import asdict, dataclass
from functools import cache

from spanproof.sandbox.errors import EnvironmentUnavailable
from spanproof.sandbox.model import Ecosystem, PackageSet

_FORM = 1  # Of images; a new number makes every image anew
_KEY_CHARACTERS = 32
_PIN = {
    Ecosystem.PIP: re.compile(
        r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?P<extras>\[[A-Za-z0-9._,\s-]+\])?==(?P<version>[A-Za-z0-9.!+_-]+)"
    ),
    Ecosystem.NPM: re.compile(
        r"(?P<name>(?:@[a-z0-9~][a-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*)@(?P<version>\d+\.\d+\.\d+[0-9A-Za-z.+-]*)"
    ),
}
_EXAMPLE = {Ecosystem.PIP: "requests==2.32.3", Ecosystem.NPM: "lodash@4.17.21"}


@dataclass(frozen=True, slots=True)
class Pin:
    """One package at one version; pip names are in their normal form."""

    name: str
    version: str
    extras: str = ""


@dataclass(frozen=True, slots=True)
class Locked:
    """One package of a lock.

    Attributes:
        file: of the archive, as the package index names it.
        integrity: `sha256-…` or `sha512-…`, in hex for pip and in base64 for npm, as each writes it.
        place: for npm, where it lies below the environment: `node_modules/a/node_modules/b`.
    """

    name: str
    version: str
    file: str
    integrity: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Lock:
    """What an environment holds, and what it is for.

    Attributes:
        runtime: interpreter and version that its packages were chosen for.
        platform: system, machine and C library.
    """

    ecosystem: Ecosystem
    runtime: str
    platform: str
    pins: tuple[str, ...]
    packages: tuple[Locked, ...]

    @property
    def key(self) -> str:
        """Names the image: the same for the same content."""
        return _compute_key({"form": _FORM, **asdict(self)})

    def to_text(self) -> str:
        """Return the text that is kept of it."""
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"

    @classmethod
    def read(cls, text: str) -> Lock:
        """Read a lock from its text.

        Raises:
            ValueError: it is none.
        """
        try:
            fields = json.loads(text)
            packages = tuple(Locked(**one) for one in fields.pop("packages"))
            pins = tuple(fields.pop("pins"))
            return cls(Ecosystem(fields.pop("ecosystem")), pins=pins, packages=packages, **fields)
        except (TypeError, KeyError, AttributeError) as problem:
            raise ValueError(f"no lock: {problem}") from problem


def parse_pins(packages: PackageSet) -> tuple[Pin, ...]:
    """Return the pins of a set.

    Raises:
        EnvironmentUnavailable: one is not exact, there is none, or two disagree.
    """
    if not packages.pins:
        raise EnvironmentUnavailable("a package set needs at least one pin; leave it out to have none")
    found: dict[str, Pin] = {}
    for text in packages.pins:
        match = _PIN[packages.ecosystem].fullmatch(text.strip())
        if match is None:
            raise EnvironmentUnavailable(
                f"the pin {text!r} is not exact; write name and version: {_EXAMPLE[packages.ecosystem]!r}"
            )
        name = normalise_name(match["name"], packages.ecosystem)
        pin = Pin(name, match["version"], match.groupdict().get("extras") or "")
        if found.setdefault(pin.name, pin) != pin:
            raise EnvironmentUnavailable(
                f"the pins of {pin.name!r} disagree: {found[pin.name].version} and {pin.version}; keep one"
            )
    return tuple(found.values())


def is_exact(pin: str, ecosystem: Ecosystem) -> bool:
    """Whether a text is one name at one version, and nothing that a client would take for more."""
    return _PIN[ecosystem].fullmatch(pin) is not None


def normalise_name(name: str, ecosystem: Ecosystem) -> str:
    """Return the one spelling of a name."""
    if ecosystem is Ecosystem.PIP:
        return re.sub(r"[-_.]+", "-", name).lower()
    return name


def is_same_version(one: str, other: str) -> bool:
    """Whether two spellings mean one version: `1.0` and `1.0.0` do to pip."""
    return _normalise_version(one) == _normalise_version(other)


def _normalise_version(version: str) -> str:
    public, plus, local = version.lower().replace("_", "-").partition("+")
    return re.sub(r"(\.0)+$", "", public) + plus + local.replace("-", ".")


def describe_runtime(ecosystem: Ecosystem) -> str:
    """Return the interpreter packages are chosen for; npm's run no install script, so any Node.js does."""
    if ecosystem is Ecosystem.NPM:
        return "node"
    return f"{sys.implementation.name}-{platform.python_version()}"


@cache
def describe_platform() -> str:
    """Return the system packages are chosen for."""
    libc = "".join(platform.libc_ver()) or "musl"
    return f"{sys.platform}-{platform.machine()}-{libc}"


def compute_wish_key(packages: PackageSet) -> str:
    """Return the key of what was requested on this machine, by which its lock is found.

    Raises:
        EnvironmentUnavailable: a pin is not exact.
    """
    requested = {
        "form": _FORM,
        "ecosystem": packages.ecosystem,
        "pins": sorted(f"{pin.name}{pin.extras}@{pin.version}" for pin in parse_pins(packages)),
        "runtime": describe_runtime(packages.ecosystem),
        "platform": describe_platform(),
    }
    return _compute_key(requested)


def _compute_key(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_KEY_CHARACTERS]

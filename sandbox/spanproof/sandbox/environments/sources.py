"""Reading package sets from files people keep: `requirements.txt` with exact pins, `package-lock.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spanproof.sandbox.environments.lock import parse_pins
from spanproof.sandbox.errors import EnvironmentUnavailable
from spanproof.sandbox.model import Ecosystem, PackageSet
from spanproof.sandbox.untrusted_files import UnsafeFileError, read_bounded

MAX_PACKAGES_BYTES = 64 * 1024 * 1024
"""Of a file of packages; a large package-lock.json has a few MB."""
_HASH = re.compile(r"--hash[= ]sha256:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A package set as a file lists it.

    Attributes:
        hashes: by package, the sha256 (pip, in hex) that its archive may have; not named, any.
        npm_lock: the text of a `package-lock.json`, which is the lock then.
    """

    packages: PackageSet
    hashes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    npm_lock: str | None = None


def read_packages(path: Path) -> Wanted:
    """Read a file that the user named; a name that ends in `.json` is npm's.

    Raises:
        EnvironmentUnavailable: it cannot be read, or does not pin every package exactly.
    """
    try:
        content = read_bounded(path, MAX_PACKAGES_BYTES)
    except (OSError, UnsafeFileError) as problem:
        raise EnvironmentUnavailable(f"{path} cannot be read: {problem}") from problem
    return parse_packages(content, path)


def parse_packages(content: bytes, path: Path) -> Wanted:
    """Return what a file's content pins; `path` names it.

    Raises:
        EnvironmentUnavailable: it is not UTF-8, or does not pin every package exactly.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise EnvironmentUnavailable(f"{path} cannot be read: {problem}") from problem
    try:
        if path.suffix == ".json":
            return _from_npm_lock(text)
        return _from_requirements(text)
    except EnvironmentUnavailable as problem:
        raise EnvironmentUnavailable(f"{path}: {problem}") from problem


def _from_requirements(text: str) -> Wanted:
    pins: list[str] = []
    hashes: dict[str, frozenset[str]] = {}
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        bare = re.sub(r"(^|\s)#.*$", "", line).strip()
        if not bare:
            continue
        found = frozenset(_HASH.findall(bare))
        pin = _HASH.sub("", bare).strip()
        if pin.startswith("-") or ";" in pin:
            raise EnvironmentUnavailable(
                f"the line {pin!r} is no pin; environments take `name==version` lines, with hashes or without"
            )
        (parsed,) = parse_pins(PackageSet(Ecosystem.PIP, (pin,)))
        pins.append(pin)
        if found:
            hashes[parsed.name] = found
    wanted = PackageSet(Ecosystem.PIP, tuple(pins))
    parse_pins(wanted)
    return Wanted(wanted, hashes)


def _from_npm_lock(text: str) -> Wanted:
    try:
        document = json.loads(text)
        entries = document["packages"]
        root = entries.get("", {})
        wanted = {**root.get("dependencies", {}), **root.get("optionalDependencies", {})}
        pins = tuple(f"{name}@{entries[f'node_modules/{name}']['version']}" for name in wanted)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise EnvironmentUnavailable(
            f"it is no package-lock.json of version 2 or 3 ({problem!r});"
            " make it anew: npm install --package-lock-only"
        ) from problem
    packages = PackageSet(Ecosystem.NPM, pins)
    parse_pins(packages)
    return Wanted(packages, npm_lock=text)

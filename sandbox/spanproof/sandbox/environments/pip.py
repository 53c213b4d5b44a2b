"""Wheels by the user's own pip: downloaded, never installed, so that no code of a package runs here.

Only wheels: a source archive would have to run its own build to say so much as its name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from spanproof.sandbox.environments.downloads import (
    build_client_error,
    check_machine,
    compute_digest,
    run_client,
)
from spanproof.sandbox.environments.lock import (
    Lock,
    Locked,
    Pin,
    describe_platform,
    describe_runtime,
    is_same_version,
    normalise_name,
    parse_pins,
)
from spanproof.sandbox.errors import EnvironmentUnavailable
from spanproof.sandbox.model import Ecosystem, PackageSet

REQUIREMENTS = "requirements.txt"
_QUIET = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_PROGRESS_BAR": "off"}
_NOT_FOUND = re.compile(r"No matching distribution found for ([^\s(]+)")
_AVAILABLE = re.compile(r"^Available versions: (.+)$", re.MULTILINE)
_SHOWN = 8


def build_lock(packages: PackageSet, directory: Path) -> Lock:
    """Fetch the wheels of a set, with those they need, and lock what came.

    Raises:
        EnvironmentUnavailable: names the pin and the remedy.
    """
    pins = parse_pins(packages)
    _run_download(packages.pins, directory, ())
    locked = tuple(
        sorted((_build_locked(path) for path in directory.glob("*.whl")), key=lambda one: one.name)
    )
    _check_locked(pins, locked)
    return Lock(Ecosystem.PIP, describe_runtime(Ecosystem.PIP), describe_platform(), packages.pins, locked)


def write_packages(lock: Lock, directory: Path) -> None:
    """Fetch exactly the wheels of a lock; pip itself refuses other content.

    Raises:
        EnvironmentUnavailable: names the pin and the remedy.
    """
    _run_download(
        [f"{one.name}=={one.version} {_format_hash(one)}" for one in lock.packages], directory, ("--no-deps",)
    )
    there = {normalise_name(path.name.split("-")[0], Ecosystem.PIP) for path in directory.glob("*.whl")}
    missing = {one.name for one in lock.packages} - there
    if missing:
        raise EnvironmentUnavailable(f"pip did not download {', '.join(sorted(missing))}; try again")


def check_hashes(lock: Lock, hashes: Mapping[str, frozenset[str]]) -> None:
    """Hold a lock to the hashes a file gives.

    Raises:
        EnvironmentUnavailable: a wheel has none of its own.
    """
    for one in lock.packages:
        accepted = hashes.get(one.name)
        if accepted is not None and one.integrity.removeprefix("sha256-") not in accepted:
            raise EnvironmentUnavailable(
                f"{one.file} has none of the hashes that are given for {one.name};"
                " make them anew (pip hash), or leave them out"
            )


def write_requirements(lock: Lock, directory: Path) -> None:
    """Write what the installer inside is given: each wheel by name, version and hash."""
    lines = [f"{one.name}=={one.version} {_format_hash(one)}" for one in lock.packages]
    (directory / REQUIREMENTS).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _format_hash(one: Locked) -> str:
    return "--hash=sha256:" + one.integrity.removeprefix("sha256-")


def _run_download(requirements: object, directory: Path, options: tuple[str, ...]) -> None:
    listed = directory.with_suffix(".wanted")
    listed.write_text("\n".join(requirements) + "\n", encoding="utf-8")  # type: ignore[arg-type]
    command = [sys.executable, "-m", "pip", "download", "--only-binary=:all:", "--dest", str(directory)]
    code, out, errors = run_client([*command, *options, "-r", str(listed)], directory, _QUIET)
    if code != 0:
        raise _build_failure(out + errors, directory)


def _build_failure(errors: str, directory: Path) -> EnvironmentUnavailable:
    if "No module named pip" in errors:
        return EnvironmentUnavailable(
            f"there is no pip beside {sys.executable}; install it there: {sys.executable} -m ensurepip"
        )
    check_machine(errors, "pip")
    absent = _NOT_FOUND.search(errors)
    if absent is not None:
        return _build_absence(absent[1], directory)
    if "DO NOT MATCH THE HASHES" in errors:
        return EnvironmentUnavailable(
            "a wheel is not the one that was locked: its content has changed at the package index;"
            " if that is right, remove the lock: spanproof sandbox environment prune --locks"
        )
    if "ResolutionImpossible" in errors:
        lines = [
            line.strip() for line in errors.splitlines() if " depends on " in line or " requested " in line
        ]
        return EnvironmentUnavailable(f"the pins do not go together: {'; '.join(lines)[:1000]}")
    return build_client_error("pip", errors)


def _build_absence(pin: str, directory: Path) -> EnvironmentUnavailable:
    """Return the error for a package that is missing or has no wheel for this machine; builds nothing."""
    name = re.split(r"[=<>!~\[;]", pin, maxsplit=1)[0]
    version = pin.partition("==")[2]
    command = [sys.executable, "-m", "pip", "index", "versions", name]
    _code, out, _errors = run_client(command, directory, _QUIET)
    listed = _AVAILABLE.search(out)
    if listed is not None:
        versions = [one.strip() for one in listed[1].split(",")]
    else:
        versions = []
    if any(is_same_version(one, version) for one in versions):
        return EnvironmentUnavailable(
            f"{pin} has no wheel for {describe_runtime(Ecosystem.PIP)} on {describe_platform()},"
            " and a source archive"
            " would run its own code outside of the sandbox; pin a version that has one, or build the wheel"
            " yourself and name its directory: PIP_FIND_LINKS=…"
        )
    if versions:
        near = ", ".join(versions[:_SHOWN])
        return EnvironmentUnavailable(f"{pin} does not exist; versions of {name}: {near}, …; pin one of them")
    return EnvironmentUnavailable(
        f"{pin}: pip finds no such package, or none with a wheel for {describe_runtime(Ecosystem.PIP)} on"
        f" {describe_platform()}; check its name, the network, and where pip looks: pip config list"
    )


def _build_locked(path: Path) -> Locked:
    name, version = path.name.split("-")[:2]
    digest = compute_digest(path, "sha256").hex()
    return Locked(normalise_name(name, Ecosystem.PIP), version, path.name, f"sha256-{digest}")


def _check_locked(pins: tuple[Pin, ...], locked: tuple[Locked, ...]) -> None:
    """Check that what came is what was requested."""
    by_name = {one.name: one for one in locked}
    for pin in pins:
        fetched = by_name.get(pin.name)
        if fetched is None or not is_same_version(fetched.version, pin.version):
            got = fetched.version if fetched is not None else "nothing"
            raise EnvironmentUnavailable(
                f"{pin.name}=={pin.version} was requested, and {got} came; try again"
            )

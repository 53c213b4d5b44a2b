"""Check that the checked-out commit can be released: `python deploy/release/check.py VERSION`.

Each line of the checklist is a check that prints `ok` or what is wrong and what to do. The wheel and the
source distribution are built twice, because a build that differs cannot be verified by others. Exit code 1
where a check failed. Nothing is published: `.github/workflows/release.yml` does that from a tag, and only
after this script passed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

ROOT = Path(__file__).parents[2]
MAX_WHEEL_BYTES = 12_000_000
_SEMVER = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")


class NotReady(Exception):  # noqa: N818 - the outcome of a check
    """What keeps the commit from being released, and what to do."""


@dataclass(frozen=True, slots=True)
class Release:
    """A version to release, and the checkout that it is released from."""

    version: str
    root: Path = ROOT

    def read(self, name: str) -> str:
        """Return the text of a file of the checkout."""
        return (self.root / name).read_text(encoding="utf-8")

    def git(self, *arguments: str) -> str:
        """Return what a git command prints."""
        command = ["git", "-C", str(self.root), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def check_version(release: Release) -> None:
    """Compare the version with that of every package."""
    if not _SEMVER.fullmatch(release.version):
        raise NotReady(f"{release.version!r} is no version such as 1.4.0 or 1.4.0rc1")
    chart = yaml.safe_load(release.read("deploy/helm/spanproof/Chart.yaml"))
    recipe = yaml.safe_load(release.read("deploy/conda/recipe.yaml"))
    found = {
        "pyproject.toml": tomllib.loads(release.read("pyproject.toml"))["project"]["version"],
        "typescript/package.json": json.loads(release.read("typescript/package.json"))["version"],
        "deploy/helm/spanproof/Chart.yaml (version)": chart["version"],
        "deploy/helm/spanproof/Chart.yaml (appVersion)": chart["appVersion"],
        "deploy/conda/recipe.yaml": recipe["context"]["version"],
    }
    others = [f"{place} has {version}" for place, version in found.items() if version != release.version]
    if others:
        raise NotReady(f"set {release.version} everywhere: {'; '.join(others)}")


def check_changelog(release: Release) -> None:
    """Find the version in the changelog, with a date, above all others."""
    headings = re.findall(r"^## \[([^\]]+)\](.*)$", release.read("CHANGELOG.md"), re.MULTILINE)
    named = [(name, rest.strip()) for name, rest in headings if name != "Unreleased"]
    if not named or named[0][0] != release.version:
        raise NotReady(f"CHANGELOG.md: rename [Unreleased] to [{release.version}] - YYYY-MM-DD")
    if not re.fullmatch(r"- \d{4}-\d{2}-\d{2}", named[0][1]):
        raise NotReady(
            f"CHANGELOG.md: [{release.version}] has no date; write [{release.version}] - YYYY-MM-DD"
        )


def check_tree(release: Release) -> None:
    """Check that the commit is whole, and that no other commit has the version's tag."""
    if changed := release.git("status", "--porcelain"):
        raise NotReady(f"commit or remove what is not committed: {changed.splitlines()[0].strip()} …")
    if release.git("tag", "--list", f"v{release.version}"):
        tagged, here = release.git("rev-list", "-1", f"v{release.version}"), release.git("rev-parse", "HEAD")
        if tagged != here:
            raise NotReady(
                f"v{release.version} is the tag of another commit ({tagged[:12]}); choose the next"
            )


def check_builds(release: Release) -> None:
    """Build wheel and source distribution twice, compare them, and look into the wheel."""
    with TemporaryDirectory() as tools, TemporaryDirectory() as first, TemporaryDirectory() as second:
        python = _install_tools(release, Path(tools))
        digests = [_build(release, python, Path(folder)) for folder in (first, second)]
        if digests[0] != digests[1]:
            differing = [name for name in digests[0] if digests[0][name] != digests[1].get(name)]
            raise NotReady(f"two builds of one commit differ: {', '.join(differing)}")
        (wheel,) = Path(first).glob("*.whl")
        _check_wheel(wheel, release)


def _install_tools(release: Release, folder: Path) -> Path:
    """Return the interpreter of a new environment that has what builds need, and nothing else."""
    venv.create(folder)
    python = folder / "bin" / "python"
    requires = tomllib.loads(release.read("pyproject.toml"))["build-system"]["requires"]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--quiet", "--disable-pip-version-check"]
    _run([*pip, "install", "build", *requires], os.environ)
    return python


def _build(release: Release, python: Path, out: Path) -> dict[str, str]:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": release.git("log", "-1", "--format=%ct")}
    _run([str(python), "-m", "build", "--no-isolation", "--outdir", str(out), str(release.root)], environment)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(out.iterdir())}


def _run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise NotReady(f"the build failed: {(done.stderr or done.stdout).strip().splitlines()[-1]}")


def _check_wheel(wheel: Path, release: Release) -> None:
    if wheel.stat().st_size > MAX_WHEEL_BYTES:
        raise NotReady(f"the wheel has {wheel.stat().st_size:,} bytes, more than {MAX_WHEEL_BYTES:,}")
    with zipfile.ZipFile(wheel) as archive:
        packages = {name.split("/")[1] for name in archive.namelist() if name.startswith("spanproof/")}
        untyped = [each for each in packages if f"spanproof/{each}/py.typed" not in archive.namelist()]
        if untyped:
            raise NotReady(f"add py.typed to: {', '.join(sorted(untyped))}")
        here = str(release.root).encode()
        leaking = [name for name in archive.namelist() if here in archive.read(name)]
        if leaking:
            raise NotReady(f"holds a path of this machine: {leaking[0]}")


CHECKS: Sequence[tuple[str, Callable[[Release], None]]] = (
    ("one version everywhere", check_version),
    ("changelog names the version and its day", check_changelog),
    ("everything is committed, the tag is free", check_tree),
    ("two builds are equal, the wheel is whole", check_builds),
)


def main(arguments: Sequence[str]) -> int:
    """Print each check's outcome; return 1 where one failed, 2 where no version is given."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python deploy/release/check.py VERSION\n")
        return 2
    release, failed = Release(arguments[0].removeprefix("v")), False
    for title, check in CHECKS:
        try:
            check(release)
        except NotReady as problem:
            failed = True
            sys.stdout.write(f"no   {title}: {problem}\n")
        else:
            sys.stdout.write(f"ok   {title}\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`spanproof sandbox environment`: build package sets ahead, list the images, remove those nobody uses.

Also how any command shows that an environment is being built: the builder tells its steps to the log, which
is a line that changes on a terminal, and a line for each step elsewhere.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path

import click
from rich.filesize import decimal
from rich.status import Status
from rich.table import Table
from rich.text import Text

from spanproof.cli import EXIT_PASS
from spanproof.cli.console import UsageProblem, console, error_console, print_json
from spanproof.cli.hostile import visible
from spanproof.sandbox import EnvironmentUnavailable, SandboxError
from spanproof.sandbox.environments import Environments, Image, Lease, Store, Wanted, read_packages
from spanproof.sandbox.environments.build import MAX_BYTES, UNUSED_S
from spanproof.sandbox.jail.workshop import run_in_workshop

_DAY_S = 86400.0
_REMEDY = "docs/environments.md says what a package set may be"


@click.group()
def command() -> None:
    """Locked package sets, built once into read-only images."""


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line.")
def build(file: Path, as_json: bool) -> int:
    """Build the environment of FILE ahead of its first use.

    FILE is a requirements.txt with exact pins, or a package-lock.json.
    """
    lease = have(wanted_in(file))
    row = {"image": str(lease.path), "packages": [f"{one.name} {one.version}" for one in lease.lock.packages]}
    lease.close()
    if as_json:
        print_json(row)
    else:
        console.print(visible(str(row["image"])), markup=False, soft_wrap=True)
        for one in row["packages"]:
            console.print(f"  {visible(one)}", markup=False)
    return EXIT_PASS


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line for each.")
def list_images(as_json: bool) -> int:
    """List the images, the one used last first."""
    images = Store().images()
    if as_json:
        for image in images:
            print_json(_row(image))
    else:
        _show(images)
    return EXIT_PASS


@command.command()
@click.option(
    "--unused-days",
    default=UNUSED_S / _DAY_S,
    show_default=True,
    type=click.FloatRange(0),
    help="Remove images that nobody has used for so long.",
)
@click.option(
    "--keep-bytes",
    default=MAX_BYTES,
    show_default=True,
    type=click.IntRange(0),
    help="Then remove the longest unused until the rest is no larger.",
)
@click.option("--locks", is_flag=True, help="Forget the locks too: the next build chooses versions anew.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line for each that is removed.")
def prune(unused_days: float, keep_bytes: int, locks: bool, as_json: bool) -> int:
    """Remove images nobody needs; one that is in use stays."""
    store = Store()
    removed = store.prune(unused_s=unused_days * _DAY_S, max_bytes=keep_bytes)
    if locks:
        store.forget_locks()
    if as_json:
        for image in removed:
            print_json(_row(image))
    else:
        _show(removed)
    return EXIT_PASS


def wanted_in(file: Path) -> Wanted:
    """The package set of a file.

    Raises:
        UsageProblem: it names none.
    """
    try:
        return read_packages(file)
    except EnvironmentUnavailable as problem:
        raise UsageProblem(str(problem), _REMEDY) from problem


def have(wanted: Wanted) -> Lease:
    """The image of a package set, built where it is not there yet.

    Raises:
        UsageProblem: it cannot be built.
    """
    show_builds()
    try:
        return Environments(run_in_workshop).lease(wanted)
    except EnvironmentUnavailable as problem:
        raise UsageProblem(str(problem), _REMEDY) from problem
    except SandboxError as problem:
        raise UsageProblem(str(problem), "spanproof doctor") from problem


def show_builds() -> None:
    """From now on, tell on stderr what a build does."""
    logger = logging.getLogger("spanproof.sandbox.environments")
    if not any(isinstance(handler, _Shown) for handler in logger.handlers):
        logger.addHandler(_Shown())
        logger.setLevel(logging.INFO)
        logger.propagate = False


class _Shown(logging.Handler):
    """Steps of a build, on stderr."""

    _status: Status | None = None

    def emit(self, record: logging.LogRecord) -> None:
        text = visible(record.getMessage())
        if not error_console.is_terminal:
            error_console.print(f"spanproof: {text}", markup=False, soft_wrap=True)
        elif getattr(record, "done", False):
            if self._status is not None:
                self._status.stop()
            self._status = None
        elif self._status is None:
            self._status = error_console.status(Text(text))
            self._status.start()
        else:
            self._status.update(Text(text))


def _row(image: Image) -> dict[str, object]:
    return {
        "key": image.key,
        "path": str(image.path),
        "ecosystem": image.lock.ecosystem.value,
        "pins": list(image.lock.pins),
        "packages": len(image.lock.packages),
        "size_bytes": image.size_bytes,
        "unused_s": round(time.time() - image.used_at, 1),
    }


def _show(images: list[Image]) -> None:
    table = Table("image", "pins", "packages", "size", "unused", box=None, pad_edge=False)
    for image in images:
        days = (time.time() - image.used_at) / _DAY_S
        pins = visible(", ".join(image.lock.pins))
        size = decimal(image.size_bytes)
        table.add_row(image.key[:12], Text(pins), str(len(image.lock.packages)), size, f"{days:.1f} days")
    console.print(table)

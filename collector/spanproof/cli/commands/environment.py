"""`spanproof sandbox environment`: build package sets ahead of use, list the images, remove unused ones."""

from __future__ import annotations

import time
from pathlib import Path

import click
from rich.filesize import decimal
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.backend import open_backend, with_backend_options
from spanproof.cli.output.console import console, write_json
from spanproof.cli.output.hostile import format_controls
from spanproof.cli.output.listing import build_listing
from spanproof.cli.problems import UsageProblem
from spanproof.sandbox import Sandbox
from spanproof.sandbox.environments import Image, Lease, Store, Wanted, read_packages
from spanproof.sandbox.environments.build import MAX_BYTES, UNUSED_S

_DAY_S = 86400.0


@click.group()
def command() -> None:
    """Locked package sets, built once into read-only images."""


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@with_backend_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line.")
def build(file: Path, backend: str, settings: dict[str, str], as_json: bool) -> int:
    """Build the environment of FILE ahead of its first use.

    FILE is a requirements.txt with exact pins, or a package-lock.json. The chosen sandbox builds it.
    """
    wanted = read_packages(file)
    with open_backend(backend, settings) as sandbox:
        lease = build_image(wanted, sandbox)
    row = {"image": str(lease.path), "packages": [f"{one.name} {one.version}" for one in lease.lock.packages]}
    lease.close()
    if as_json:
        write_json(row)
    else:
        console.print(format_controls(str(row["image"])), markup=False, soft_wrap=True)
        for one in row["packages"]:
            console.print(f"  {format_controls(one)}", markup=False)
    return EXIT_PASS


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line for each.")
def list_images(as_json: bool) -> int:
    """List the images, the one used last first."""
    _write_images(Store().list_images(), as_json=as_json)
    return EXIT_PASS


@command.command()
@click.option(
    "--unused-days",
    default=UNUSED_S / _DAY_S,
    show_default=True,
    type=click.FloatRange(0),
    help="Remove images that were not used for this many days.",
)
@click.option(
    "--keep-bytes",
    default=MAX_BYTES,
    show_default=True,
    type=click.IntRange(0),
    help="Then remove the images that are longest unused until the rest is no larger than this.",
)
@click.option("--locks", is_flag=True, help="Also remove the locks: the next build chooses versions again.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line for each that is removed.")
def prune(unused_days: float, keep_bytes: int, locks: bool, as_json: bool) -> int:
    """Remove unused images; one that is in use stays."""
    store = Store()
    removed = store.run_prune(unused_s=unused_days * _DAY_S, max_bytes=keep_bytes)
    if locks:
        store.remove_locks()
    _write_images(removed, as_json=as_json)
    return EXIT_PASS


def build_image(wanted: Wanted, sandbox: Sandbox) -> Lease:
    """Return the image of a package set, built where there is none yet.

    Raises:
        UsageProblem: the sandbox has no package sets.
        EnvironmentUnavailable: it cannot be built.
    """
    if sandbox.environments is None:
        raise UsageProblem(f"the {sandbox.name} backend cannot give package sets", "use --backend jail")
    return sandbox.environments.get_lease(wanted)


def _write_images(images: list[Image], *, as_json: bool) -> None:
    table = build_listing("image", "pins", "packages", "size", "unused")
    for image in images:
        unused_s, packages = time.time() - image.used_at, len(image.lock.packages)
        row = {
            "key": image.key,
            "path": str(image.path),
            "ecosystem": image.lock.ecosystem.value,
            "pins": list(image.lock.pins),
            "packages": packages,
            "size_bytes": image.size_bytes,
            "unused_s": round(unused_s, 1),
        }
        if as_json:
            write_json(row)
        pins, unused = Text(format_controls(", ".join(image.lock.pins))), f"{unused_s / _DAY_S:.1f} days"
        table.add_row(image.key[:12], pins, str(packages), decimal(image.size_bytes), unused)
    if not as_json:
        console.print(table)

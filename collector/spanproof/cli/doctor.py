"""`spanproof doctor`: which isolation features this machine gives, backend by backend.

Out: a table, or one JSON line per backend. Exit code 0 when the backend asked for can run, 1 when it lacks a
feature it cannot do without; where none is asked for, that is the jail, which is what runs by default.
"""

from __future__ import annotations

from typing import Any

import click
from rich.table import Table
from rich.text import Text

from spanproof.cli import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.console import UsageProblem, console, print_json
from spanproof.sandbox import Availability, Feature, SandboxUnavailable
from spanproof.sandbox.registry import availability, backend_names

_DEFAULT = "jail"


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line per backend.")
@click.option("--backend", help="Ask for one backend only.")
def command(as_json: bool, backend: str | None) -> int:
    """Say which isolation features this machine gives."""
    found = [_probe(name) for name in ((backend,) if backend else backend_names())]
    for one in found:
        if as_json:
            print_json(_row(one))
        else:
            _show(one)
    decisive = [one for one in found if one.backend == (backend or _DEFAULT)]
    return EXIT_PASS if all(one.usable for one in decisive) else EXIT_GATE_FAILED


def _probe(name: str) -> Availability:
    try:
        return availability(name)
    except SandboxUnavailable as problem:
        raise UsageProblem(str(problem), f"name one of: {', '.join(backend_names())}") from problem


def _row(found: Availability) -> dict[str, Any]:
    return {
        "backend": found.backend,
        "usable": found.usable,
        "features": [
            {
                "name": feature.name,
                "present": feature.present,
                "required": feature.required,
                "detail": feature.detail,
                "remedy": feature.remedy,
            }
            for feature in found.features
        ],
    }


def _show(found: Availability) -> None:
    table = Table(
        title=f"sandbox backend: {found.backend}", title_justify="left", box=None, padding=(0, 2, 0, 0)
    )
    table.add_column("feature")
    table.add_column("here")
    table.add_column("detail", overflow="fold")
    for feature in found.features:
        table.add_row(feature.name, _mark(feature), Text(feature.detail))
    console.print(table)
    for feature in found.features:
        if not feature.present and feature.remedy:
            console.print(Text.assemble((f"{feature.name}: ", "bold"), feature.remedy), soft_wrap=True)
    if found.usable:
        console.print(Text(f"{found.backend} can run here.", style="green"))
    else:
        lacking = ", ".join(feature.name for feature in found.missing)
        console.print(Text(f"{found.backend} cannot run here: it needs {lacking}.", style="bold red"))


def _mark(feature: Feature) -> Text:
    if feature.present:
        return Text("yes", style="green")
    return Text("NO", style="bold red") if feature.required else Text("no", style="yellow")

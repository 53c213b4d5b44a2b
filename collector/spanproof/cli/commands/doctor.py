"""`spanproof doctor`: which isolation features this machine has, what is open in a store; and cleaning up.

Out: one sentence, a table of the chosen backend, a line for each other one and for each plug-in; or one JSON
line per backend.
Exit code 0 when the chosen backend can run, 1 when it lacks a required feature; the default is the jail.
With --store: what is open, what a judge of it costs, and which notifications of alerts are undelivered.
With --clean: what killed sandboxes left and was removed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.options.backend import DEFAULT_BACKEND, open_backend, settings_option
from spanproof.cli.options.config import read_config
from spanproof.cli.output.console import console, select_attributes, write_json
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing
from spanproof.cli.plugins import list_plugins
from spanproof.cli.problems import UsageProblem
from spanproof.sandbox import Availability, Feature, SandboxUnavailable
from spanproof.sandbox.registry import list_backends


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line per backend.")
@click.option("--backend", help="Probe only this backend.")
@click.option("--all", "show_all", is_flag=True, help="Show the features of the other backends too.")
@click.option("--clean", is_flag=True, help="Remove what killed sandboxes left behind.")
@click.option(
    "--store",
    "location",
    help="Show what is open, and which notifications were not delivered, in this store.",
)
@click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path),
    help="The configuration that names the judge whose costs are shown.",
)
@settings_option
def command(
    as_json: bool,
    backend: str | None,
    show_all: bool,
    clean: bool,
    location: str | None,
    config_file: Path | None,
    settings: dict[str, str],
) -> int:
    """Show what this machine can run, and how to get what is missing.

    Exit code 0 if the backend can run with its settings. Without --backend that is the default one; a line
    each names the other backends, and the plug-ins with what loads them and what they lack.

    With --clean, remove what killed sandboxes left behind, and show it: processes, control groups,
    directories and containers.

    With --store, show instead which share of the last seven days' verdicts is open, how much of it a judge
    settled, what a judge of the rest costs for 1,000 runs, and which notifications were not delivered.
    """
    chosen = backend or DEFAULT_BACKEND
    if clean:
        return _remove_leftovers(chosen, settings, as_json)
    if location is not None:
        # The store takes longer to load than all that is probed.
        from spanproof.cli.open_verdicts import write_open_verdicts

        write_open_verdicts(location, read_config(config_file).judge, as_json=as_json)
        return EXIT_PASS
    probed = {}
    for name in (backend,) if backend else list_backends():
        with open_backend(name, settings if name == chosen else {}) as sandbox:
            probed[name] = sandbox.availability()
        if as_json:
            write_json(_to_row(probed[name]))
    if not as_json:
        _write_backends(probed, chosen, show_all)
        if backend is None:
            _write_plugins()
    if probed[chosen].usable:
        return EXIT_PASS
    return EXIT_GATE_FAILED


def _write_backends(probed: dict[str, Availability], chosen: str, with_others: bool) -> None:
    """Print the chosen backend's state in a sentence and its features; the others in a line each."""
    _write_sentence(probed[chosen])
    _write_backend(probed[chosen])
    others = [found for name, found in probed.items() if name != chosen]
    if with_others:
        for found in others:
            _write_backend(found)
            _write_sentence(found)
        return
    for found in others:
        state = "can run here" if found.usable else f"needs {_format_missing(found)}"
        console.print(format_line(f"{found.backend}: {state}", style="dim"), soft_wrap=True)
    if others:
        console.print(Text("spanproof doctor --all shows the other backends' features."), soft_wrap=True)


def _write_plugins() -> None:
    """Print what loads each plug-in, and what it needs where a package is missing."""
    for plugin in list_plugins():
        missing = plugin.missing
        state = "can run here"
        if missing:
            state = f"needs {', '.join(missing)}: pip install 'spanproof[{plugin.extra}]'"
        line = f"{plugin.name}, loaded by {plugin.loaded_by}: {state}"
        console.print(format_line(line, style="dim"), soft_wrap=True)


def _remove_leftovers(backend: str, settings: dict[str, str], as_json: bool) -> int:
    """Remove what killed sandboxes of a backend left."""
    with open_backend(backend, settings) as sandbox:
        try:
            removed = sandbox.remove_leftovers()
        except SandboxUnavailable as problem:
            raise UsageProblem(str(problem), "see: spanproof doctor") from problem
    if as_json:
        write_json({"backend": backend, "removed": removed})
        return EXIT_PASS
    for thing in removed:
        console.print(Text(f"removed {thing}"), soft_wrap=True)
    if not removed:
        console.print(f"{backend}: nothing was left behind")
    return EXIT_PASS


def _to_row(found: Availability) -> dict[str, Any]:
    return {
        **select_attributes(found, "backend usable tier"),
        "features": [
            select_attributes(feature, "name present required detail remedy") for feature in found.features
        ],
    }


def _write_backend(found: Availability) -> None:
    table = build_listing("feature", "here", "detail", title=f"sandbox backend: {found.backend}", gap=2)
    for feature in found.features:
        table.add_row(feature.name, _format_presence(feature), Text(feature.detail))
    console.print(table)
    remedies: dict[str, list[str]] = {}
    for feature in found.features:
        if not feature.present and feature.remedy:
            remedies.setdefault(feature.remedy, []).append(feature.name)
    for remedy, names in remedies.items():
        console.print(Text.assemble((f"{', '.join(names)}: ", "bold"), remedy), soft_wrap=True)


def _write_sentence(found: Availability) -> None:
    """Print whether a backend can run here, and what it needs where it cannot."""
    if found.usable:
        tier = f", {found.tier} tier" if found.tier is not None else ""
        console.print(Text(f"The sandbox works here: backend {found.backend}{tier}.", style="green"))
    else:
        console.print(
            Text(
                f"The sandbox does not work here: backend {found.backend} needs {_format_missing(found)}.",
                style="bold red",
            )
        )


def _format_missing(found: Availability) -> str:
    return ", ".join(feature.name for feature in found.missing)


def _format_presence(feature: Feature) -> Text:
    if feature.present:
        return Text("yes", style="green")
    if feature.required:
        return Text("NO", style="bold red")
    return Text("no", style="yellow")

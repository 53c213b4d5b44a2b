"""`spanproof demo`: the main job, end to end, on real agents and embedded defaults.

Starts the collector, runs the agents in a process of their own, shows the verdicts, and puts them to their
three uses: an alert, a gate, a regression case. Everything it writes stays in one directory, so that the
other commands can be tried on it.
"""

from __future__ import annotations

from pathlib import Path

import click

DEFAULT_DIRECTORY = Path(".spanproof/demo")


@click.command("demo")
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEFAULT_DIRECTORY,
    show_default=True,
    help="Where the demo keeps its store, log and suite; emptied first.",
)
@click.option("--json", "as_json", is_flag=True, help="The outcome as one JSON object on stdout.")
def command(directory: Path, as_json: bool) -> int:
    """Run real agents, evaluate their traces, and show the verdicts."""
    # Here, because the agents' process imports this package and loads no evaluator.
    from spanproof.cli.demo.tour import NotAsPromised, take_tour

    try:
        take_tour(directory, as_json=as_json)
    except NotAsPromised as broken:
        raise click.ClickException(f"the demo did not go as promised: {broken}") from broken
    return 0

"""`spanproof demo`: collect and evaluate traces of real agents, with embedded defaults.

Starts the collector, runs the agents in a process of their own, shows the verdicts, and uses them for an
alert, a gate and a regression case. Everything it writes is in one directory, so that the other commands can
be tried on it.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.problems import UsageProblem

_FRAMEWORKS = ("smolagents", "langchain_core", "langgraph")


@click.command("demo")
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".spanproof/demo"),
    show_default=True,
    help="Where the demo keeps its store, log and suite; emptied first.",
)
@click.option(
    "--open", "in_browser", is_flag=True, help="Show the runs in the browser afterwards, until Ctrl-C."
)
@click.option("--json", "as_json", is_flag=True, help="The outcome as one JSON object on stdout.")
def command(directory: Path, in_browser: bool, as_json: bool) -> int:
    """Run real agents, evaluate their traces, and show the verdicts."""
    # Here, because the agents' process imports this package and loads no evaluator.
    from spanproof.cli.demo.tour import run_demo

    if missing := [name for name in _FRAMEWORKS if find_spec(name) is None]:
        raise UsageProblem(
            f"the demo's agents need {', '.join(missing)}, not installed here",
            "pip install 'spanproof[demo]'",
        )
    run_demo(directory, as_json=as_json)
    if in_browser:
        from spanproof.cli.commands.console import run_console

        run_console(str(directory / "store"), in_browser=True)
    return EXIT_PASS

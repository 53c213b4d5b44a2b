"""`spanproof mcp`: verdicts, traces and suites as tools of the Model Context Protocol, for coding agents."""

from __future__ import annotations

from pathlib import Path

import click

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.policy import policy_option
from spanproof.cli.options.store import store_option
from spanproof.cli.problems import UsageProblem


@click.command("mcp")
@store_option
@policy_option
@click.option(
    "--suites", type=click.Path(path_type=Path), default=Path(), help="Folder that holds the suites."
)
@click.option("--allow-writes", is_flag=True, help="Offer tools that change files: promotion into a suite.")
def command(location: str, policy_file: Path | None, suites: Path, allow_writes: bool) -> int:
    """Serve traces, verdicts and suites to a coding agent over MCP.

    It speaks on stdin and stdout.

    Without `--allow-writes` no tool changes a file.
    """
    try:
        import mcp  # noqa: F401 - only whether the extra is installed
    except ModuleNotFoundError as missing:
        raise UsageProblem(
            "the MCP server needs the package 'mcp'", "pip install 'spanproof[mcp]'"
        ) from missing
    from spanproof.cli.mcp.server import build_server
    from spanproof.cli.mcp.tools import Tools

    build_server(Tools(location, policy_file, suites), allow_writes=allow_writes).run("stdio")
    return EXIT_PASS

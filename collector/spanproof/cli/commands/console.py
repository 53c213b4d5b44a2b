"""`spanproof console`: the pages and the API over a store, in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from spanproof.api import READ_BY_ALL, ConsoleServer, ConsoleSettings
from spanproof.api.server import update_garbage_thresholds
from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.backend import DEFAULT_BACKEND, open_backend
from spanproof.cli.options.store import opened_store, store_option
from spanproof.cli.output.console import console, write_json
from spanproof.cli.problems import UsageProblem
from spanproof.config.hosts import is_loopback

_PORT = 4319


@click.command("console")
@store_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_PORT,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--token",
    "tokens",
    multiple=True,
    envvar="SPANPROOF_CONSOLE_TOKENS",
    show_envvar=True,
    help="Token of a reader; required on any address but loopback. May be given several times.",
)
@click.option(
    "--writer-token",
    "writers",
    multiple=True,
    envvar="SPANPROOF_CONSOLE_WRITERS",
    show_envvar=True,
    help="Token of a writer, who also labels, promotes and silences. May be given several times.",
)
@click.option(
    "--workspace",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder of suites, experiments and gate reports to show; new cases go into its suites.",
)
@click.option("--open", "in_browser", is_flag=True, help="Open it in the browser.")
@click.option("--json", "as_json", is_flag=True, help="Print where it listens as one JSON object.")
def command(
    location: str,
    host: str,
    port: int,
    tokens: tuple[str, ...],
    writers: tuple[str, ...],
    workspace: Path | None,
    in_browser: bool,
    as_json: bool,
) -> int:
    """Show a store's traces and verdicts in the browser, until Ctrl-C.

    The store may be that of a running collector, which serves the same by itself; labels are then written
    through the collector.
    """
    if not is_loopback(host) and not (tokens or writers):
        raise UsageProblem(f"--host {host} is reachable by others", "Give a reader's token: --token TEXT.")
    settings = ConsoleSettings(
        tokens, writers, workspace=workspace, open_sandbox=lambda: open_backend(DEFAULT_BACKEND, {})
    )
    run_console(location, host, port, settings, in_browser=in_browser, as_json=as_json)
    return EXIT_PASS


def run_console(
    location: str,
    host: str = "127.0.0.1",
    port: int = 0,
    settings: ConsoleSettings = READ_BY_ALL,
    *,
    in_browser: bool = False,
    as_json: bool = False,
) -> None:
    """Serve the console of a store until Ctrl-C.

    Raises:
        UsageProblem: there is no such store.
        OSError: the address cannot be used.
    """
    with (
        opened_store(location, writing=True) as store,
        ConsoleServer(
            lambda: store, host, port, settings, fall_back=False, on_load=update_garbage_thresholds
        ) as server,
    ):
        if as_json:
            write_json({"url": server.url, "store": store.name})
        else:
            console.print(f"console  {server.url}")
            console.print("Ctrl-C ends it.", style="dim")
        if in_browser:
            webbrowser.open(server.url)
        server.wait()

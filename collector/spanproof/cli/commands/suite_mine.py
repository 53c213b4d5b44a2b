"""`spanproof suite mine`: cases out of a repository's bug-fix commits."""

from __future__ import annotations

from pathlib import Path

import click

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.backend import open_backend, with_backend_options
from spanproof.cli.output.console import console, write_json, write_remark
from spanproof.cli.output.words import format_count
from spanproof.suites import iter_mined
from spanproof.suites.editing import add_cases


@click.command("mine")
@click.argument("repository", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--suite",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Folder of the suite that gets the cases.",
)
@click.option("--since", default="", help="Only commits after this, as `git log --since` takes it.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="Look at at most this many bug-fix commits.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
@with_backend_options
def mine_cases(
    repository: Path,
    suite: Path,
    since: str,
    limit: int,
    as_json: bool,
    backend: str,
    settings: dict[str, str],
) -> int:
    """Add cases from bug-fix commits that came with a test.

    The task is the commit's message, the files are those before it, its test functions are the hidden tests.
    A commit counts where these tests fail before it and pass after it, both in the sandbox.
    """
    with open_backend(backend, settings) as sandbox:
        found = []
        for item in iter_mined(repository, sandbox, since=since, limit=limit):
            found.append(item)
            if item.reason:
                write_remark(f"{item.commit[:12]} {item.subject[:60]}: {item.reason}")
    cases = [item.case for item in found if item.case is not None]
    added = add_cases(suite, cases)
    if as_json:
        left_out = [{"commit": item.commit, "reason": item.reason} for item in found if item.reason]
        write_json({**added.to_json(), "left_out": left_out})
    else:
        commits = format_count(len(found), "bug-fix commit")
        console.print(
            f"{commits} with a test: {len(added.added)} added, {len(added.existing)} known; {suite}",
            soft_wrap=True,
        )
    return EXIT_PASS

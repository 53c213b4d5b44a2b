"""`spanproof database`: the store's schema, backups, and deletion of personal data."""

from __future__ import annotations

from pathlib import Path

import click

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.store import opened_store, store_option
from spanproof.cli.output.console import console, write_json
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.store import Store, StoreError, open_store


@click.group()
def command() -> None:
    """Show the store's schema, back it up, restore it, delete traces from it."""


@command.command()
@click.option("--database", default="spanproof", show_default=True, help="Name of the database.")
@click.option("--cluster", default="", help="Name of the cluster; without it the DDL is for one server.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line per statement.")
def ddl(database: str, cluster: str, as_json: bool) -> int:
    """Print the statements that create the newest schema.

    For those who may not let a service create tables: run them, then start the server with the same DSN.
    """
    from spanproof.store.layout import Layout

    try:
        layout = Layout.from_options(database, {"cluster": cluster})
    except StoreError as problem:
        raise UsageProblem(str(problem), "Give the name that the servers' remote_servers have.") from None
    for statement in layout.list_statements():
        write_json({"statement": statement}) if as_json else click.echo(f"{statement};\n")
    return EXIT_PASS


@command.command()
@click.argument("directory", type=click.Path(path_type=Path))
@store_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def backup(directory: Path, location: str, as_json: bool) -> int:
    """Write everything in the store into a new DIRECTORY.

    A server may run meanwhile. A trace that is in the backup is there with all its spans, scores, snippets
    and replays.
    """
    with opened_store(location) as store:
        manifest = store.back_up(directory)
    _write_result(f"backed up to {directory}", manifest.rows, len(manifest.tables), as_json=as_json)
    return EXIT_PASS


@command.command()
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@store_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def restore(directory: Path, location: str, as_json: bool) -> int:
    """Write the backup in DIRECTORY into an empty store.

    The store is made where there is none, and may be of any kind: a backup of a directory may go to a server
    or a cluster, and the other way round.
    """
    with open_store(location) as store:
        manifest = store.restore(directory)
    _write_result(f"restored into {location}", manifest.rows, len(manifest.tables), as_json=as_json)
    return EXIT_PASS


@command.command()
@click.option("--trace", "traces", multiple=True, help="Id of a trace; may be given several times.")
@click.option("--session", help="Id of a session: all of its traces.")
@click.option("--user", help="Id of a user: all of their traces.")
@click.option("--project", help="Only in this project. By default in every project.")
@click.option("--yes", is_flag=True, help="Delete the traces. Without it they are only counted.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def delete(
    traces: tuple[str, ...],
    session: str | None,
    user: str | None,
    project: str | None,
    yes: bool,
    location: str,
    as_json: bool,
) -> int:
    """Delete traces for good, with everything about them.

    That is spans, scores, snippets, replays, failures and ratings. Rows are gone from disk when this returns.
    It works beside a running server too. Spans that arrive later, or wait in the server's log, are stored as
    new ones: stop the sender first.
    """
    if not traces and session is None and user is None:
        raise UsageProblem("nothing to delete is named", "Give --trace, --session or --user.")
    with opened_store(location, writing=yes) as store:
        ids = _list_trace_ids(store, traces, session, user, project)
        deleted = store.erase_traces(ids, project) if yes else 0
    if as_json:
        write_json({"traces": ids, "deleted": deleted})
    elif yes:
        console.print(f"{format_count(deleted, 'trace')} deleted")
    else:
        console.print(f"{format_count(len(ids), 'trace')} would be deleted; --yes deletes", soft_wrap=True)
    return EXIT_PASS


def _list_trace_ids(
    store: Store, traces: tuple[str, ...], session: str | None, user: str | None, project: str | None
) -> list[str]:
    from spanproof.trace.dimensions import Subject

    found = dict.fromkeys(trace.strip().lower() for trace in traces)
    for subject, value in ((Subject.SESSION, session), (Subject.USER, user)):
        if value is not None:
            found |= dict.fromkeys(store.traces_of(subject, value, project))
    return list(found)


def _write_result(what: str, rows: int, tables: int, *, as_json: bool) -> None:
    if as_json:
        write_json({"rows": rows, "tables": tables})
    else:
        console.print(f"{what}: {format_count(rows, 'row')} of {tables} tables", soft_wrap=True)

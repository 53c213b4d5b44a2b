"""`spanproof session [ID]`: conversations and teams of agents, judged as a whole."""

from __future__ import annotations

from collections.abc import Iterator

import click
from rich.table import Table
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.store import opened_store, parse_since, store_option, with_limit_option
from spanproof.cli.output.console import console, select_attributes, write_json, write_remark
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing
from spanproof.cli.output.verdicts import format_state
from spanproof.cli.output.words import format_count, format_time
from spanproof.cli.problems import UsageProblem
from spanproof.evaluators.sessions import SessionVerdict, evaluate_session
from spanproof.store import Store
from spanproof.trace.codec import to_plain

_MAX_TRACES = 500


@click.command("session")
@click.argument("session", required=False)
@store_option
@click.option(
    "--since",
    default="7d",
    show_default=True,
    help="Without SESSION: only conversations that ended in this time before now: 90s, 15m, 24h, 7d.",
)
@with_limit_option(50, "Without SESSION: list at most this many conversations.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON to stdout.")
def command(session: str | None, location: str, since: str, limit: int, as_json: bool) -> int:
    """Judge one conversation as a whole, or list them.

    A conversation is all traces with the same session.id or gen_ai.conversation.id.
    """
    with opened_store(location) as store:
        if session is None:
            return _write_sessions(store, parse_since(since), limit, as_json=as_json)
        ids = store.browse.list_traces_of_session(session, _MAX_TRACES)
        if not ids:
            raise UsageProblem(f"no trace has the session id {session!r}", "`spanproof session` lists them.")
        verdict = evaluate_session(store.evaluations(ids))
    if as_json:
        write_json({"session": session, **to_plain(verdict)})
    else:
        for line in _iter_session_parts(session, verdict):
            console.print(line)
    return EXIT_PASS


def _write_sessions(store: Store, since_ns: int, limit: int, *, as_json: bool) -> int:
    rows = store.browse.list_sessions(start_ns=since_ns, limit=limit)
    if as_json:
        for row in rows:
            write_json(select_attributes(row, "id start_ns end_ns traces spans errors services"))
    elif not rows:
        write_remark("no conversation; spans name theirs with session.id or gen_ai.conversation.id")
    else:
        table = build_listing("session", "last", "traces", "services")
        for row in rows:
            services = format_line(", ".join(row.services))
            table.add_row(format_line(row.id), format_time(row.end_ns), f"{row.traces:,}", services)
        console.print(table)
    return EXIT_PASS


def _iter_session_parts(session: str, verdict: SessionVerdict) -> Iterator[Text | Table]:
    """Yield the verdict first, then the turns, the hand-overs and the first mistake."""
    yield Text.assemble(
        format_state(verdict.state), "  session ", format_line(session), f": {verdict.explanation}"
    )
    table = build_listing("turn", "state", "agent", "request", "trace")
    for turn in verdict.turns:
        request = format_line(turn.request or "(hidden)")
        if turn.is_retry:
            again = Text.assemble(request, (" (requested again)", "dim"))
        else:
            again = request
        table.add_row(
            str(turn.number), format_state(turn.state), format_line(turn.agent), again, turn.trace_id[:8]
        )
        if turn.why:
            table.add_row("", "", "", Text.assemble(format_line(turn.why), style="dim"), "")
    if verdict.turns:
        yield table
    for hand_over in verdict.hand_overs:
        line = Text.assemble(
            f"turn {hand_over.turn}: ", format_line(hand_over.giver), " → ", format_line(hand_over.receiver)
        )
        if hand_over.lost:
            shown = format_line(", ".join(hand_over.lost[:5]))
            line = Text.assemble(
                line, f"; {format_count(len(hand_over.lost), 'fact')} not passed on: ", shown
            )
        for replaced in hand_over.replaced:
            line = Text.assemble(line, "; ", format_line(f"{replaced.used} in place of {replaced.given}"))
        yield line
    if (mistake := verdict.first_mistake) is not None:
        where = f"turn {mistake.turn}, "
        yield Text.assemble(
            ("first mistake: ", "bold"), where, format_line(mistake.agent), ": ", format_line(mistake.why)
        )

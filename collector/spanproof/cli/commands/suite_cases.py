"""`spanproof suite list | show | edit | remove | export | import | diff`: the cases of a suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import yaml
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.output.console import console, write_json, write_remark, write_report
from spanproof.cli.output.hostile import format_controls, format_line
from spanproof.cli.output.listing import build_pairs
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.suites import (
    Case,
    Expect,
    Form,
    Reading,
    compare_suites,
    compute_version,
    encode_record,
    format_csv,
    format_jsonl,
    iter_dataset,
    load_case,
    load_suite,
    remove_case,
)
from spanproof.suites.editing import Edit, add_cases, update_case, update_case_text

BUCKETS = {"safe": 0.60, "risky": 0.25, "recovery": 0.15}
"""Tags that say what a case is for, with the share of the cases each should have."""

_SUITE = click.argument("suite", type=click.Path(path_type=Path, file_okay=False))
_JSON = click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")


@click.command("list")
@_SUITE
@click.option("--tag", multiple=True, help="Only cases with this tag; may be given several times.")
@_JSON
def list_cases(suite: Path, tag: tuple[str, ...], as_json: bool) -> int:
    """List the cases of a suite, its version and its balance.

    The balance is over cases with one of the tags safe, risky and recovery, beside 60, 25 and 15 %.
    """
    cases = [case for case in load_suite(suite) if set(tag) <= set(case.tags)]
    version, balance = compute_version(suite), _compute_balance(cases)
    if as_json:
        rows = [_to_row(case) for case in cases]
        write_json({"suite": suite.resolve().name, "version": version, "balance": balance, "cases": rows})
        return EXIT_PASS
    grid = build_pairs(4)
    for case in cases:
        grid.add_row(
            Text(case.id, style="bold"),
            _describe_kind(case),
            " ".join(case.tags),
            format_line(case.task or ""),
        )
    if cases:
        console.print(grid)
    shown = [f"{name} {share:.0%} (target {BUCKETS[name]:.0%})" for name, share in balance.items()]
    console.print(f"{format_count(len(cases), 'case')}, version {version}")
    if shown:
        console.print(f"balance: {', '.join(shown)}")
    return EXIT_PASS


@click.command("show")
@_SUITE
@click.argument("case")
@_JSON
def show_case(suite: Path, case: str, as_json: bool) -> int:
    """Show one case: its task, what a run must do, and the frozen run.

    CASE is its id or the start of it.
    """
    found = get_case(suite, case)
    if as_json:
        write_json(_to_row(found) | encode_record(found))
        return EXIT_PASS
    console.print(Text.assemble((found.id, "bold"), f"  {_describe_kind(found)}"), soft_wrap=True)
    text = yaml.safe_dump(encode_record(found), sort_keys=False, allow_unicode=True, width=100)
    console.print(Text(format_controls(text).rstrip()), soft_wrap=True)
    for expectation in found.expectations:
        if expectation.is_of_layer:
            style = {"fail": "bold red", "pass": "green"}.get(expectation.verdict, "dim")
            console.print(
                Text.assemble((f"{expectation.verdict:8}", style), f"{expectation.layer.value}: "), end=""
            )
            console.print(format_line(expectation.explanation), soft_wrap=True)
    return EXIT_PASS


@click.command("edit")
@_SUITE
@click.argument("case")
@click.option("--task", help="The task.")
@click.option("--notes", help="Notes for people.")
@click.option("--tag", multiple=True, help="Add a tag; may be given several times.")
@click.option("--untag", multiple=True, help="Remove a tag; may be given several times.")
@click.option(
    "--must", multiple=True, help="Add what a run must do, as in case.yaml; may be given several times."
)
@click.option("--must-not", multiple=True, help="Add what it must not do; may be given several times.")
@_JSON
def edit(suite: Path, case: str, as_json: bool, **changes: Any) -> int:
    """Change a case by options, or its case.yaml in an editor.

    What the editor leaves is checked before it is written. Options write the file anew, without comments.
    """
    found = get_case(suite, case)
    folder = suite / "cases" / found.id
    if any(changes.values()):
        entries = {name: tuple(_parse_entry(item) for item in changes[name]) for name in ("must", "must_not")}
        update_case(suite, found, Edit(**{**changes, **entries}))
    else:
        before = (folder / "case.yaml").read_text(encoding="utf-8")
        after = click.edit(before, extension=".yaml")
        if after is not None and after != before:
            update_case_text(folder, after)
    changed = load_case(folder)
    if as_json:
        write_json(_to_row(changed) | encode_record(changed))
    else:
        console.print(
            f"{folder / 'case.yaml'}: {'unchanged' if changed == found else 'changed'}", soft_wrap=True
        )
    return EXIT_PASS


@click.command("remove")
@_SUITE
@click.argument("cases", nargs=-1, required=True)
@_JSON
def remove(suite: Path, cases: tuple[str, ...], as_json: bool) -> int:
    """Delete cases with all their files.

    Each CASE is an id or the start of one.
    """
    ids = list(dict.fromkeys(get_case(suite, case).id for case in cases))
    for item in ids:
        remove_case(suite, item)
    if as_json:
        write_json({"removed": ids})
    else:
        console.print(f"removed {', '.join(ids)}", soft_wrap=True)
    return EXIT_PASS


@click.command("export")
@_SUITE
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="The file to write. By default stdout."
)
@click.option("--csv", "as_csv", is_flag=True, help="CSV instead of a JSON line per case.")
@_JSON
def export(suite: Path, out: Path | None, as_csv: bool, as_json: bool) -> int:
    """Write the cases as JSON lines or CSV, which `import` reads.

    A frozen run is written as its recorded tool calls and the id of its trace.
    """
    if as_csv and as_json:
        raise UsageProblem("--csv is given with --json", "Name one of the two.")
    write: Callable[[Sequence[Case]], str] = format_csv if as_csv else format_jsonl
    text = write(load_suite(suite))
    if out is None:
        click.echo(text, nl=False)
    else:
        write_report(out, text)
    return EXIT_PASS


@click.command("import")
@_SUITE
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--form",
    type=click.Choice([item.value for item in Form]),
    help="Form of the files. By default it is recognised.",
)
@click.option(
    "--expect",
    type=click.Choice([item.value for item in Expect]),
    default=Expect.CONTAINS.value,
    show_default=True,
    help="What an answer must do where the expected answer is text.",
)
@click.option("--task-key", default="", help="Key of the input, or column, that holds the task.")
@click.option(
    "--expected-key", default="", help="Key of the output, or column, that holds the expected answer."
)
@click.option("--tag", multiple=True, help="A tag for every case; may be given several times.")
@click.option("--replace", is_flag=True, help="Write existing cases again.")
@_JSON
def import_cases(
    suite: Path,
    files: tuple[Path, ...],
    form: str | None,
    expect: str,
    task_key: str,
    expected_key: str,
    tag: tuple[str, ...],
    replace: bool,
    as_json: bool,
) -> int:
    """Add cases from JSON lines, CSV, or another product's dataset export.

    Exports of Phoenix, Langfuse, LangSmith and Braintrust are recognised. Importing a file again changes
    nothing; a case that behaves as one of the suite does is left out.
    """
    how = Reading(Form(form) if form else None, Expect(expect), task_key, expected_key, tag)
    cases = [case for file in files for case in iter_dataset(file, how)]
    added = add_cases(suite, cases, replace=replace)
    if as_json:
        write_json(added.to_json())
    else:
        console.print(
            f"{format_count(len(cases), 'item')}: {len(added.added)} added, {len(added.existing)} known,"
            f" {len(added.duplicates)} duplicates; {suite}",
            soft_wrap=True,
        )
        if added.added and not any(case.requirements for case in cases):
            write_remark("no item has an expected answer: a run of the agent passes where no layer fails")
    return EXIT_PASS


@click.command("diff")
@click.argument("before", type=click.Path(path_type=Path, file_okay=False))
@click.argument("now", type=click.Path(path_type=Path, file_okay=False))
@_JSON
def diff(before: Path, now: Path, as_json: bool) -> int:
    """Compare two versions of a suite, case by case.

    Exit code 0 even if they differ.
    """
    found = compare_suites(before, now)
    if as_json:
        write_json(found.to_json())
        return EXIT_PASS
    for case in found.added:
        console.print(Text.assemble(("added    ", "green"), case), soft_wrap=True)
    for case in found.removed:
        console.print(Text.assemble(("removed  ", "red"), case), soft_wrap=True)
    for case, keys in found.changed:
        console.print(Text.assemble(("changed  ", "yellow"), case), soft_wrap=True)
        for key in keys:
            line = Text(f"  {key.key}: ")
            line.append_text(format_line(_format_value(key.before), style="red"))
            line.append(" → ")
            line.append_text(format_line(_format_value(key.now), style="green"))
            console.print(line, soft_wrap=True)
    if found.is_empty:
        console.print("no difference")
    return EXIT_PASS


COMMANDS = (list_cases, show_case, edit, remove, export, import_cases, diff)


def get_case(suite: Path, id_start: str) -> Case:
    """Return the case whose id starts so; raises UsageProblem where none or several do."""
    cases = load_suite(suite)
    exact = [case for case in cases if case.id == id_start]
    found = exact or [case for case in cases if id_start and case.id.startswith(id_start)]
    if len(found) == 1:
        return found[0]
    shown = ", ".join(case.id for case in (found or cases)[:5]) or "none"
    what = "is not one case" if found else "is no case"
    raise UsageProblem(
        f"{id_start!r} {what} of {suite}", f"The cases are: {shown}. `spanproof suite list` has all."
    )


def _parse_entry(text: str) -> Any:
    """Return an entry of `must`: an assertion as text, or YAML with `answer` or `call`."""
    try:
        entry = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    return entry if isinstance(entry, dict) else text


def _compute_balance(cases: Sequence[Case]) -> dict[str, float]:
    counts = Counter(tag for case in cases for tag in case.tags if tag in BUCKETS)
    total = sum(counts.values())
    if total:
        return {name: counts[name] / total for name in BUCKETS}
    return {}


def _describe_kind(case: Case) -> str:
    if case.origin is None:
        return str(case.source.get("form") or "written")
    fails = [
        expectation.layer.value
        for expectation in case.expectations
        if expectation.is_of_layer and expectation.verdict == "fail"
    ]
    return f"frozen, fails {', '.join(fails)}" if fails else "frozen"


def _to_row(case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        "task": case.task,
        "agent": case.agent,
        "tags": list(case.tags),
        "requirements": [str(item) for item in case.required],
        "trace_id": case.origin.trace_id if case.origin else None,
        "snippets": len(case.snippets),
        "has_tests": case.tests is not None,
        "expectation": {
            expectation.layer.value: expectation.verdict
            for expectation in case.expectations
            if expectation.is_of_layer
        },
    }


def _format_value(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return value
    return str(value)

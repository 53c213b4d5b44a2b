"""`spanproof sandbox`: run programs in a sandbox, one file for people or JSON Lines for other programs.

In: a file, or lines `{"id","language","source","timeout_s"?,"tests"?,"files"?,"entry_point"?,"http"?,"seed"?,
"clock"?,"packages"?,"database"?,"limits"?}`. Out: the outcome of each. A line whose program fails is answered
like any other; for one file the exit code is 1.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from spanproof.cli.commands.environment import build_image
from spanproof.cli.commands.environment import command as environment
from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.input.files import read_source
from spanproof.cli.input.jsonl import BadRow, Row, handle_lines, read_text_field
from spanproof.cli.options.backend import open_backend, with_backend_options, workers_option
from spanproof.cli.options.fixtures import Surroundings, parse_surroundings, with_fixture_options
from spanproof.cli.options.limits import OPTION_OF_LIMIT, find_reached, with_limit_options
from spanproof.cli.output.console import console, select_attributes, write_json
from spanproof.cli.output.hostile import format_controls
from spanproof.cli.output.listing import build_listing, build_pairs
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.sandbox import Execution, FailureClass, Limits, Program, Sandbox, SandboxError
from spanproof.sandbox.backends.self_check.promises import Finding, iter_findings
from spanproof.sandbox.environments import read_packages
from spanproof.sandbox.scanners.source import normalise_language

_LONGEST_S = 3600.0

# Limits that a line of --jsonl may have of its own.
_LINE_LIMITS = OPTION_OF_LIMIT.keys() - {"wall_s"}


@click.group()
def command() -> None:
    """Run programs in the sandbox."""


command.add_command(environment, "environment")


@command.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--jsonl", is_flag=True, help="Read programs as JSON Lines from stdin, answer with JSON Lines.")
@with_backend_options
@workers_option
@click.option("--language", help="Language of FILE; without it, its suffix decides.")
@click.option(
    "--timeout",
    "timeout_s",
    default=10.0,
    show_default=True,
    type=click.FloatRange(0.01, _LONGEST_S),
    help="Seconds it may take; a line's own timeout_s overrides it.",
)
@with_limit_options
@with_fixture_options
@click.option(
    "--packages",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Packages to install: a requirements.txt with exact pins, or a package-lock.json.",
)
@click.option("--json", "as_json", is_flag=True, help="Print FILE's result as one JSON line.")
def run(
    file: Path | None,
    jsonl: bool,
    backend: str,
    settings: dict[str, str],
    workers: int,
    language: str | None,
    timeout_s: float,
    given_limits: Mapping[str, int],
    surroundings: Surroundings,
    packages: Path | None,
    as_json: bool,
) -> int:
    """Run a program and report its outcome.

    FILE is a source file, `-` is stdin; with --jsonl, each line of stdin is a program. Exit code 1 when FILE
    ran and failed.
    """
    if jsonl == (file is not None):
        raise UsageProblem("give either FILE or --jsonl", "spanproof sandbox run program.py")
    if math.isnan(timeout_s):
        raise UsageProblem("--timeout is not a number", "give seconds: --timeout 10")
    limits = Limits(wall_s=timeout_s, cpu_s=timeout_s, **given_limits)
    wanted = read_packages(packages) if packages is not None else None
    with open_backend(backend, settings, workers) as sandbox:
        if wanted is not None:
            build_image(wanted, sandbox).close()
            fixtures = replace(surroundings.fixtures, packages=wanted.packages)
            surroundings = replace(surroundings, fixtures=fixtures)
        if jsonl:
            _start_sandbox(sandbox)
            return handle_lines(lambda row: _build_row(sandbox, row, limits, surroundings), workers)
        assert file is not None
        language, source = read_source(file, language)
        program = Program(normalise_language(language), source, limits=limits)
        execution = sandbox.run(surroundings.add_to(program))
    if as_json:
        write_json(_to_row(str(file), program, execution))
    else:
        _write_run(execution, limits)
    if execution.failure_class is FailureClass.OK:
        return EXIT_PASS
    return EXIT_GATE_FAILED


@command.command()
@with_backend_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line.")
def check(backend: str, settings: dict[str, str], as_json: bool) -> int:
    """Check each guarantee of a backend; exit code 1 if one does not hold."""
    with open_backend(backend, settings, 2) as sandbox:
        _start_sandbox(sandbox)
        findings = list(iter_findings(sandbox))
    broken = [finding for finding in findings if finding.outcome == "broken"]
    if as_json:
        write_json({"backend": backend, "kept": not broken, "promises": [asdict(one) for one in findings]})
    else:
        _write_findings(findings)
    return EXIT_GATE_FAILED if broken else EXIT_PASS


def _write_findings(findings: list[Finding]) -> None:
    styles = {"kept": "green", "broken": "bold red", "not_applicable": "dim"}
    table = build_listing("promise", "outcome", "what")
    for finding in findings:
        outcome = Text(finding.outcome.replace("_", " "), style=styles[finding.outcome])
        table.add_row(Text(finding.name), outcome, Text(finding.detail or finding.text))
    console.print(table)


def _start_sandbox(sandbox: Sandbox) -> None:
    """Start it before the first line: a machine that cannot run it says so once, not on every line."""
    sandbox.run(Program("python", "pass"))


def _build_row(sandbox: Sandbox, row: Row, limits: Limits, surroundings: Surroundings) -> Row:
    program = _parse_program(row, limits)
    program = parse_surroundings(row, surroundings).add_to(program)
    try:
        execution = sandbox.run(program)
    except SandboxError as problem:
        raise BadRow(str(problem)) from problem
    return _to_row(row.get("id"), program, execution)


def _parse_program(row: Row, limits: Limits) -> Program:
    if row.get("timeout_s") is None:
        timeout_s = limits.wall_s
    else:
        timeout_s = row["timeout_s"]
    is_number = isinstance(timeout_s, int | float) and not isinstance(timeout_s, bool)
    if not is_number or not 0 < timeout_s <= _LONGEST_S:
        raise BadRow(
            f"field 'timeout_s' must be a number of seconds up to {_LONGEST_S:.0f}, got {timeout_s!r}"
        )
    of_line = _parse_limits(row.get("limits"))
    return Program(
        language=normalise_language(read_text_field(row, "language")),
        source=read_text_field(row, "source"),
        tests=_load_optional_text(row, "tests"),
        entry_point=_load_optional_text(row, "entry_point"),
        files=_parse_files(row.get("files")),
        stdin=(_load_optional_text(row, "stdin") or "").encode("utf-8", "surrogatepass"),
        limits=replace(limits, wall_s=float(timeout_s), cpu_s=float(timeout_s), **of_line),
    )


def _parse_limits(value: object) -> dict[str, int]:
    """Return the limits of one line, by their names in `Limits`; time has a field of its own."""
    if value is None:
        return {}
    names = ", ".join(sorted(_LINE_LIMITS))
    if not isinstance(value, dict) or not value.keys() <= _LINE_LIMITS:
        raise BadRow(f"field 'limits' must be an object with some of {names}, got {value!r:.80}")
    for name, number in value.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise BadRow(f"limit {name!r} must be a whole number above 0, got {number!r:.80}")
    return value


def _load_optional_text(row: Row, name: str) -> str | None:
    return None if row.get(name) is None else read_text_field(row, name)


def _parse_files(value: object) -> dict[str, bytes]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadRow(f"field 'files' must be an object of contents by path, got {type(value).__name__}")
    return {str(name): _parse_content(str(name), content) for name, content in value.items()}


def _parse_content(name: str, content: object) -> bytes:
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")
    if isinstance(content, Mapping) and isinstance(content.get("base64"), str):
        try:
            return base64.b64decode(content["base64"], validate=True)
        except binascii.Error as problem:
            raise BadRow(f"file {name!r}: not base64: {problem}") from problem
    raise BadRow(f'file {name!r}: must be text or {{"base64": …}}')


def _to_row(row_id: object, program: Program, execution: Execution) -> dict[str, Any]:
    row = {
        "id": row_id,
        **select_attributes(execution, "failure_class exit_code signal stdout stderr"),
        "wall_s": round(execution.wall_s, 6),
        "cpu_s": round(execution.cpu_s, 6),
        "peak_memory_bytes": execution.peak_memory_bytes,
        "attempts": [select_attributes(attempt, "kind target allowed") for attempt in execution.attempts],
        **select_attributes(execution, "tests_passed tests_total"),
    }
    if program.tests is not None:
        row |= select_attributes(execution, "tests_names tests_skipped tests_apart")
    if limit := find_reached(execution, program.limits):
        row["limit"] = limit
    if execution.reason is not None:
        row["error"] = execution.reason
    if program.language == "sql":
        row["result"] = execution.result
    return row


def _write_run(execution: Execution, limits: Limits) -> None:
    style = "green" if execution.failure_class is FailureClass.OK else "red"
    facts = build_pairs()
    facts.add_row("outcome", Text(execution.failure_class.value, style=f"bold {style}"))
    if execution.reason is not None:
        facts.add_row("reason", Text(format_controls(execution.reason)))
    limit = find_reached(execution, limits)
    if limit is not None:
        facts.add_row(
            "limit", f"{limit['name']} of {limit['value']:,} reached; raise it with {limit['option']}"
        )
    facts.add_row("exit", _format_exit(execution))
    if execution.tests_total is not None:
        facts.add_row("tests", f"{execution.tests_passed} of {execution.tests_total} passed")
        if execution.tests_skipped:
            facts.add_row("", f"{len(execution.tests_skipped)} skipped by their author")
        if execution.tests_apart is False:
            facts.add_row("", "not apart from the program: hostile code may forge them")
    facts.add_row("time", f"{execution.wall_s * 1000:.1f} ms wall, {execution.cpu_s * 1000:.1f} ms CPU")
    facts.add_row("memory", f"{execution.peak_memory_bytes / 2**20:.1f} MiB at most")
    for attempt in execution.attempts:
        outcome = "allowed" if attempt.allowed else "refused"
        facts.add_row("attempt", Text(format_controls(f"{attempt.kind.value} {attempt.target} ({outcome})")))
    for name, size in execution.files.items():
        facts.add_row("left", Text(format_controls(f"{name} ({format_count(size, 'byte')})")))
    for title, text in (("stdout", execution.stdout), ("stderr", execution.stderr)):
        if text:
            console.rule(title, align="left")
            console.print(format_controls(text.rstrip("\n")), markup=False, soft_wrap=True)
    console.rule(align="left")
    console.print(facts)


def _format_exit(execution: Execution) -> str:
    if execution.signal is not None:
        return f"signal {execution.signal}"
    if execution.exit_code is None:
        return "still running"
    return f"code {execution.exit_code}"

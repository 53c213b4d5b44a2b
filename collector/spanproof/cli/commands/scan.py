"""`spanproof scan`: check source code against a policy, without running it.

In: source files, notebooks, Markdown, stdin, or JSON Lines. Out: a list for people, JSON or SARIF for
machines. Exit code 1 when a file is denied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.input.code_files import CodeFile, read_code
from spanproof.cli.input.jsonl import Row, check_no_files, handle_lines, read_text_field
from spanproof.cli.options.policy import load_pipeline, policy_option
from spanproof.cli.output.console import SCAN_STYLES, console, select_attributes, write_json
from spanproof.cli.output.hostile import format_controls
from spanproof.cli.output.listing import MOST_GREEN_ROWS
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.sandbox.scanners.model import Finding, Scan, Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.rules import get_anchor
from spanproof.sandbox.scanners.sarif import build_sarif_log
from spanproof.sandbox.scanners.score import compute_security_score


@dataclass(frozen=True, slots=True)
class _Scanned:
    """A program with what its scan found."""

    name: str
    language: str
    scan: Scan


@click.command("scan")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--jsonl", "as_jsonl", is_flag=True, help="Read JSON Lines from stdin, write one answer per line."
)
@policy_option
@click.option("--language", help="Language of the files; without it, the suffix of each decides.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON per file.")
@click.option("--sarif", "as_sarif", is_flag=True, help="One SARIF 2.1.0 document.")
@click.option(
    "--docs-url", default="", help="Address of the published docs/, for the links of rules in SARIF."
)
def command(
    files: tuple[Path, ...],
    as_jsonl: bool,
    policy_file: Path | None,
    language: str | None,
    as_json: bool,
    as_sarif: bool,
    docs_url: str,
) -> int:
    """Scan source code against a policy, without running it.

    FILES are source files, notebooks, or Markdown whose code blocks are scanned; `-` is stdin. Exit code 1
    when one of them is denied.
    """
    if docs_url and not docs_url.startswith(("https://", "http://")):
        raise UsageProblem(f"--docs-url {docs_url!r} is no address", "give one that begins with https://")
    pipeline = load_pipeline(policy_file)
    if as_jsonl:
        check_no_files(files)
        return handle_lines(lambda row: _build_row(pipeline, row))
    if not files:
        raise UsageProblem("no file to scan", "name files, `-` for stdin, or --jsonl")
    # All of them first: a file that cannot be read is reported before anything is scanned.
    programs = [program for name in files for program in read_code(name, language)]
    scanned = [_Scanned(program.name, program.language, _run_scan(pipeline, program)) for program in programs]
    if as_sarif:
        write_json(build_sarif_log([(program.name, program.scan) for program in scanned], docs_url))
    elif as_json:
        for program in scanned:
            write_json({"file": program.name, "language": program.language, **_as_row(program.scan)})
    else:
        _write_scans(scanned)
    denied = any(program.scan.verdict is Verdict.DENY for program in scanned)
    return EXIT_GATE_FAILED if denied else EXIT_PASS


def _write_scans(scanned: Sequence[_Scanned]) -> None:
    """Print a list for people: of many programs that are all in order, their number."""
    is_all_green = all(
        program.scan.verdict is Verdict.ALLOW and not program.scan.findings for program in scanned
    )
    if is_all_green and len(scanned) > MOST_GREEN_ROWS:
        counted = format_count(len(scanned), "program")
        console.print(Text.assemble(("allow", SCAN_STYLES["allow"]), f"  {counted}, no finding"))
        return
    for program in scanned:
        _write_scan(program.name, program.scan)


def _run_scan(pipeline: Pipeline, program: CodeFile) -> Scan:
    scan = pipeline.scan(program.language, program.source)
    return replace(scan, findings=tuple(program.build_located(finding) for finding in scan.findings))


def _build_row(pipeline: Pipeline, row: Row) -> Row:
    scan = pipeline.scan(read_text_field(row, "language"), read_text_field(row, "source"))
    return {"id": row.get("id"), **_as_row(scan)}


def _as_row(scan: Scan) -> Row:
    return {
        "verdict": scan.verdict.value,
        "findings": [_to_finding_row(finding) for finding in scan.findings],
        "security_score": round(compute_security_score(scan.findings), 4),
        "elapsed_us": scan.elapsed_us,
    }


def _to_finding_row(finding: Finding) -> Row:
    return {
        **select_attributes(
            finding, "rule severity verdict line column end_line end_column message remedy cwe fingerprint"
        ),
        "fingerprint": finding.fingerprint or None,
        "documentation": get_anchor(finding.rule),
    }


def _write_scan(name: str, scan: Scan) -> None:
    verdict = (f"{scan.verdict.value:7}", SCAN_STYLES[scan.verdict])
    console.print(Text.assemble(verdict, name, (f"  {scan.elapsed_us} µs", "dim")), soft_wrap=True)
    for finding in scan.findings:
        position = f"  {f'{finding.line}:{finding.column}':<8}"
        verdict = (f"{finding.verdict.value:7}", SCAN_STYLES[finding.verdict])
        message = format_controls(finding.message)
        console.print(Text.assemble(position, verdict, (finding.rule, "bold"), "  ", message), soft_wrap=True)
        if finding.remedy:
            console.print(Text(f"  {'':15}{format_controls(finding.remedy)}", style="dim"), soft_wrap=True)

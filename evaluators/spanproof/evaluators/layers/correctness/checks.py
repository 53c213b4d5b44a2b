"""The sub-scores of one snippet: does it compile, does what it imports exist, does it replay alike.

Takes a snippet and the evidence of its run; gives one outcome per check. Nothing is run here: parsing is done
on the host, names were looked up and code was run in the sandbox before.
"""

from __future__ import annotations

import ast
import re
import warnings

from spanproof.evaluators.layers.common import (
    build_no_replay_outcome,
    find_first_divergence,
    find_replay,
    find_replay_failure,
    format_count,
    get_step_number,
)
from spanproof.evaluators.model import ApiReport, MissingName, NoReplay, RunEvidence
from spanproof.evaluators.replay.record import find_raised_type
from spanproof.sandbox import FailureClass
from spanproof.trace import Cause, Errored, Evidence, Label, Language, Outcome, Scored, Skipped, Snippet

_CUT = "its source is cut on the trace"

# How Python words a `ModuleNotFoundError`.
_NO_MODULE = re.compile(r"No module named '?([\w.]+)")


def evaluate_syntax(evidence: RunEvidence, snippet: Snippet) -> Outcome:
    """Whether the source is a program of its language."""
    if snippet.truncated:
        return Skipped(_CUT, Cause.CONTENT_CUT)
    if snippet.language is not Language.PYTHON:
        return _evaluate_by_outcome(evidence, snippet)
    problem = find_syntax_problem(snippet.source)
    step = find_replay(evidence, snippet)
    if problem is None and step is not None and step.execution.failure_class is FailureClass.SYNTAX_ERROR:
        problem = "the sandbox's interpreter refuses its syntax"
    if problem is None:
        return Scored(1.0, Label.PASS, "It parses.")
    if snippet.executed and evidence.account.get_snippet_outcome(snippet).recorded is FailureClass.OK:
        return Skipped(f"it is no plain Python ({problem}), yet its executor ran it", Cause.NOT_SUPPORTED)
    return Scored(0.0, Label.FAIL, f"It does not parse: {problem}.", (Evidence(problem, snippet.span_id),))


def evaluate_imports(evidence: RunEvidence, snippet: Snippet) -> Outcome:
    """Whether every module it imports is in the runtime."""
    report = _read_api_report(evidence, snippet)
    if not isinstance(report, ApiReport):
        return report
    missing = [entry for entry in report.missing if entry.is_module]
    nowhere = _list_missed_packages(snippet, report)
    if nowhere and not missing:
        sentence = f"{', '.join(sorted(nowhere))} is neither in the runtime the run used nor in the sandbox's"
        return Scored(0.0, Label.FAIL, f"{sentence}.", (Evidence(sentence, snippet.span_id),))
    if report.not_installed and not missing:
        return _build_uninstalled_skip(report)
    return _evaluate_existence(evidence, snippet, missing, len(report.modules), "module")


def evaluate_attributes(evidence: RunEvidence, snippet: Snippet) -> Outcome:
    """Whether every name it takes from a module is there: a made-up API is found without running it.

    Of SQL, whether the tables it reads have its columns, as far as the run was shown these tables.
    """
    if snippet.language is Language.SQL and not snippet.truncated:
        looked_up = evidence.account.schema.count_looked_up_columns(snippet.source)
        if looked_up:
            return _evaluate_columns(evidence, snippet, looked_up)
        return Skipped(
            "none of its columns can be looked up in tables that the run was shown", Cause.NOTHING_OF_THE_KIND
        )
    report = _read_api_report(evidence, snippet)
    if not isinstance(report, ApiReport):
        return report
    missing = [entry for entry in report.missing if not entry.is_module]
    if not missing and report.not_installed:
        return _build_uninstalled_skip(report)
    return _evaluate_existence(evidence, snippet, missing, len({*report.checked} - {*report.modules}), "name")


def evaluate_replay(evidence: RunEvidence, snippet: Snippet) -> Outcome:
    """Whether the replay came to the class, the output and the value that are on record."""
    step = find_replay(evidence, snippet)
    if step is None:
        return build_no_replay_outcome(evidence, snippet)
    before = _describe_divergence(evidence, snippet)
    if step.agrees is None:
        sentence = step.difference or "nothing is on record to compare with"
        return Skipped(f"not comparable: {sentence}{f'; {before}' if before else ''}", Cause.NOT_COMPARABLE)
    if step.agrees:
        return Scored(1.0, Label.PASS, "The replay came to what is on record.")
    sentence = step.difference or "the replay came to something else"
    recorded, again = _find_recorded(snippet), step.execution.stdout or step.execution.result_text
    fact = Evidence(sentence, snippet.span_id, recorded=recorded, replayed=again or None)
    whole = f"{sentence}; {before}" if before else f"{sentence}; this is the first step that does"
    return Scored(0.0, Label.FAIL, f"Replay and record differ: {whole}.", (fact,))


def _describe_divergence(evidence: RunEvidence, snippet: Snippet) -> str:
    """Return at which earlier step the replay left the record: what differs here may follow from that."""
    first = find_first_divergence(evidence.run, evidence.replay)
    if first is None or get_step_number(evidence.run, snippet) <= first[0]:
        return ""
    return f"the replay left the record at step {first[0]} already"


def _find_recorded(snippet: Snippet) -> str | None:
    """Return what the code printed, or else the value it ended with."""
    output = snippet.output.text if snippet.output is not None else None
    printed = snippet.logs if snippet.logs is not None else snippet.observation
    return printed or output or printed


def find_syntax_problem(source: str) -> str | None:
    """Return why this is no Python, None where it is; parsing only, nothing is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a snippet's invalid escapes are not ours to print
            ast.parse(source)
    except SyntaxError as error:
        if error.lineno:
            return f"line {error.lineno}: {error.msg}"
        return error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or "it is nested too deeply"
    return None


def _evaluate_by_outcome(evidence: RunEvidence, snippet: Snippet) -> Outcome:
    how = evidence.account.get_snippet_outcome(snippet)
    if snippet.executed and FailureClass.OK in (how.recorded, how.replayed):
        return Scored(1.0, Label.PASS, "It ran, so it compiles.")
    if snippet.executed and FailureClass.SYNTAX_ERROR in (how.recorded, how.replayed):
        return Scored(0.0, Label.FAIL, "Its interpreter refuses its syntax.")
    return Skipped(
        f"{snippet.language} is parsed by running it, and it was not run to its end",
        Cause.NOT_REPLAYED,
        snippet.language,
    )


def _read_api_report(evidence: RunEvidence, snippet: Snippet) -> ApiReport | Skipped | Errored:
    if snippet.language is not Language.PYTHON:
        return Skipped(
            f"names are looked up for Python, this is {snippet.language}",
            Cause.NOT_SUPPORTED,
            snippet.language,
        )
    if snippet.truncated:
        return Skipped(_CUT, Cause.CONTENT_CUT)
    report = evidence.apis.get(snippet.id)
    failed = find_replay_failure(evidence)
    if report is None and failed is not None:
        return Errored(failed.error_type or "ReplayFailed", failed.reason)
    if report is not None and report.failed:
        error_type, _, message = report.failed.partition(": ")
        return Errored(error_type, f"names could not be looked up: {message}")
    if report is None:
        reason = evidence.replay.reason if isinstance(evidence.replay, NoReplay) else "it was not looked up"
        return Skipped(f"no runtime to look names up in: {reason}", Cause.NOT_REPLAYED)
    if find_syntax_problem(snippet.source) is not None:
        return Skipped("it does not parse, so its names are not known", Cause.NOTHING_OF_THE_KIND)
    return report


def _list_missed_packages(snippet: Snippet, report: ApiReport) -> frozenset[str]:
    """Return the packages the sandbox lacks that the run's own interpreter did not find either."""
    if snippet.error is None or find_raised_type(snippet.error) != "ModuleNotFoundError":
        return frozenset()
    named = _NO_MODULE.findall(snippet.error.message)
    missed = frozenset(name.partition(".")[0] for name in named)
    if named:
        return missed & {*report.not_installed}
    return frozenset(report.not_installed)


def _build_uninstalled_skip(report: ApiReport) -> Skipped:
    packages = ", ".join(report.not_installed)
    return Skipped(
        f"the sandbox's runtime does not have {packages}, so nothing can be looked up in it",
        Cause.NOT_COMPARABLE,
        packages,
    )


def _evaluate_columns(evidence: RunEvidence, snippet: Snippet, looked_up: int) -> Outcome:
    missing = evidence.account.schema.list_unknown_columns(snippet.source)
    if not missing:
        return Scored(
            1.0, Label.PASS, f"Every column it uses is one the run was shown ({looked_up} looked up)."
        )
    names = ", ".join(missing)
    if snippet.executed and evidence.account.get_snippet_outcome(snippet).recorded is FailureClass.OK:
        return Skipped(
            f"{names}: not among the columns that the run was shown, yet the query did not fail",
            Cause.NOT_COMPARABLE,
            names,
        )
    sentence = (
        f"{format_count(len(missing), 'column')} it uses is not in the table as shown to the run: {names}"
    )
    facts = tuple(Evidence(f"no column {name}", snippet.span_id) for name in missing)
    return Scored((looked_up - len(missing)) / looked_up, Label.FAIL, f"{sentence}.", facts)


def _evaluate_existence(
    evidence: RunEvidence, snippet: Snippet, missing: list[MissingName], looked_up: int, noun: str
) -> Outcome:
    if not missing and not looked_up:
        nothing = "It imports nothing." if noun == "module" else "It takes nothing from a module."
        return Scored(1.0, Label.PASS, nothing)
    if not missing:
        return Scored(1.0, Label.PASS, f"Every {noun} it uses exists ({looked_up} looked up).")
    names = ", ".join(entry.name for entry in missing)
    if snippet.executed and evidence.account.get_snippet_outcome(snippet).recorded is FailureClass.OK:
        return Skipped(
            f"{names}: not in the sandbox's runtime, yet the run did not fail: versions differ",
            Cause.NOT_COMPARABLE,
            names,
        )
    total = max(looked_up, len(missing))
    facts = tuple(
        Evidence(f"line {entry.line}: {entry.name} does not exist", snippet.span_id) for entry in missing
    )
    verb = "does" if len(missing) == 1 else "do"
    sentence = f"{format_count(len(missing), noun)} it uses {verb} not exist: {names}."
    return Scored((total - len(missing)) / total, Label.FAIL, sentence, facts)

"""Places in the code of a run that are to blame for a verdict.

Takes the JSON form of a run, as `spanproof.evaluators.score_rows.build_run_row` writes it; gives marks with
the source, so that a report can show a line of a snippet that lies in no file of the checkout.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final, TypeAlias

from spanproof.trace import Language, Layer

RunRow: TypeAlias = Mapping[str, Any]
"""A run in the form of `spanproof eval --json`."""

_BLOCKING: Final = ("deny", "review")


@dataclass(frozen=True, slots=True)
class CodeMark:
    """Lines of a snippet, from 1, with what is wrong there.

    Attributes:
        rule: the scanner's rule, or the score's name.
        uri: the snippet's file, relative to the checkout; of code that is in no file a name alike.
        source: the whole snippet, secrets masked.
    """

    rule: str
    message: str
    uri: str
    line: int
    end_line: int
    language: str
    source: str


def list_code_marks(run: RunRow, layer: Layer | None, folder: str) -> tuple[CodeMark, ...]:
    """Return the places in a run's code that are to blame where a layer failed; none of a run without code.

    Of the boundary these are the scanner's findings, else the snippets whose own scores of the layer failed,
    else the last snippet, which led to the answer.

    Args:
        run: the run; a row of an older Spanproof, without `snippets`, has no marks.
        layer: the layer that failed; None where it was no layer's verdict.
        folder: where the snippets are, or seem to be.
    """
    snippets: Sequence[Mapping[str, Any]] = run.get("snippets") or ()
    if not snippets:
        return ()
    if layer is Layer.BOUNDARY:
        found = [*_iter_finding_marks(snippets, folder)]
    else:
        found = []
    found = found or [*_iter_score_marks(run, snippets, layer, folder)]
    if found or layer is Layer.BOUNDARY:
        return tuple(found)
    return (_build_mark(snippets[-1], folder, layer.value if layer else "case", ""),)


def format_snippet_name(number: int, language: str) -> str:
    """Return the file name of a snippet: `01.py`."""
    return f"{number:02d}.{Language(language).suffix}"


def _iter_finding_marks(snippets: Sequence[Mapping[str, Any]], folder: str) -> Iterator[CodeMark]:
    for snippet in snippets:
        for finding in snippet.get("findings") or ():
            if finding["verdict"] in _BLOCKING:
                lines = (int(finding["line"]), int(finding["end_line"]))
                yield _build_mark(snippet, folder, str(finding["rule"]), str(finding["message"]), lines)


def _iter_score_marks(
    run: RunRow, snippets: Sequence[Mapping[str, Any]], layer: Layer | None, folder: str
) -> Iterator[CodeMark]:
    by_id = {snippet["id"]: snippet for snippet in snippets}
    for score in run["scores"]:
        is_about = layer is None or score["layer"] == layer.value
        if is_about and score.get("label") == "fail" and score.get("snippet_id") in by_id:
            name, why = f"{score['layer']}.{score['name']}", str(score.get("explanation") or "")
            yield _build_mark(by_id[score["snippet_id"]], folder, name, why)


def _build_mark(
    snippet: Mapping[str, Any], folder: str, rule: str, message: str, lines: tuple[int, int] | None = None
) -> CodeMark:
    source, language = str(snippet["source"]), str(snippet["language"])
    last = source.rstrip("\n").count("\n") + 1
    first, end = lines or (1, last)
    first = min(max(first, 1), last)
    uri = str(PurePosixPath(folder) / format_snippet_name(int(snippet["number"]), language))
    return CodeMark(rule, message, uri, first, min(max(end, first), last), language, source)

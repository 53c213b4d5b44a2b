"""The page of all attributes, from `spanproof.semconv`."""

from __future__ import annotations

from typing import Final

from spanproof.semconv.definition import attributes

_HEAD: Final = """\
# Attributes

For those who query or process the telemetry that Spanproof writes. The page lists every attribute and
where its name comes from; [dialects](dialects.md#what-is-read) lists what Spanproof reads from other
producers. Every span uses two vocabularies, OpenTelemetry's GenAI conventions and OpenInference's.
Attributes that neither of them defines are named `spanproof.*`.

*Status* is OpenTelemetry's word for how settled a name is (`stable`, `development`); OpenInference does not
grade its names, and ours change with a line in the changelog only. *Place* is what carries the attribute: a
span, an event (a score's: log record and evaluator span), or the resource.

This page is written by `make reference`.
"""
_SECTIONS: Final = {
    "Spanproof": """\
## Spanproof's own

Source: `instrumentors/spanproof/semconv/spanproof.py`. Code execution has no merged convention
(November 2026). The event `spanproof.instrumentor.error` says that an error of the
instrumentor was kept from the host.
""",
    "OTel semantic-conventions-genai": """\
## OpenTelemetry GenAI

Source: github.com/open-telemetry/semantic-conventions-genai. Operations: `invoke_agent`, `chat`,
`execute_tool`, `plan`.
""",
    "OTel semantic-conventions": """\
## OpenTelemetry

Source: github.com/open-telemetry/semantic-conventions, recording errors and exceptions.
""",
    "OpenInference semantic conventions": """\
## OpenInference

Source: github.com/Arize-ai/openinference, `spec/semantic_conventions.md`. Onto spans that it forwards with
`traces: all`, the collector also writes `evaluations.<n>.evaluation.` with `name`, `score`, `label`,
`explanation`, `annotator_kind` and `identifier`.
""",
}
_TABLE: Final = "| name | type | example | status | place | says |\n|---|---|---|---|---|---|\n"


def render() -> str:
    """Return the page as Markdown."""
    return _HEAD + "".join(f"\n{text}\n{_TABLE}{_rows(source)}" for source, text in _SECTIONS.items())


def _rows(source: str) -> str:
    return "".join(
        f"| `{each.name}` | {each.type} | `{each.example}` | {each.status} | {each.place} | {each.brief} |\n"
        for each in attributes()
        if each.source == source
    )

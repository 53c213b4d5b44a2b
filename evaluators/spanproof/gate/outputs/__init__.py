"""Results as files for CI: JUnit, SARIF, GitHub annotations and Markdown; a page is `spanproof.api.report`'s.

Takes a `ResultTable`; gives text. Everything in a table may come out of a trace, so each writer escapes it
for its own form. No writer reads a file or an environment variable.
"""

from spanproof.gate.outputs.code import CodeMark, RunRow, list_code_marks
from spanproof.gate.outputs.github import format_annotations
from spanproof.gate.outputs.junit import format_junit
from spanproof.gate.outputs.markdown import format_markdown
from spanproof.gate.outputs.sarif import format_sarif
from spanproof.gate.outputs.table import ResultRow, ResultTable, Verdict
from spanproof.gate.outputs.text import format_count

__all__ = [
    "CodeMark",
    "ResultRow",
    "ResultTable",
    "RunRow",
    "Verdict",
    "format_annotations",
    "format_count",
    "format_junit",
    "format_markdown",
    "format_sarif",
    "list_code_marks",
]

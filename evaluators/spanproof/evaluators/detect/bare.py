"""Code that nothing delimits: a whole text of code, or lines of code between sentences.

The text is taken whole first. If it is no code as a whole, its lines are: runs of lines that are not prose are
cut out, and each run is asked what language it is. Positions are within the text given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from spanproof.evaluators.detect.language import ENOUGH, identify, python_weight
from spanproof.trace import Language

_MAX_LINES: Final = 20_000
_MAX_LINE_READ: Final = 400
"""What a line is shows in its beginning; the pattern for sentences takes time by the square of the length."""

_CODE_LINE: Final = re.compile(
    r"^\s*(?:#(?!#* )|//|/\*|\*/|\* |--|@\w|[{}()\[\];]+[,;]?\s*$"
    r"|(?:def|class|import|from|return|if|elif|else|for|while|try|except|finally|with|async|await|raise|assert"
    r"|const|let|var|function|export|public|private|static|func|fn|use|impl|struct|enum|interface|type|package"
    r"|SELECT|FROM|WHERE|JOIN|LEFT|INNER|GROUP|ORDER|HAVING|LIMIT|INSERT|UPDATE|DELETE|CREATE|WITH|UNION|VALUES"
    r"|#include|using|namespace|print|echo|then|fi|done|do)\b"
    r"|[\w.\[\]'\"$]+\s*(?:[-+*/|&:]?=|:=|\+\+|--)\s*\S|[\w.]+\(|<[/!?\w]|\$ ?\w)"
    r"|.*[;{}]\s*$|.*\)\s*:?\s*$|.*=>|^\s{2,}\S"
)
_PROSE_LINE: Final = re.compile(
    r"^\s*(?:[-*•>]\s+|\d+[.)]\s+|#{1,6}\s+|\*\*|[\"'“(]?[A-Z][\w'’-]*,?\s)[^={}();]*$"
    r"|^[^={}();<>\[\]\\|]*\s[^={}();<>\[\]\\|]*\s[^={}();<>\[\]\\|]*[.?!:,’”\"]\s*$"
    r"|^\s*(?:Thought|Observation|Action|Answer|Final Answer|Code|Output|Note|Execution logs|Step \d+)\b.*:"
)
_SQL_OR_BLOCK: Final = re.compile(r"^\s*(?:SELECT|FROM|WHERE|JOIN|LEFT|INNER|GROUP|ORDER|HAVING|LIMIT|WITH|AND|OR|ON|INSERT|UPDATE|DELETE|CREATE|VALUES|UNION|SET|CASE|WHEN|ELSE|END)\b")


@dataclass(frozen=True, slots=True)
class BareSnippet:
    """A run of code lines: its language and its span."""

    language: Language
    start: int
    end: int


def bare_snippets(text: str) -> list[BareSnippet]:
    """The code in this text, in order."""
    if python_weight(text) >= ENOUGH:
        # Prose does not parse: a whole program is told before its comments can be taken for headings.
        return [BareSnippet(Language.PYTHON, *_span_of_lines(text))]
    found = []
    for start, end in _runs(text):
        if _is_quoted_line(text, start, end):
            continue
        language = identify(text[start:end])
        if language is not None:
            found.append(BareSnippet(language, start, end))
    return found


def _span_of_lines(text: str) -> tuple[int, int]:
    """The text without blank lines around it; the first line keeps its indentation."""
    start = len(text) - len(text.lstrip())
    return text.rfind("\n", 0, start) + 1, len(text.rstrip())


def _is_quoted_line(text: str, start: int, end: int) -> bool:
    """Whether this is one indented line right below another, as tracebacks and warnings quote a source."""
    source = text[start:end]
    return source[:1] in " \t" and "\n" not in source and start > 1 and not text[:start].endswith("\n\n")


@dataclass(slots=True)
class _Run:
    """Lines between two lines of prose: the span from the first to the last paragraph that holds a line of code."""

    start: int | None = None
    end: int = 0
    paragraph: int | None = None
    paragraph_end: int = 0
    has_code: bool = False

    def add(self, start: int, end: int, *, is_code: bool) -> None:
        if self.paragraph is None:
            self.paragraph = start
        self.paragraph_end = end
        self.has_code = self.has_code or is_code

    def end_paragraph(self) -> None:
        if self.has_code:
            self.start = self.paragraph if self.start is None else self.start
            self.end = self.paragraph_end
        self.paragraph, self.has_code = None, False


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Spans of lines between prose, paragraphs without a line of code cut off at both ends."""
    run = _Run()
    at = 0
    in_comment = False
    for number, line in enumerate(text.splitlines(keepends=True)):
        if number > _MAX_LINES:
            break
        bare = line.strip()
        if not bare and not in_comment:
            run.end_paragraph()
        elif bare and (in_comment or not _is_prose(line)):
            is_code = in_comment or _CODE_LINE.match(line, 0, _MAX_LINE_READ) is not None
            run.add(at, at + len(line.rstrip()), is_code=is_code)
            in_comment = _still_in_comment(bare, in_comment)
        elif bare:
            run.end_paragraph()
            if run.start is not None:
                yield run.start, run.end
            run = _Run()
        at += len(line)
    run.end_paragraph()
    if run.start is not None:
        yield run.start, run.end


def _is_prose(line: str) -> bool:
    line = line[:_MAX_LINE_READ]
    return _PROSE_LINE.match(line) is not None and _SQL_OR_BLOCK.match(line) is None


def _still_in_comment(line: str, in_comment: bool) -> bool:
    """Whether a block comment or docstring goes on after this line: what stands in it reads as prose."""
    if in_comment:
        return not ("*/" in line or '"""' in line or "'''" in line)
    if line.startswith("/*"):
        return "*/" not in line
    return any(line.count(quote) == 1 for quote in ('"""', "'''"))

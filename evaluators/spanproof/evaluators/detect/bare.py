"""Code that nothing delimits: a whole text of code, or lines of code between sentences.

The text is taken whole first. If it is no code as a whole, its lines are: runs of lines that are not prose
are cut out, and the language of each run is decided. Positions are within the text given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from spanproof.evaluators.detect.language import (
    ENOUGH,
    compute_command_weight,
    find_language,
    is_settings,
    is_yaml,
)
from spanproof.evaluators.detect.lines import LineKind, classify_lines
from spanproof.evaluators.detect.python_syntax import compute_python_weight
from spanproof.evaluators.detect.sessions import find_framed_code
from spanproof.evaluators.detect.statements import iter_statements
from spanproof.trace import Language

# Runs of one text that are looked at: more is no agent's words, and each costs time.
_MAX_RUNS: Final = 500

# Paragraphs of one run that are looked at by themselves.
_MAX_PARAGRAPHS: Final = 50

_BLANK: Final = re.compile(r"\S")

# Lines up to a blank one.
_PARAGRAPH: Final = re.compile(r"\S(?:[^\n]|\n(?![ \t]*\n))*")

# How much of a text is searched for bare code.
_MAX_CHARS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class BareSnippet:
    """A run of code lines: its language and its span."""

    language: Language
    start: int
    end: int
    source: str | None = None
    """The code, where it is not what the text has there."""


def list_bare_snippets(text: str) -> list[BareSnippet]:
    """Return the code in this text, in order."""
    if is_settings(text):
        return []
    if compute_python_weight(text) >= ENOUGH:
        # Prose does not parse: a whole program is recognised before its comments can be taken for headings.
        return [BareSnippet(find_language(text) or Language.PYTHON, *_get_span_without_blank_lines(text))]
    framed = find_framed_code(text[:_MAX_CHARS])
    if framed is not None:
        return [BareSnippet(*framed)]
    quoted = _list_quoted(text)
    if quoted:
        return quoted
    session = _find_root_session(text)
    if session is not None:
        return [session]
    text = _STACK_TRACE.sub(_format_blanks, text)
    if is_yaml(text):
        return [BareSnippet(Language.YAML, *_get_span_without_blank_lines(text))]
    found = list(_iter_yaml_paragraphs(text))
    for snippet in found:
        # Blanked, not cut out: positions stay those of the text.
        blank = _BLANK.sub(" ", text[snippet.start : snippet.end])
        text = text[: snippet.start] + blank + text[snippet.end :]
    for start, end in islice(_iter_runs(text[:_MAX_CHARS]), _MAX_RUNS):
        found.extend(_iter_run_snippets(text, start, end))
    if not found:
        found = [BareSnippet(Language.SQL, *span) for span in iter_statements(text[:_MAX_CHARS])]
        found.extend(_iter_labelled_markup(text[:_MAX_CHARS]))
    return sorted(found, key=lambda snippet: snippet.start)


# Markup after a label: `Observation: <form …>…</form>`.
_LABELLED_MARKUP: Final = re.compile(
    r"^[A-Z][\w ]{1,24}: (?P<markup><(?P<tag>[a-z]\w*)[ >].*</(?P=tag)>)$", re.MULTILINE
)


def _iter_labelled_markup(text: str) -> Iterator[BareSnippet]:
    for line in islice(_LABELLED_MARKUP.finditer(text), _MAX_PARAGRAPHS):
        if find_language(line["markup"]) is Language.HTML:
            yield BareSnippet(Language.HTML, *line.span("markup"))


# The frames of a traceback, with the line of source below each, and the error at its end; what a compiler
# quotes of a source, with the numbers of the lines.
_STACK_TRACE: Final = re.compile(
    r"^[ \t]*File \"[^\"\n]+\", line \d+.*\n(?:[ \t]+\S.*\n)?(?:[ \t]+[~^]+[ \t]*\n)?"
    r"|^(?:[\w.]+(?:Error|Exception|Warning|Exit|Interrupt)\b.*|Traceback \(most recent call last\):)$"
    r"|^[ \t]+at [\w$.<>/ \[\]]+ ?\([^()\n]*\)$"
    r"|^[ \t]*\d+ \|.*$|^[ \t]+\|[ \t]*[-~^].*$|^[ \t]*--> .*:\d+:\d+$",
    re.MULTILINE,
)


def _format_blanks(found: re.Match[str]) -> str:
    """Return as many blanks as a match is long: positions stay those of the text."""
    return _BLANK.sub(" ", found[0])


# Lines that a mail or an answer quotes.
_QUOTED: Final = re.compile(r"(?:^>.*(?:\n|\Z)){2,}", re.MULTILINE)
_QUOTE_MARK: Final = re.compile(r"^> ?", re.MULTILINE)


def _list_quoted(text: str) -> list[BareSnippet]:
    """Return the code in lines that begin with `>`; `source` is without these marks."""
    found: list[BareSnippet] = []
    for quote in islice(_QUOTED.finditer(text[:_MAX_CHARS]), _MAX_PARAGRAPHS):
        source = _QUOTE_MARK.sub("", quote[0]).rstrip()
        language = find_language(source)
        if language is not None:
            found.append(BareSnippet(language, quote.start(), quote.start() + len(quote[0].rstrip()), source))
    return found


_ROOT_PROMPT: Final = re.compile(r"^# (?=[a-z])(?P<command>.*)$", re.MULTILINE)


def _find_root_session(text: str) -> BareSnippet | None:
    """Return a text whose first line is a command after a root user's prompt, and whose next is no comment.

    `# apt-get update` alone may be a comment of any script.
    """
    stripped = text.strip()
    first = _ROOT_PROMPT.match(stripped)
    if first is None or compute_command_weight(first["command"]) == 0:
        return None
    lines = stripped.splitlines()
    is_answered = len(lines) > 1 and classify_lines(lines[1:2]) != [LineKind.PROSE]
    answers = is_answered and not lines[1].startswith("#")
    commands = [one for one in _ROOT_PROMPT.finditer(stripped) if compute_command_weight(one["command"])]
    if not (answers and compute_python_weight(stripped) == 0) and len(commands) < 2:
        return None
    is_script = answers and find_language("\n".join(line for line in lines if line[:2] != "# ")) is not None
    if is_script:
        return None
    return BareSnippet(Language.BASH, *_get_span_without_blank_lines(text))


def _iter_yaml_paragraphs(text: str) -> Iterator[BareSnippet]:
    """Yield YAML between sentences: line by line it looks like a list of facts, its nesting does not."""
    for paragraph in islice(_PARAGRAPH.finditer(text[:_MAX_CHARS]), _MAX_PARAGRAPHS):
        start, end = (
            text.rfind("\n", 0, paragraph.start()) + 1,
            paragraph.start() + len(paragraph[0].rstrip()),
        )
        if is_yaml(text[start:end]):
            yield BareSnippet(Language.YAML, start, end)


def _iter_run_snippets(text: str, start: int, end: int) -> Iterator[BareSnippet]:
    """Yield the run as one snippet; where it is none as a whole, those of its paragraphs that are."""
    if _is_quoted_line(text, start, end):
        return
    language = find_language(text[start:end])
    if language is not None:
        yield BareSnippet(language, start, end)
        return
    for paragraph in islice(_PARAGRAPH.finditer(text, start, end), _MAX_PARAGRAPHS):
        language = find_language(paragraph[0])
        span = paragraph.span()
        if language is None:
            # A sentence that was cut, or one without its full stop, may touch the code.
            span = _get_code_span(text, *span)
            if "\n" in text[span[0] : span[1]]:
                language = find_language(text[span[0] : span[1]])
            else:
                language = None
        if language is not None:
            yield BareSnippet(language, *span)


def _get_code_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the part from the first line that is code by itself to the last one."""
    lines = text[start:end].splitlines(keepends=True)
    code = [at for at, kind in enumerate(classify_lines(lines)) if kind is LineKind.CODE]
    if not code:
        return start, end
    first = start + sum(map(len, lines[: code[0]]))
    return first, first + len("".join(lines[code[0] : code[-1] + 1]).rstrip())


def _get_span_without_blank_lines(text: str) -> tuple[int, int]:
    """Return the span of the text without blank lines around it; the first line keeps its indentation."""
    start = len(text) - len(text.lstrip())
    return text.rfind("\n", 0, start) + 1, len(text.rstrip())


def _is_quoted_line(text: str, start: int, end: int) -> bool:
    """Whether this is one indented line right below another, as tracebacks and warnings quote a source."""
    source = text[start:end]
    return source[:1] in " \t" and "\n" not in source and start > 1 and not text[:start].endswith("\n\n")


@dataclass(slots=True)
class _Run:
    """Lines between two lines of prose, from the first to the last paragraph that holds a line of code."""

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

    def add_paragraph(self) -> None:
        if self.has_code:
            self.start = self.paragraph if self.start is None else self.start
            self.end = self.paragraph_end
        self.paragraph, self.has_code = None, False


def _iter_runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans of lines between prose, paragraphs without a line of code cut off at both ends."""
    run = _Run()
    at = 0
    lines = text.splitlines(keepends=True)
    for line, kind in zip(lines, classify_lines(lines), strict=True):
        if kind is LineKind.PROSE:
            run.add_paragraph()
            if run.start is not None:
                yield run.start, run.end
            run = _Run()
        elif kind is LineKind.BLANK or not line.strip():
            run.add_paragraph()
        else:
            run.add(at, at + len(line.rstrip()), is_code=kind is LineKind.CODE)
        at += len(line)
    run.add_paragraph()
    if run.start is not None:
        yield run.start, run.end

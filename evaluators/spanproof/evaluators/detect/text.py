"""Code in any text: fenced, tagged, in JSON arguments, or bare between sentences.

`snippets_in` extracts first and identifies second: what a fence, a `<code>` tag or a JSON string delimits is
taken out, then the rest is searched for lines that are code by themselves. Positions are in characters of the
text given. Prose, tables, error messages and flat JSON objects are no code. Nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from spanproof.evaluators.detect.bare import bare_snippets
from spanproof.evaluators.detect.language import ENOUGH, identify, is_structured_json
from spanproof.evaluators.detect.literals import json_strings
from spanproof.trace import Language


@dataclass(frozen=True, slots=True)
class TextSnippet:
    """Code found in a text.

    Attributes:
        language: as told by its mark or by its structure.
        source: the code, unescaped where it stood in a JSON string.
        start, end: where it stands, in characters of the text; for code in a JSON string the string's inside.
    """

    language: Language
    source: str
    start: int
    end: int


MARKS: Final[dict[str, Language]] = {
    **dict.fromkeys(("python", "py", "python3", "ipython", "pycon", "py3", "jupyter"), Language.PYTHON),
    **dict.fromkeys(("bash", "sh", "shell", "zsh", "console", "shell-session", "terminal", "shellscript"), Language.BASH),
    **dict.fromkeys(("sql", "postgresql", "postgres", "mysql", "sqlite", "tsql", "plsql", "duckdb"), Language.SQL),
    **dict.fromkeys(("javascript", "js", "node", "mjs", "jsx", "cjs"), Language.JAVASCRIPT),
    **dict.fromkeys(("typescript", "ts", "tsx"), Language.TYPESCRIPT),
    **dict.fromkeys(("json", "jsonc", "json5", "jsonl"), Language.JSON),
    **dict.fromkeys(("yaml", "yml"), Language.YAML),
    **dict.fromkeys(("html", "xhtml", "htm"), Language.HTML),
    **dict.fromkeys(
        (
            "java", "c", "cpp", "c++", "cc", "h", "hpp", "csharp", "cs", "c#", "go", "golang", "rust", "rs", "php",
            "ruby", "rb", "kotlin", "kt", "swift", "scala", "r", "perl", "lua", "julia", "haskell", "hs", "dart",
            "matlab", "powershell", "ps1", "dockerfile", "makefile", "css", "scss", "xml", "toml", "ini", "hcl",
            "terraform", "proto", "graphql", "solidity", "vb", "elixir", "clojure", "groovy", "fortran", "asm", "diff",
        ),
        Language.OTHER,
    ),
}  # fmt: skip
"""What people write behind a fence, by language."""

_FENCE: Final = re.compile(
    r"^(?P<indent>[ \t]*(?:>[ ]?)?)(?P<fence>`{3,}|~{3,})[ \t]*(?P<mark>[\w+#.-]*)[^\n`]*\n"
    r"(?P<body>.*?)(?:^(?P=indent)?[ \t]*(?P=fence)[`~]*|\Z)",
    re.MULTILINE | re.DOTALL,
)
_FENCE_IN_LINE: Final = re.compile(r"```(?P<mark>[\w+#-]*)[ \t]*\n(?P<body>.*?)(?:```|\Z)", re.DOTALL)
"""A fence that does not begin its line, as models write after `Code:`."""

_TAG: Final = re.compile(r"<code>(?P<body>.*?)(?:</code>|\Z)", re.DOTALL)
"""smolagents' marks. Where the tag stands on a line of its own its content is code; in a sentence, HTML."""
_TAG_MARKS: Final = ("<end_code>", "<end_action>")
_THOUGHT: Final = re.compile(r"^\s*Thought:", re.MULTILINE)


def snippets_in(text: str) -> list[TextSnippet]:
    """Every piece of code in this text, in order of where it stands."""
    if not text or text.isspace():
        return []
    start = len(text) - len(text.lstrip())
    if text[start] in "{[":
        in_json = _in_json_document(text)
        if in_json is not None:
            return in_json
    found = list(_delimited(text))
    for begin, end in _gaps(found, len(text)):
        for snippet in bare_snippets(text[begin:end]):
            source = text[begin + snippet.start : begin + snippet.end]
            found.append(_Found(snippet.language, source, begin + snippet.start, begin + snippet.end))
    found.sort(key=lambda one: one.start)
    return [TextSnippet(one.language, one.source, one.start, one.end) for one in found if one.language is not None]


@dataclass(frozen=True, slots=True)
class _Found:
    """A delimited region: `language` None where what it delimits is no code; `around` includes its marks."""

    language: Language | None
    source: str
    start: int
    end: int
    around: tuple[int, int] | None = None

    @property
    def region(self) -> tuple[int, int]:
        return self.around or (self.start, self.end)


def _in_json_document(text: str) -> list[TextSnippet] | None:
    """Code in the strings of a JSON document, or the document itself; None where the text is no JSON."""
    strings = json_strings(text)
    if strings is None:
        return None
    found = []
    for string in strings:
        language = _argument_language(string.key, string.value)
        if language is not None:
            found.append(TextSnippet(language, string.value, string.start, string.end))
    if found:
        return found
    if is_structured_json(text.strip()):
        start = len(text) - len(text.lstrip())
        end = len(text.rstrip())
        return [TextSnippet(Language.JSON, text[start:end], start, end)]
    return []


_CODE_KEYS: Final = frozenset({"code", "source", "script", "snippet", "program", "python", "command", "cmd", "sql", "query"})
"""Names of arguments that hold code, as far as their value is code; others need a value of several lines."""


def _argument_language(key: str, value: str) -> Language | None:
    if key.lower() not in _CODE_KEYS and "\n" not in value:
        return None
    language = identify(value, least=1 if key.lower() in _CODE_KEYS else ENOUGH)
    return None if language in (Language.JSON, Language.YAML) else language


def _delimited(text: str) -> Iterator[_Found]:
    taken: list[tuple[int, int]] = []
    for pattern in (_TAG, _FENCE, _FENCE_IN_LINE):
        if pattern is _TAG and "<code>" not in text or pattern is not _TAG and "```" not in text and "~~~" not in text:
            continue
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            taken.append(match.span())
            yield _block(text, match)


def _block(text: str, match: re.Match[str]) -> _Found:
    start, end = match.span("body")
    body = text[start:end]
    for mark in _TAG_MARKS:
        cut = body.find(mark)
        if cut >= 0:
            body = body[:cut]
    start += len(body) - len(body.lstrip("\r\n"))
    source = body.strip("\r\n").rstrip()
    language = _block_language(match, source) if source else None
    return _Found(language, source, start, start + len(source), match.span())


_NO_CODE: Final = frozenset({"text", "txt", "plaintext", "plain", "markdown", "md", "output", "log", "csv", "none"})


def _block_language(match: re.Match[str], source: str) -> Language | None:
    named = (match.groupdict().get("mark") or "").lower()
    if match.re is _TAG:
        on_its_own_line = match["body"].startswith(("\n", "\r\n"))
        return identify(source, least=1) or Language.PYTHON if on_its_own_line else identify(source)
    if named in MARKS:
        return MARKS[named]
    return None if named in _NO_CODE else identify(source, least=ENOUGH - 1)


def _gaps(found: list[_Found], length: int) -> Iterator[tuple[int, int]]:
    at = 0
    for start, end in sorted(one.region for one in found):
        if at < start:
            yield at, start
        at = max(at, end)
    if at < length:
        yield at, length

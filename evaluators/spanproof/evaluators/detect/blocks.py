"""Regions of a text that marks delimit: Markdown fences and the tags agents write around code.

A text comes in, its blocks go out in order, each with its language, or None where a mark or the content says
that it is no code. Blocks do not overlap; one that is never closed goes to the end of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import islice
from typing import Final

from spanproof.evaluators.detect.language import ENOUGH, find_language
from spanproof.trace import Language


@dataclass(frozen=True, slots=True)
class Block:
    """A delimited region: its code and where that starts; `around` spans the marks too."""

    language: Language | None
    source: str
    start: int
    around: tuple[int, int]


def split_words(text: str) -> list[str]:
    """Return the words of a list written in one line."""
    return text.split()


MARKS: Final[dict[str, Language]] = {
    **dict.fromkeys(split_words("python py python3 ipython pycon py3 jupyter"), Language.PYTHON),
    **dict.fromkeys(
        split_words("bash sh shell zsh console shell-session terminal shellscript"), Language.BASH
    ),
    **dict.fromkeys(split_words("sql postgresql postgres mysql sqlite tsql plsql duckdb"), Language.SQL),
    **dict.fromkeys(split_words("javascript js node mjs jsx cjs"), Language.JAVASCRIPT),
    **dict.fromkeys(split_words("typescript ts tsx"), Language.TYPESCRIPT),
    **dict.fromkeys(split_words("json jsonc json5 jsonl"), Language.JSON),
    **dict.fromkeys(split_words("yaml yml"), Language.YAML),
    **dict.fromkeys(split_words("html xhtml htm"), Language.HTML),
    **dict.fromkeys(split_words("c h"), Language.C),
    **dict.fromkeys(split_words("cpp c++ cc cxx hpp hxx"), Language.CPP),
    **dict.fromkeys(split_words("csharp cs c#"), Language.CSHARP),
    **dict.fromkeys(split_words("go golang"), Language.GO),
    **dict.fromkeys(split_words("java"), Language.JAVA),
    **dict.fromkeys(split_words("julia jl"), Language.JULIA),
    **dict.fromkeys(split_words("kotlin kt kts"), Language.KOTLIN),
    **dict.fromkeys(split_words("lua"), Language.LUA),
    **dict.fromkeys(split_words("perl pl"), Language.PERL),
    **dict.fromkeys(split_words("php"), Language.PHP),
    **dict.fromkeys(split_words("powershell ps1 pwsh"), Language.POWERSHELL),
    **dict.fromkeys(split_words("r rscript"), Language.R),
    **dict.fromkeys(split_words("ruby rb"), Language.RUBY),
    **dict.fromkeys(split_words("rust rs"), Language.RUST),
    **dict.fromkeys(split_words("scala"), Language.SCALA),
    **dict.fromkeys(split_words("swift"), Language.SWIFT),
    **dict.fromkeys(
        split_words(
            "haskell hs dart matlab dockerfile makefile css scss xml toml ini hcl terraform proto graphql"
            " solidity vb elixir clojure groovy fortran asm diff"
        ),
        Language.OTHER,
    ),
}
"""What people write after a fence, by language."""

_NO_CODE: Final = frozenset(split_words("text txt plaintext plain markdown md output log csv none"))

_FENCE: Final = re.compile(
    r"^(?P<indent>[ \t]*(?:>[ ]?)?)(?P<fence>`{3,}|~{3,})[ \t]*(?P<mark>[\w+#.-]*)[^\n`]*\n"
    r"(?P<body>.*?)(?:^(?P=indent)?[ \t]*(?P=fence)[`~]*|\Z)",
    re.MULTILINE | re.DOTALL,
)
# A fence that does not begin its line, as models write after `Code:`.
_FENCE_IN_LINE: Final = re.compile(r"```(?P<mark>[\w+#-]*)[ \t]*\n(?P<body>.*?)(?:```|\Z)", re.DOTALL)

# smolagents' marks. In a sentence the tag is HTML's, around a name that the sentence mentions.
_CODE_TAG: Final = re.compile(r"<code>(?P<body>.*?)(?:</code>|\Z)", re.DOTALL)

# Tags of other agents' action formats; they count where they are closed.
_ACTION_TAG: Final = re.compile(
    r"<(?P<mark>execute|execute_ipython|execute_bash|execute_python|execute_sql|python|bash|sql"
    r"|parameter(?: name)?=[\"']?(?:code|command|script|source|sql|python)[\"']?)>"
    r"(?P<body>.*?)</(?:execute(?:_\w+)?|python|bash|sql|parameter)>",
    re.DOTALL,
)

_ACTION_LANGUAGES: Final = (
    ("python", Language.PYTHON),
    ("bash", Language.BASH),
    ("command", Language.BASH),
    ("sql", Language.SQL),
)
_END_MARKS: Final = ("<end_code>", "<end_action>")
_KINDS: Final = (
    ("<code>", _CODE_TAG),
    ("</", _ACTION_TAG),
    ("```", _FENCE),
    ("~~~", _FENCE),
    ("```", _FENCE_IN_LINE),
)
# Blocks read of one text, of each kind: more is no agent's words, and each costs time.
_MAX_BLOCKS: Final = 1_000


def list_blocks(text: str) -> list[Block]:
    """Return the delimited regions of this text; one within another is part of it."""
    taken: list[tuple[int, int]] = []
    found: list[Block] = []
    for mark, pattern in _KINDS:
        if mark not in text:
            continue
        matches = [match for match in islice(pattern.finditer(text), _MAX_BLOCKS) if _is_free(match, taken)]
        taken = sorted([*taken, *(match.span() for match in matches)])
        found.extend(_build_block(match) for match in matches)
    return sorted(found, key=lambda block: block.around)


def _is_free(match: re.Match[str], taken: list[tuple[int, int]]) -> bool:
    start, end = match.span()
    at = bisect_right(taken, (start, end))
    return (at == 0 or taken[at - 1][1] <= start) and (at == len(taken) or end <= taken[at][0])


def _build_block(match: re.Match[str]) -> Block:
    body, start = match["body"], match.start("body")
    for mark in _END_MARKS:
        body = body.partition(mark)[0]
    start += len(body) - len(body.lstrip("\r\n"))
    source = body.strip("\r\n").rstrip()
    language = _find_language(match, source) if source.strip() else None
    return Block(language, source, start, match.span())


def _find_language(match: re.Match[str], source: str) -> Language | None:
    if match.re is _CODE_TAG:
        return _find_tag_language(match, source)
    if match.re is _ACTION_TAG:
        named = next((language for word, language in _ACTION_LANGUAGES if word in match["mark"]), None)
        if match["mark"] == "execute":
            return find_language(source, least=1) or Language.BASH
        return named or find_language(source, least=1) or Language.PYTHON
    mark = match["mark"].lower()
    if mark in MARKS:
        return MARKS[mark]
    if mark in _NO_CODE:
        return None
    return find_language(source, least=ENOUGH - 1)


def _find_tag_language(match: re.Match[str], source: str) -> Language | None:
    if match["body"].startswith(("\n", "\r\n")):
        return find_language(source, least=1) or Language.PYTHON
    line_start = match.string.rfind("\n", 0, match.start()) + 1
    begins_its_line = not match.string[line_start : match.start()].strip()
    return find_language(source) if begins_its_line else None

"""What kind of thing gave a text: the same words are a failure of a shell and the content of a log.

In: a tool's name and the language of the code it ran. Out: a `Giver`.
"""

from __future__ import annotations

import re
from enum import StrEnum

from spanproof.trace import Language


class Giver(StrEnum):
    """What gave a text; `content`: a tool whose results are documents, which may hold any words."""

    PYTHON = "python"
    SHELL = "shell"
    SQL = "sql"
    JAVASCRIPT = "javascript"
    CONTENT = "content"
    OTHER = "other"


_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_SQL = frozenset(
    str.split("sql query database db sqlite postgres postgresql mysql duckdb clickhouse psql bigquery")
)
_SHELL = frozenset(str.split("shell bash sh terminal command cmd exec zsh powershell"))
_PYTHON = frozenset(str.split("python ipython jupyter repl interpreter notebook"))
_JAVASCRIPT = frozenset(str.split("node javascript js typescript deno"))
_CONTENT = frozenset(
    str.split(
        "log logs search grep read open file document documents doc docs page browse retrieve"
        " retriever wiki wikipedia fetch scrape news article ticket tickets issue issues incident"
        " incidents alert alerts mail email message messages history translate summarize summarise"
        " classify kb knowledge review reviews comment comments transcript chat note notes"
        " explain define dictionary manual faq policy policies"
    )
)
_LANGUAGES = {
    Language.PYTHON: Giver.PYTHON,
    Language.BASH: Giver.SHELL,
    Language.SQL: Giver.SQL,
    Language.JAVASCRIPT: Giver.JAVASCRIPT,
    Language.TYPESCRIPT: Giver.JAVASCRIPT,
}


def identify_giver(tool: str, language: Language | None = None) -> Giver:
    """Return what gave a text, by the language of the code that ran, else by the words of the tool's name."""
    if language in _LANGUAGES:
        return _LANGUAGES[language]
    words = {word.lower() for word in _WORDS.findall(tool)}
    for known, giver in (
        (_SQL, Giver.SQL),
        (_SHELL, Giver.SHELL),
        (_JAVASCRIPT, Giver.JAVASCRIPT),
        (_PYTHON, Giver.PYTHON),
        (_CONTENT, Giver.CONTENT),
    ):
        if words & known:
            return giver
    return Giver.OTHER

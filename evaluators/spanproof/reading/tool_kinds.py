"""What kind of tool gave a text: the same words are a failure of a shell and the content of a log.

In: a tool's name and the language of the code it ran. Out: a `ToolKind`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from spanproof.trace import Language


class ToolKind(StrEnum):
    """What gave a text; `documents`: a tool whose results are documents, which may hold any words."""

    PYTHON = "python"
    SHELL = "shell"
    SQL = "sql"
    JAVASCRIPT = "javascript"
    DOCUMENTS = "documents"
    OTHER = "other"


WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
"""A word of a name in any spelling: `getOrder`, `get_order`, `GET-ORDER`."""

# The words of tools' names, in the order in which they decide.
_WORDS_OF_KINDS = (
    (ToolKind.SQL, "sql query database db sqlite postgres postgresql mysql duckdb clickhouse psql bigquery"),
    (ToolKind.SHELL, "shell bash sh terminal command cmd exec zsh powershell"),
    (ToolKind.JAVASCRIPT, "node javascript js typescript deno"),
    (ToolKind.PYTHON, "python ipython jupyter repl interpreter notebook"),
    (
        ToolKind.DOCUMENTS,
        (
            "log logs search grep read open file document documents doc docs page browse retrieve"
            " retriever wiki wikipedia fetch scrape news article ticket tickets issue issues incident"
            " incidents alert alerts mail email message messages history translate summarize summarise"
            " classify kb knowledge review reviews comment comments transcript chat note notes"
            " explain define dictionary manual faq policy policies"
        ),
    ),
)
_KINDS = tuple((kind, frozenset(words.split())) for kind, words in _WORDS_OF_KINDS)
_LANGUAGES = {
    Language.PYTHON: ToolKind.PYTHON,
    Language.BASH: ToolKind.SHELL,
    Language.SQL: ToolKind.SQL,
    Language.JAVASCRIPT: ToolKind.JAVASCRIPT,
    Language.TYPESCRIPT: ToolKind.JAVASCRIPT,
}


@lru_cache(maxsize=512)
def classify_tool(name: str, language: Language | None = None) -> ToolKind:
    """Return the kind of a tool, by the language of the code that ran, else by the words of its name."""
    if language in _LANGUAGES:
        return _LANGUAGES[language]
    words = {word.lower() for word in WORD.findall(name)}
    return next((kind for kind, kind_words in _KINDS if words & kind_words), ToolKind.OTHER)

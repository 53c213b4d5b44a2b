"""Characters that make a text read otherwise than it runs.

In: any text. Out: findings for bidirectional controls, invisible characters, control characters, and
identifiers written in more than one script. Plain text of any language is fine; only code that mixes scripts
inside one name is not.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.source import Source

_BIDIRECTIONAL = re.compile("[\u202a-\u202e\u2066-\u2069]")
_MARKS = re.compile("[\u200e\u200f\u061c]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\uffa0"
    "\U000e0000-\U000e007f]|[\u200c\u200d](?=[A-Za-z0-9_])|(?<=.)\ufeff"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
# Characters of ASCII in which nothing can be hidden.
_COMMON = bytes(one for one in range(128) if not _CONTROL.match(chr(one)))
_IDENTIFIER = re.compile(r"\b(?=\w{0,200}[^\x00-\x7f])[^\W\d]\w{0,200}\b")
_CODE_LANGUAGES = frozenset({"python", "javascript", "typescript", "bash", "sql"})


def scan(context: Context, source: Source) -> None:
    """Report what a reader cannot see."""
    text = source.text
    is_ascii = text.isascii()
    if is_ascii and not text.encode("ascii").translate(None, _COMMON):
        return
    for found in _CONTROL.finditer(text):
        context.add(
            "text.control", source.place(*found.span()), f"a control character, U+{ord(found[0]):04X}"
        )
        break  # one is enough; a binary text would fill the report
    if is_ascii:
        return
    for found in _BIDIRECTIONAL.finditer(text):
        context.add(
            "text.bidirectional", source.place(*found.span()), f"reorders the text, U+{ord(found[0]):04X}"
        )
    for pattern in (_INVISIBLE, _MARKS):
        for found in pattern.finditer(text):
            context.add("text.invisible", source.place(*found.span()), f"is invisible, U+{ord(found[0]):04X}")
    if source.language in _CODE_LANGUAGES:
        _check_identifiers(context, source)


def _check_identifiers(context: Context, source: Source) -> None:
    for found in _IDENTIFIER.finditer(_without_texts(source)):
        word = found[0]
        if not word.isidentifier():
            continue
        normal = unicodedata.normalize("NFKC", word)
        if normal != word and normal.isascii():
            context.add("text.confusable", source.place(*found.span()), f"a name that runs as {normal}")
        elif len(_list_scripts(word)) > 1:
            context.add("text.confusable", source.place(*found.span()), "a name that mixes scripts")


def _without_texts(source: Source) -> str:
    """Return the text with blanks for strings and comments, but for strings of code (`f'{x}'`, `${x}`)."""
    return _TEXTS[source.language].sub(_format_blank, source.text)


def _format_blank(found: re.Match[str]) -> str:
    text = found[0]
    return text if "{" in text or "$" in text else " " * len(text)


# What is not closed ends with its line or the text: to look for its end again and again would take long.
_STRING: Final = r"""'(?>(?:[^'\\\n]|\\.)*)(?:'|$)|"(?>(?:[^"\\\n]|\\.)*)(?:"|$)"""
_LONG_STRING: Final = (
    r"\"{3}(?>(?:[^\"\\]|\\.|\"(?!\"\"))*)(?:\"{3}|\Z)|'{3}(?>(?:[^'\\]|\\.|'(?!''))*)(?:'{3}|\Z)"
)
_COMMENT: Final = r"/\*(?>(?:[^*]|\*(?!/))*)(?:\*/|\Z)"
_TEXTS: Final = {
    language: re.compile(pattern, re.DOTALL | re.MULTILINE)
    for language, pattern in {
        "python": rf"{_LONG_STRING}|{_STRING}|#[^\n]*+",
        "bash": r"'[^']*+(?:'|\Z)|\"(?>(?:[^\"\\]|\\.)*)(?:\"|\Z)|(?<![^\s])#[^\n]*+",
        "sql": rf"'(?>(?:[^']|'')*)(?:'|\Z)|--[^\n]*+|{_COMMENT}",
        "javascript": rf"{_STRING}|`(?>(?:[^`\\]|\\.)*)(?:`|\Z)|//[^\n]*+|{_COMMENT}",
    }.items()
}
# Strings and comments of each language.
_TEXTS["typescript"] = _TEXTS["javascript"]


def _list_scripts(word: str) -> set[str]:
    """Return the scripts of a word that are easily taken for one another."""
    return {
        script
        for one in word
        if (script := unicodedata.name(one, "").partition(" ")[0])
        in {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN"}
    }

"""Claims that there is none: borne out by a look-up that found nothing, and by none that failed.

In: an answer, and the failures of look-ups. Out: the words in which it says that there is none, and whether
an error says so of the very thing. A look-up that failed says nothing of what it would have found.
"""

from __future__ import annotations

import re

from spanproof.reading.answer_words import extract_topics

_MAX_ANSWER = 4_000
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_ABSENCE = re.compile(
    r"\b(?:(?:has|have|had|are|is|were|was|with|there|found|shows?|holds?|owns?|placed|made) (?:currently )?"
    r"(?:no|zero|0|none|not any|without)\b(?: [\w'-]+){0,3}|does(?: not|n.t) (?:have|own|hold"
    r"|exist)(?: [\w'-]+){0,3}"
    r"|(?:none|nothing|nobody|no one)\b(?: [\w'-]+){0,3}|^no (?!data\b)(?:[\w'-]+ ){0,3}[\w'-]+"
    r"|keine?n? [\w'-]+"
    r"|aucune? [\w'-]+|ning[úu]n [\w'-]+|nessun[ao]? [\w'-]+|nenhum[a]? [\w'-]+|geen [\w'-]+)",
    re.IGNORECASE,
)
_MISSING = re.compile(
    r"\b(?:does(?: not|n.t) exist|not found|no such|unknown (?:column|table|field|key|name)|not in index"
    r"|KeyError|has no (?:attribute|column|field)|is not (?:defined|known)"
    r"|undefined (?:column|table|field)|not on file|\w+_not_found|no \w+ (?:of|with|by|for) (?:that|this))\b",
    re.IGNORECASE,
)
_DENIES = re.compile(r"\b(?:no|not|none|nothing|cannot|without)\b|n['’]t\b", re.IGNORECASE)
_WORDS_OF_MESSAGES = frozenset(
    str.split(
        "error no not such does exist column table relation field key file directory unknown line select from"
        " where has have had there was were attribute defined exception operational sqlite3 sqlite psycopg"
    )
)


def find_absence_claim(answer: str) -> str | None:
    """Return the words in which an answer says that there is none, None where it does not."""
    for sentence in _SENTENCE.findall(answer[:_MAX_ANSWER]):
        found = _ABSENCE.search(sentence.strip())
        if found is not None:
            return found[0].strip()
    return None


def proves_absence(quote: str, answer: str) -> bool:
    """Whether an error says of the very thing that an answer denies that it is not there.

    `column "phosphate" does not exist` does of "there is no phosphate column".
    """
    if _MISSING.search(quote) is None:
        return False
    missing = _extract_subjects(quote)
    return any(
        _DENIES.search(sentence) and missing & _extract_subjects(sentence)
        for sentence in _SENTENCE.findall(answer[:_MAX_ANSWER])
    )


def _extract_subjects(text: str) -> frozenset[str]:
    """Return the words of a text that name something of its own."""
    return extract_topics(text.replace("_", " ")) - _WORDS_OF_MESSAGES

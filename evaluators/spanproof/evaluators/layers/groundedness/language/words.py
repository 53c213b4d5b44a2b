"""Words: how keys and prose are cut into words that can be compared.

In: a key (`p95_latencyMs`) or a piece of prose. Out: canonical words, with plural, tense and common synonyms
folded (`avg`, `average` and `mean` are one word). Folding is deliberately coarse: words only choose between
values an output really holds, they never make a claim true.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from functools import lru_cache

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

_KEY_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+|[^\W\d_]+\d*")
_WORD = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+(?:['’][^\W\d_]+)?")

_LEAST_ROOT = 4
"""Letters that are left of a word without its ending."""
_SPOKEN = re.compile(r"\w+")

_SHORT = 200
"""Characters of a text whose words are kept: rules ask for the same stretches over and over."""
_CAMEL = re.compile(r"[a-z][A-Z]")

_SYNONYMS = {
    "mean": "avg average averaged averages",
    "max": "maximum maximal highest largest biggest greatest peak most top priciest",
    "min": "minimum minimal lowest smallest least fewest cheapest",
    "std": "stdev sd stddev deviation standard dev",
    "median": "med",
    "quantity": "qty units pcs stock inventory stocked",
    "price": "cost costs costing priced prices pricing",
    "total": "sum totals summed totalling totaling altogether",
    "number": "num count counts cnt",
    "percent": "pct percentage",
    "temperature": "temp temps",
    "latency": "latencies",
    "revenue": "rev revenues",
    "correlation": "corr",
    "coefficient": "coef coeff coefs",
    "probability": "prob",
    "department": "dept",
    "quarter": "qtr",
    "difference": "diff delta",
    "identifier": "id ids",
    "accuracy": "acc",
    "validation": "val",
    "available": "avail",
    "growth": "grew grow grows grown growing",
    "use": "used uses using usage",
    "loss": "losses lost lose loses losing",
    "fail": "failed fails failing failure failures",
    "pass": "passed passes passing",
    "miss": "missing missed misses",
    "add": "added adds adding insertion insertions inserted",
    "remove": (
        "removed removes removing removal deletion deletions delete deleted deletes"
        " destroy destroyed destroys"
    ),
    "position": "pos",
    "point": "pts",
    "distance": "dist",
    "size": "big",
    "eta": "arrive arrives arrival",
    "duration": "took takes elapsed lasted lasts lasting",
    "variance": "var",
    "rx": "receive receives received receiving",
    "tx": "send sends sent sending transmit transmits transmitted",
    "spend": "spent spends spending",
    "q1": "1q",
    "q2": "2q",
    "q3": "3q",
    "q4": "4q",
    "january": "jan",
    "february": "feb",
    "march": "mar",
    "april": "apr",
    "june": "jun",
    "july": "jul",
    "august": "aug",
    "september": "sep sept",
    "october": "oct",
    "november": "nov",
    "december": "dec",
    "monday": "mon",
    "tuesday": "tue tues",
    "wednesday": "wed weds",
    "thursday": "thu thur thurs",
    "friday": "fri",
    "saturday": "sat",
    "sunday": "sun",
}
_CANONICAL = {word: head for head, words in _SYNONYMS.items() for word in (head, *words.split())}

_NO_PLURALS = ("ss", "is", "ous", "tus", "nus", "sus", "rus", "mpus", "plus", "ocus", "thus", "dius")
"""Endings of words whose s is no plural: status, bonus, census, virus."""

_COMPOUNDS = {
    "pvalue": ("p", "value"), "pval": ("p", "value"), "rsquared": ("r", "squared"),
    "username": ("user", "name"),
    "firstname": ("first", "name"), "lastname": ("last", "name"), "onhand": ("on", "hand"),
}  # fmt: skip
"""Keys written as one word that prose writes as two."""

_QUARTERS = {"first": "q1", "second": "q2", "third": "q3", "fourth": "q4", "last": "q4", "final": "q4"}
PERCENTILES = {"25%": "q1", "50%": "median", "75%": "q3"}
"""How pandas heads its quartiles."""


def plain_set(words: str) -> frozenset[str]:
    """Words, given in one line, as they are written."""
    return frozenset(words.split())


STOP_WORDS = plain_set(
    "a an the this that these those it its is are was were be been being am i we you he she they my our "
    "your their his her of in on at to for from by with as and or but so if then than there here has "
    "have had do does did will would can could should may might must not no nor also just only very "
    "about per each all any some both between into over under via out up down which who whom whose what "
    "when where how why s t re ve ll d m please note currently now"
)
"""Words that carry no content of their own."""


@lru_cache(maxsize=16384)
def canonical(word: str) -> str:
    """The canonical form of one word."""
    word = word.lower()
    if word in _CANONICAL:
        return _CANONICAL[word]
    return _CANONICAL.get(stem := _stem(word), stem)


def _stem(word: str) -> str:
    if len(word) <= 3 or not word.isalpha():
        return word
    for ending in ("ies", "es", "s"):
        if word.endswith(ending) and not word.endswith(_NO_PLURALS):
            word = word[: -len(ending)] + ("y" if ending == "ies" else "e" if ending == "es" else "")
            break
    if word.endswith("ied") and len(word) > len("tried"):
        return word[:-3] + "y"
    for ending in ("ance", "ence", "ment", "ee"):
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_ROOT:
            word = word[: -len(ending)]  # "insurance" and `insured`, "employees" and "employed"
            break
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def canonical_set(words: str) -> frozenset[str]:
    """Words, given in one line, in the form in which `words_of` finds them."""
    return frozenset(canonical(word) for word in words.split())


@lru_cache(maxsize=16384)
def key_words(key: str) -> tuple[str, ...]:
    """A key's words in order, canonical: `p95_latencyMs` gives `p95`, `latency`, `ms`."""
    return tuple(canonical(part) for part in _parts(key))


@lru_cache(maxsize=4096)
def raw_key_words(key: str) -> tuple[str, ...]:
    """A key's words in order, in lower case, not folded: what units are read from."""
    return tuple(part.lower() for part in _parts(key))


def _parts(key: str) -> list[str]:
    if key in PERCENTILES:
        return [PERCENTILES[key]]
    parts: list[str] = []
    for part in _KEY_PARTS.findall(key[:200]):
        parts.extend(_COMPOUNDS.get(part.lower(), (part,)))
    return parts


@lru_cache(maxsize=16)
def said_in(text: str) -> frozenset[str]:
    """The words of a text as they stand there, in lower case; kept for an answer and its task.

    A rule whose cues are not among them has nothing to look for.
    """
    return frozenset(_SPOKEN.findall(text.casefold()))


def words_of(text: str) -> list[str]:
    """The canonical words of prose, in order.

    A word followed by a number also gives both joined, so that "class 1" names the key `fare_class1`.
    """
    return list(_short_words(text)) if len(text) <= _SHORT else _words(text)


@lru_cache(maxsize=8192)
def _short_words(text: str) -> tuple[str, ...]:
    return tuple(_words(text))


def _words(text: str) -> list[str]:
    found: list[str] = []
    before = ""
    for written in _WORD.findall(text):
        word, known = _known_by(written)
        found += known
        if word.isdigit() and before.isalpha():
            found.append(before.lower() + word)
        elif known[0] == "quarter" and word.lower() == "quarter" and before.lower() in _QUARTERS:
            found.append(_QUARTERS[before.lower()])
        before = word
    return found


@lru_cache(maxsize=16384)
def _known_by(word: str) -> tuple[str, tuple[str, ...]]:
    """A word without its "'s", and its canonical form with those of the words in a name like `maxTemp`."""
    word = word[:-2] if word.endswith(("'s", "’s")) else word
    within = key_words(word) if _CAMEL.search(word) else ()
    return word, (canonical(word), *within)


def content_words(words: Iterable[str]) -> list[str]:
    """The words that carry content."""
    return [word for word in words if word not in STOP_WORDS]


def day_words(day: date) -> frozenset[str]:
    """The words by which a day is known: its date, its year, its month and its weekday."""
    names = MONTH_NAMES[day.month - 1], WEEKDAYS[day.weekday()]
    return frozenset((day.isoformat(), str(day.year), *map(canonical, names)))

"""Verbs of doing: which tools change something, and which words say that it was done.

In: the name of a tool, its arguments and its result, or a word of an answer. Out: whether the tool does
something rather than looks it up, whether its result says that it was not done, and the verb of a word.
The verbs are data: `doings.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from spanproof.reading.tool_kinds import WORD
from spanproof.trace import JsonValue

# What the result of an operation says of itself where it was not done.
_REFUSED_STATES = frozenset(
    str.split("rejected failed failure error declined denied refused bounced aborted undeliverable")
)
_STATE_FIELDS = frozenset(("status", "state", "result", "outcome"))
# Verbs whose result is the record that they changed: its `status` is its own, not the operation's.
_VERBS_OF_RECORDS = frozenset(
    str.split(
        "create update set put add assign write save mark rename attach archive move insert remove delete"
        " approve close open escalate acknowledge register edit change modify"
    )
)
# `cancel_and_refund_order`
_JOINING = frozenset(("and", "or"))
# `"refunded": false`, `paid = no`
_DENIED_FIELD = re.compile(
    r"""["']?[\w-]+["']?\s*[:=]\s*["']?(?:false|null|none|no|not|nein|non|0)\b["']?""", re.IGNORECASE
)
_ALREADY = re.compile(r"\b(?:already|bereits|d[ée]j[àa]|ya|gi[àa])\b|已经?|既に|すでに", re.IGNORECASE)
_NAMESPACE = re.compile(r"__|[./:]")


@dataclass(frozen=True, slots=True)
class LanguageForms:
    """How one language says that something was done.

    Attributes:
        done: a verb in a form that says so.
        denied: words of its sentence that deny it or put it off.
        earlier: words by which it was so before.
        all: words by which it is said of all that there is.
        verbs: the English verbs, each with its forms.
    """

    done: re.Pattern[str]
    denied: re.Pattern[str]
    earlier: re.Pattern[str]
    all: re.Pattern[str]
    verbs: tuple[tuple[str, re.Pattern[str]], ...]

    def get_verb(self, words: str) -> str:
        """Return the English verb of words that `done` found: of several, the one that comes last."""
        ends = {
            verb: max((found.end() for found in forms.finditer(words)), default=0)
            for verb, forms in self.verbs
        }
        return max(ends, key=lambda verb: ends[verb])


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The verbs of doing.

    Attributes:
        verbs: all of them.
        tool_verbs: those by which a tool is known to change something.
        nouns: those that are nouns as well.
        general: those that say of any doing that it was done.
        lookups: first words of tools that look something up.
        relatives: by verb, the verbs that may say the same doing.
        participles: by participle or past form, its verb.
        nominals: by noun of a doing, its verb: `payment`, `booking`.
        making: those whose object says the doing as well: `place_order` orders.
        lasting: those whose state stays, whichever run brought it about.
        anything: words for what any doing is.
        languages: the forms of other languages.
    """

    verbs: frozenset[str]
    tool_verbs: frozenset[str]
    nouns: frozenset[str]
    general: frozenset[str]
    lookups: frozenset[str]
    relatives: Mapping[str, frozenset[str]]
    participles: Mapping[str, str]
    nominals: Mapping[str, str]
    making: frozenset[str]
    lasting: frozenset[str]
    anything: frozenset[str]
    languages: Mapping[str, LanguageForms]

    def are_related(self, verb: str, others: Collection[str]) -> bool:
        """Whether a verb may say the doing that goes by these; a general verb, or none, says any.

        Beside a verb that says more, a general one says nothing: `apply_place` places.
        """
        specific = frozenset(others) - self.general
        if not verb or verb in self.general or not specific:
            return True
        return bool(({verb} | self.relatives.get(verb, frozenset())).intersection(specific))


@cache
def load_lexicon() -> Lexicon:
    """Load the verbs of doing."""
    data = tomllib.loads(Path(__file__).with_name("doings.toml").read_text(encoding="utf-8"))
    families = [frozenset(family.split()) for family in data["families"]]
    verbs = frozenset[str]().union(*families)
    general = frozenset(data["general"].split())
    relatives = {verb: frozenset[str]().union(*(f for f in families if verb in f)) for verb in verbs}
    nominals = {noun: verb for verb in verbs for noun in _list_nominals(verb)}
    nominals |= {noun: verb for verb, nouns in data["nominals"].items() for noun in nouns.split()}
    participles: dict[str, str] = {}
    for verb in sorted(verbs | general):
        for form in data["irregular"].get(verb, "").split() or _list_participles(verb):
            participles.setdefault(form, verb)
    return Lexicon(
        verbs,
        verbs - frozenset(data["vague"].split()) - frozenset(data["lookups"].split()),
        frozenset(data["nouns"].split()),
        general,
        frozenset(data["lookups"].split()),
        relatives,
        participles,
        nominals,
        frozenset(data["making"].split()),
        frozenset(data["lasting"].split()),
        frozenset(data["anything"].split()),
        {language: _build_forms(forms) for language, forms in data["languages"].items()},
    )


def _build_forms(forms: Mapping[str, Any]) -> LanguageForms:
    verbs: Mapping[str, str] = forms["verbs"]
    done = forms["frame"].replace("{}", "|".join(verbs.values()))
    return LanguageForms(
        re.compile(done, re.IGNORECASE),
        re.compile(forms["denied"], re.IGNORECASE),
        re.compile(forms["earlier"], re.IGNORECASE),
        re.compile(forms["all"], re.IGNORECASE),
        tuple((verb, re.compile(form, re.IGNORECASE)) for verb, form in verbs.items()),
    )


def _list_nominals(verb: str) -> tuple[str, ...]:
    """Return the nouns of a verb's doing that end in -ment, -ing and -al, and the verb as a noun."""
    stem = verb.removesuffix("e")
    return verb, f"{verb}ment", f"{stem}ing", f"{stem}al"


def _list_participles(verb: str) -> tuple[str, ...]:
    """Return how a regular verb says that it was done."""
    if verb.endswith("e"):
        return (f"{verb}d",)
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return (f"{verb[:-1]}ied",)
    return (f"{verb}ed",)


@lru_cache(maxsize=512)
def get_tool_verb(tool: str) -> str:
    """Return the verb of doing in a tool's name: its first word, or its last; empty where there is none."""
    lexicon = load_lexicon()
    words: list[str] = [word.lower() for word in WORD.findall(_NAMESPACE.split(tool)[-1]) if word.isalpha()]
    if not words or words[0] in lexicon.lookups:
        return ""
    is_last = len(words) > 1 and words[-1] in lexicon.tool_verbs - lexicon.nouns
    if is_last and words[0] not in lexicon.verbs - lexicon.nouns:
        return words[-1]
    is_first = words[0] in lexicon.tool_verbs and (len(words) > 1 or words[0] not in lexicon.nouns)
    return words[0] if is_first else ""


@lru_cache(maxsize=512)
def list_tool_verbs(tool: str) -> frozenset[str]:
    """Return the verbs by which the doing of a tool may be said: `post_order` posts, and orders.

    What else is done to an object is not said by it: `refund_charge` charges nothing.
    """
    verb, lexicon = get_tool_verb(tool), load_lexicon()
    if not verb:
        return frozenset()
    words = [word.lower() for word in WORD.findall(_NAMESPACE.split(tool)[-1])]
    makes = words[0] in lexicon.making | lexicon.general
    others = [word for before, word in pairwise(words) if makes or before in _JOINING]
    return frozenset({verb, *(lexicon.nominals[word] for word in others if word in lexicon.nominals)})


def changes_something(tool: str) -> bool:
    """Whether a tool does something, rather than look it up."""
    return bool(get_tool_verb(tool))


def is_for_refusing(tool: str) -> bool:
    """Whether a tool is there to refuse: "Rejected: …" is what it was to do."""
    return get_tool_verb(tool) in {"reject", "decline", "deny", "refuse"}


def is_refused(tool: str, result: Mapping[str, JsonValue], arguments: Collection[JsonValue] = ()) -> bool:
    """Whether an operation's result says that it was not done: `{"reserved": false, …}` of `reserve_room`.

    So does `{"status": "rejected", …}`, unless that is what it was given to set. Of a new issue,
    `{"closed": false}` says no such thing, nor `{"status": "held", "confirmed": false}` of `hold_room`.
    """
    verb = get_tool_verb(tool)
    participles = load_lexicon().participles
    related = load_lexicon().relatives.get(verb, frozenset())
    states = {
        participles.get(item.lower())
        for name, item in result.items()
        if name.lower() in _STATE_FIELDS and isinstance(item, str)
    }
    if verb in states:
        return False
    for name, item in result.items():
        field_verb = participles.get(name.lower().removeprefix("is_").removeprefix("was_"))
        if item is False and field_verb is not None and field_verb in related:
            return True
    if verb in _VERBS_OF_RECORDS:
        return False
    wanted = {argument.lower() for argument in arguments if isinstance(argument, str)}
    return any(
        name.lower() in _STATE_FIELDS and isinstance(item, str) and item.lower() in _REFUSED_STATES - wanted
        for name, item in result.items()
    )


def reports_done(text: str, verb: str) -> bool:
    """Whether a result says that a doing is done: `{"status": "refunded"}`, `reminder_sent: 3 May`."""
    return verb in _list_done_verbs(_DENIED_FIELD.sub(" ", text))


def reports_already_done(text: str, verbs: Collection[str]) -> bool:
    """Whether an error says that what was to be done is so already, and stays so: `already cancelled`."""
    lexicon = load_lexicon()
    lasting = lexicon.lasting.intersection(verbs)
    if not lasting or _ALREADY.search(text) is None:
        return False
    words = {word.lower() for word in WORD.findall(text)}
    nouns = {lexicon.nominals[word] for word in words if word in lexicon.nominals}
    return not lasting.isdisjoint(nouns | _list_done_verbs(text))


def _list_done_verbs(text: str) -> frozenset[str]:
    """Return the verbs of the forms in a text that say that something was done, in any of the languages."""
    lexicon = load_lexicon()
    words = {word.lower() for word in WORD.findall(text)}
    english = {lexicon.participles[word] for word in words if word in lexicon.participles}
    others = chain.from_iterable(forms.verbs for forms in lexicon.languages.values())
    return frozenset(english.union(verb for verb, pattern in others if pattern.search(text)))


def list_named_verbs(text: str) -> frozenset[str]:
    """Return the verbs of the doings that an English text names: `cancel`, `refunded`, `booking`."""
    lexicon = load_lexicon()
    words = re.findall(r"[a-z]+", text.casefold())
    return frozenset(
        verb for word in words if (verb := lexicon.nominals.get(word) or lexicon.participles.get(word))
    )

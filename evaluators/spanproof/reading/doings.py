"""Verbs of doing: which tools change something, and which words say that it was done.

In: the name of a tool, its arguments and its result, or a word of an answer. Out: whether the tool does
something rather than looks it up, whether its result says that it was not done, and the verb behind a word.
The verbs are data: `doings.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

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
_NAMESPACE = re.compile(r"__|[./:]")


@dataclass(frozen=True, slots=True)
class LanguageForms:
    """How one language says that something was done, that it was not, and that all of it was."""

    done: re.Pattern[str]
    denied: re.Pattern[str]
    all: re.Pattern[str]


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
        languages: the forms of other languages.
    """

    verbs: frozenset[str]
    tool_verbs: frozenset[str]
    nouns: frozenset[str]
    general: frozenset[str]
    lookups: frozenset[str]
    relatives: Mapping[str, frozenset[str]]
    participles: Mapping[str, str]
    languages: Mapping[str, LanguageForms]

    def are_related(self, verb: str, others: Collection[str]) -> bool:
        """Whether a verb may say the doing that goes by these; a general verb, or none, says any."""
        if not verb or not others or verb in self.general or self.general.intersection(others):
            return True
        return bool(({verb} | self.relatives.get(verb, frozenset())).intersection(others))


@cache
def load_lexicon() -> Lexicon:
    """Load the verbs of doing."""
    data = tomllib.loads(Path(__file__).with_name("doings.toml").read_text(encoding="utf-8"))
    families = [frozenset(family.split()) for family in data["families"]]
    verbs = frozenset[str]().union(*families)
    general = frozenset(data["general"].split())
    relatives = {verb: frozenset[str]().union(*(f for f in families if verb in f)) for verb in verbs}
    participles: dict[str, str] = {}
    for verb in sorted(verbs | general):
        for form in data["irregular"].get(verb, "").split() or _derive_participles(verb):
            participles.setdefault(form, verb)
    return Lexicon(
        verbs,
        verbs - frozenset(data["vague"].split()) - frozenset(data["lookups"].split()),
        frozenset(data["nouns"].split()),
        general,
        frozenset(data["lookups"].split()),
        relatives,
        participles,
        {
            language: LanguageForms(
                *(re.compile(forms[name], re.IGNORECASE) for name in ("done", "denied", "all"))
            )
            for language, forms in data["languages"].items()
        },
    )


def _derive_participles(verb: str) -> tuple[str, ...]:
    """Return how a regular verb says that it was done."""
    if verb.endswith("e"):
        return (f"{verb}d",)
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return (f"{verb[:-1]}ied",)
    return (f"{verb}ed",)


@lru_cache(maxsize=512)
def find_tool_verb(tool: str) -> str:
    """Return the verb of doing in a tool's name: its first word, or its last; empty where there is none."""
    lexicon = load_lexicon()
    words = [word.lower() for word in WORD.findall(_NAMESPACE.split(tool)[-1]) if word.isalpha()]
    if not words or words[0] in lexicon.lookups:
        return ""
    if words[0] in lexicon.tool_verbs:
        return words[0] if len(words) > 1 or words[0] not in lexicon.nouns else ""
    is_last = len(words) > 1 and words[-1] in lexicon.tool_verbs - lexicon.nouns
    return words[-1] if is_last and words[0] not in lexicon.verbs else ""


@lru_cache(maxsize=512)
def list_tool_verbs(tool: str) -> frozenset[str]:
    """Return the verbs by which the doing of a tool may be said: `post_order` posts, and orders."""
    verbs = load_lexicon().verbs
    words = {word.lower() for word in WORD.findall(_NAMESPACE.split(tool)[-1])}
    return frozenset(words & verbs) if find_tool_verb(tool) else frozenset()


def changes_something(tool: str) -> bool:
    """Whether a tool does something, rather than look it up."""
    return bool(find_tool_verb(tool))


def is_for_refusing(tool: str) -> bool:
    """Whether a tool is there to refuse: "Rejected: …" is what it was to do."""
    return find_tool_verb(tool) in {"reject", "decline", "deny", "refuse"}


def is_refused(tool: str, result: Mapping[str, JsonValue], arguments: Collection[JsonValue] = ()) -> bool:
    """Whether an operation's result says that it was not done: `{"reserved": false, …}` of `reserve_room`.

    So does `{"status": "rejected", …}`, unless that is what it was given to set. Of a new issue,
    `{"closed": false}` says no such thing.
    """
    verb = find_tool_verb(tool)
    participles = load_lexicon().participles
    related = load_lexicon().relatives.get(verb, frozenset())
    for name, item in result.items():
        said = participles.get(name.lower().removeprefix("is_").removeprefix("was_"))
        if item is False and said is not None and said in related:
            return True
    if verb in _VERBS_OF_RECORDS:
        return False
    wanted = {each.lower() for each in arguments if isinstance(each, str)}
    return any(
        name.lower() in _STATE_FIELDS and isinstance(item, str) and item.lower() in _REFUSED_STATES - wanted
        for name, item in result.items()
    )

"""States that an answer gives to things: words of which only one can hold of a field.

In: an answer and the base. Out: state claims: a word of a set whose members exclude each other, where it is
used as a value. The sets come from a lexicon and from the fields of the base: values of one column, and
sibling keys such as the cabins of a price list.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from spanproof.evaluators.layers.groundedness.claims.frames import AnswerFrames, Frame, build_frame
from spanproof.reading.records import FactBase, Role
from spanproof.reading.values import Kind, Mention, Value
from spanproof.reading.words import STOP, base_form, split_name

State = tuple[str, ...]
MAX_STATES = 60
_MAX_LIVELY = 12
_OF_STATES = frozenset(("status", "state", "stage", "phase", "condition", "health"))
_BEFORE = 60


# What will be, may be or was requested is no state that a record has now; nor is what has yet to happen.
_NOT_YET = re.compile(
    r"(?:\b(?:(?:will|would|can|could|may|might|must|should|shall|to)\s+(?:\w+\s+){0,4}?(?:be|get)\s+(?:\w+\s+){0,3}?|"
    r"(?:wish|want|like)(?:es|ed)?\s+to\s+|(?:once|until|if|unless|whether|when)\s+(?:[^\s.,;:]+\s+){1,8}?))\Z",
    re.IGNORECASE,
)
_OFFERED = re.compile(
    r"\b(?:would you like|would you prefer|do you want|if you|can only|i will|i['’]ll|we will|we['’]ll|let['’]s|(?:i|we|you) can|should i|shall i)\b",  # noqa: E501
    re.IGNORECASE,
)
_DENIED = re.compile(r"(?:\b(?:not|no|never|neither|without|isn|aren|wasn|weren)\b|n['’]t\b)[^,;.\n]{0,22}\Z", re.IGNORECASE)  # fmt: skip  # noqa: E501


@dataclass(frozen=True, slots=True)
class StateClaim:
    """A state that an answer says.

    Attributes:
        usual: the state's usual name; `rivals` the names of those that exclude it.
        denied: whether it is said not to hold.
        usually: whether it is a word that is a state anywhere, rather than a value of some field of the base.
    """

    frame: Frame
    usual: State
    rivals: frozenset[State]
    denied: bool = False
    usually: bool = True


class States:
    """The states of one base: usual names of phrases, and what excludes what."""

    def __init__(self, base: FactBase, synonyms: Mapping[str, Sequence[str]]) -> None:
        self.usual: dict[State, State] = {}
        self.rivals: dict[State, set[State]] = defaultdict(set)
        self.usually: set[str] = {form for groups in _load_lexicon_forms() for form in groups}
        self.usually.update(_normalise_form(other) for others in synonyms.values() for other in others)
        self.forms = set(self.usually)
        self._first: dict[str, list[State]] = defaultdict(list)
        for names in _load_lexicon():
            self._add_set(
                [group[0] for group in names], {other: group[0] for group in names for other in group}
            )
        for usual, others in synonyms.items():
            known = self.usual.get(_parse_state(usual), _parse_state(usual))
            self._add_set([known], {known: known, **{_parse_state(other): known for other in others}})
        for fact in base.facts:
            if fact.value.kind is Kind.TEXT and len(fact.value.text) < 30:
                self.forms.add(_normalise_form(base.texts[fact.source][fact.start : fact.end]))
            if len(fact.path) >= 2:
                self.forms.add(_normalise_form(fact.path[-1]))
        for values in _collect_state_sets(base):
            self._add_set(sorted(values), {value: value for value in values})
        for phrases in self._first.values():
            phrases.sort(key=lambda phrase: -len(phrase))

    def _add_set(self, members: Sequence[State], names: Mapping[State, State]) -> None:
        for phrase, usual in names.items():
            if phrase and phrase not in self.usual:
                self.usual[phrase] = usual
                self._first[phrase[0]].append(phrase)
        for member in members:
            self.rivals[member].update(other for other in members if other != member)

    def of(self, text: str) -> State | None:
        """Return the usual name of the state that a cell's text is, None where it is none."""
        return self.usual.get(tuple(text.split()))

    def opposite(self, state: State) -> State | None:
        """Return the only state that excludes one, None where there are several or none."""
        pairs = [[group[0] for group in names] for names in _load_lexicon() if len(names) == 2]
        return next((pair[pair[0] == state] for pair in pairs if state in pair), None)

    def find(self, words: Sequence[tuple[str, int, int]], at: int) -> tuple[int, State] | None:
        """Return the longest state that begins at a word: how many words it has, and its usual name."""
        for phrase in self._first.get(words[at][0], ()):
            if len(phrase) <= len(words) - at and all(
                words[at + i][0] == word for i, word in enumerate(phrase)
            ):
                return len(phrase), self.usual[phrase]
        return None


def _load_lines() -> list[str]:
    text = (resources.files(__package__) / "states.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and line[:1] != "#"]


@lru_cache(maxsize=1)
def _load_lexicon() -> list[list[list[State]]]:
    return [
        [[_parse_state(name) for name in group.split("|")] for group in line.split()]
        for line in _load_lines()
        if line[:1] not in "!@"
    ]


@lru_cache(maxsize=1)
def _load_lexicon_forms() -> list[set[str]]:
    return [
        {_normalise_form(name) for name in re.split(r"[|\s]+", line)}
        for line in _load_lines()
        if line[:1] not in "!@"
    ]


def _normalise_form(text: str) -> str:
    """Return a state as it is written, but for case, hyphens and blanks."""
    return " ".join(re.split(r"[\s_-]+", text.strip().lower()))


def _parse_state(name: str) -> State:
    return tuple(base_form(word) for word in split_name(name.replace("_", " ")))


def _collect_state_sets(base: FactBase) -> list[set[State]]:
    """Return the values of fields with few different ones, and the names of sibling keys."""
    values: dict[tuple[str, ...], list[State]] = defaultdict(list)
    siblings: dict[tuple[str, ...], set[State]] = defaultdict(set)
    for fact in base.facts:
        if fact.role is not Role.CELL or not fact.path:
            continue
        if fact.value.kind is Kind.TEXT and len(fact.value.text) < 30:
            state = tuple(fact.value.text.split())
            if len(state) <= 3 and not any(ch.isdigit() for ch in fact.value.text):
                values[fact.path].append(state)
        if len(fact.path) == 2:
            siblings[fact.path[:1]].add(_parse_state(fact.path[1]))
    lively = [
        set(found)
        for path, found in values.items()
        if 2 <= len(set(found)) <= _MAX_LIVELY
        and (len(set(found)) <= len(found) * 0.7 or not _OF_STATES.isdisjoint(split_name(path[-1])))
    ]
    keys = [found for found in siblings.values() if 2 <= len(found) <= _MAX_LIVELY]
    return [{state for state in found if state and state[0] not in STOP} for found in (*lively, *keys)]


def find_states(read: AnswerFrames, states: States) -> list[StateClaim]:
    """Return the states an answer says, each at its place, the longest at each word."""
    found: list[StateClaim] = []
    at = 0
    while at < len(read.words) and len(found) < MAX_STATES:
        hit = states.find(read.words, at)
        if hit is None:
            at += 1
            continue
        length, usual = hit
        start, end = read.words[at][1], read.words[at + length - 1][2]
        at += length
        # "to return it" is no state: only the form that a field or the lexicon has is one.
        if _normalise_form(read.answer[start:end]) not in states.forms or _is_no_state(
            read.answer, start, end
        ):
            continue
        if _OFFERED.search(read.answer[read.sentence_at(read.line_at(start), start)[0] : start]):
            continue
        mention = Mention(Value(Kind.TEXT, text=" ".join(usual)), start, end)
        rivals = frozenset(states.rivals[usual])
        usually = _normalise_form(read.answer[start:end]) in states.usually
        denied = bool(_DENIED.search(read.answer[max(0, start - 40) : start]))
        found.append(StateClaim(build_frame(start, end, read, mention), usual, rivals, denied, usually))
    return found


def _is_no_state(answer: str, start: int, end: int) -> bool:
    """Whether a word is about the future or a request, or part of a name: `business days`, `/home`."""
    if answer[max(0, start - 1) : start] in ("/", "\\", "@", "#"):
        return True
    if _NOT_YET.search(answer[max(0, start - _BEFORE) : start]) or _is_progress(answer, start, end):
        return True
    following = answer[start : end + 16].lower()
    return any(following.startswith((name, name.replace(" ", "-"))) for name in _load_other_names())


def _is_progress(answer: str, start: int, end: int) -> bool:
    """Whether a word says how far a request is, not what state a record has: "your refund was processed"."""
    if _normalise_form(answer[start:end]) not in _load_progress_words()[1]:
        return False
    clause = re.split(r"[.,;:!?\n]|\s[-–—]\s", answer[max(0, start - _BEFORE) : start])[-1]
    return any(base_form(word) in _load_progress_words()[0] for word in split_name(clause))


@lru_cache(maxsize=1)
def _load_progress_words() -> tuple[frozenset[str], frozenset[str]]:
    """Return base forms of what is requested, and the words that say how far it is."""
    nouns, words = (line[1:].split() for line in _load_lines() if line[:1] == "@")
    return frozenset(map(base_form, nouns)), frozenset(map(_normalise_form, words))


@lru_cache(maxsize=1)
def _load_other_names() -> tuple[str, ...]:
    return tuple(
        name.replace("_", " ") for line in _load_lines() if line[:1] == "!" for name in line[1:].split()
    )

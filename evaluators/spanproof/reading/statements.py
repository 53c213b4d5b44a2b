"""How a passage is put: hedges, clauses, times, and which words go together.

In: a passage with its words. Out: the hedge of a number, whether a number word counts anything, and places.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from spanproof.reading.agreement import Hedge
from spanproof.reading.fact_names import is_possible
from spanproof.reading.lexicon import is_of, list_cues, load_degrees, load_texts, load_words
from spanproof.reading.records import Fact, Role
from spanproof.reading.sentences import Passage, Word
from spanproof.reading.values import Mention
from spanproof.reading.words import STOP, list_base_forms

_CLAUSE_END: Final = re.compile(
    r";|\s[–—-]\s|\.\s|:\s|,\s+(?:but|while|whereas|so|which|though|although|because|since)\b|\s(?:while|whereas|but)\b|\|"
)
_OTHER_TIME: Final = re.compile(
    r"\b(?:last|previous|past|prior) (?:night|day|week|month|quarter|season|year|time)\b"
    r"|\bago\b|\byesterday\b|\bas you (?:said|say|wrote|write|mentioned)\b",
    re.IGNORECASE,
)
# "Is it open?", "check whether it is", "confirm that it is", but not "can you list them?".
_POLAR: Final = re.compile(
    r"(?:^|[.!?:;,\n]\s*|\band\s+|\bor\s+)"
    r"(?:(?:is|are|was|were|am|do|does|did|has|have|had|should|must|may|might)\b"
    r"|(?:can|could|will|would)\b(?!\s+you\b))[^.!?\n]*\?"
    r"|\bwhether\b|\b(?:verify|confirm|check|make sure|ensure) that\b"
    rf"|\b(?:{'|'.join(sorted(load_texts('inquiring')))}|find out)\b[^.!?\n]*\bif\b",
    re.IGNORECASE,
)
_OF_SUBJECT: Final = re.compile(r"\b(?:who|which)\b", re.IGNORECASE)
_FUNCTION_PARTS: Final = frozenset(
    ("DET", "PRON", "ADP", "AUX", "CCONJ", "PART", "PUNCT", "SPACE", "SYM", "SCONJ")
)
_PLAIN_KINDS: Final = ("carrier", "negation", "all", "only", "about", "time", "difference", "sum")
_ORDINAL_TEXTS: Final = load_texts("ordinal")
_MEANINGFUL: Final = ("negation", "all", "only", "cause", "time", "hedge", "up", "down", "exact")
_SIDES: Final = load_texts("side")
_COMBINING: Final = frozenset(("minus", "excluding", "without", "including", "except", "besides"))
_NAMING_PARTS: Final = frozenset(("NOUN", "PROPN", "VERB"))
_SUPPOSITIONS: Final = load_texts("supposing")
_COMPARING: Final = load_texts("comparing")
_SUBJECTS: Final = ("nsubj", "nsubjpass")
_ORDINALS: Final = {
    name: rank
    for rank, name in enumerate(["first", "second", "third", "fourth", "fifth", "sixth", "seventh"], 1)
}
_SELF: Final = frozenset(("i",))
_OWN: Final = frozenset(("i", "we"))
_TYING: Final = load_texts("tying")
_SEPARATING: Final = frozenset((",", "and", "or", ";", "/", "&"))
_MOST_BETWEEN: Final = 4
_SUPPOSING: Final = frozenset(
    ("will", "would", "can", "could", "may", "might", "should", "shall", "to", "if", "'ll", "’ll")
)
# How far a verb may be from the subject that it shares with others.
_MAX_HOPS: Final = 4
# A hedge is at most so many words before its number: "just under the 80".
_HEDGE_REACH: Final = 3
_FRACTION: Final = re.compile(
    r"\b(?:(?P<half>half)|(?:(?P<count>a|one|two|three)[\s-])?(?P<part>third|quarter|fifth|tenth)s?)\b(?=\s+(?:of|the)\b|[^\w\s]|\Z)",
    re.IGNORECASE,
)


def counts_nothing(mention: Mention, text: str, words: Sequence[Word], indices: tuple[int, ...]) -> bool:
    """Return whether a number word counts nothing: "one" as a pronoun, "both", "once", the 2 of "2nd"."""
    if not mention.spelled:
        return False
    word = words[indices[0]]
    if word.text.lower() in ("both", "once", "twice", "single", "half", "dozen"):
        return True
    following = words[indices[-1] + 1] if indices[-1] + 1 < len(words) else None
    if _FRACTION.match(text, mention.start) is not None:
        return True
    is_pronoun = word.text.lower() == "one" and word.relation not in ("nummod", "compound")
    return is_pronoun and not (following is not None and following.text.lower() == "of")


# Words that may be between a hedge and its number.
_BETWEEN_HEDGE: Final = frozenset(
    ["than", "a", "the", "just", "bit", "by", "little", "$", "€", "£", "(", "slightly", "only"]
)


def read_hedge(words: Sequence[Word], indices: tuple[int, ...]) -> Hedge:
    """Return how the number at some words is meant: "about 80", "just under the 80", "more than 80"."""
    for at in range(indices[0] - 1, max(-1, indices[0] - 1 - _HEDGE_REACH), -1):
        word = words[at]
        if word.text.lower() in _BETWEEN_HEDGE:
            continue
        if is_of(word, "about"):
            return Hedge.ABOUT
        if is_of(word, "under"):
            return Hedge.UNDER
        if is_of(word, "over") or word.text in (">", "+"):
            return Hedge.OVER
        break
    following = words[indices[-1] + 1].text if indices[-1] + 1 < len(words) else ""
    return Hedge.OVER if following == "+" else Hedge.NONE


def list_clause_starts(passage: Passage, words: Sequence[Word]) -> list[int]:
    """Return where the clauses of a passage begin: after their marks, and at the subject of each verb."""
    starts = {0} | {match.end() for match in _CLAUSE_END.finditer(passage.text)}
    if passage.lead is not None:
        starts = {start for start in starts if start == 0 or start > passage.lead[1] + 3}
    left = list(range(len(words)))
    for at in range(len(words)):
        head, hops = at, 0
        while words[head].head != head and hops < 12:
            head = words[head].head
            left[head] = min(left[head], at)
            hops += 1
    for at, word in enumerate(words):
        is_subject = word.relation in ("nsubj", "nsubjpass") and word.tag not in ("WDT", "WP")
        if is_subject and words[word.head].part in ("VERB", "AUX"):
            starts.add(words[left[at]].start)
    starts |= {start for _, start, _ in passage.cells}
    return sorted(starts)


def names_other_time(text: str, task_words: frozenset[str]) -> bool:
    """Return whether a sentence is about a time that the task does not name: "last week it was 10.9"."""
    found = _OTHER_TIME.search(text)
    return found is not None and not list_base_forms(found.group()) <= task_words


_NUMBER_BEHIND: Final = re.compile(r"\.?\s*#?\d")


def read_abbreviation(word: Word, text: str) -> Word:
    """Return a word, "no." before a number as the word that it abbreviates."""
    is_short = word.text.lower() in ("no", "no.") and _NUMBER_BEHIND.match(text, word.end) is not None
    is_ended = is_short and (word.text.endswith(".") or text[word.end : word.end + 1] == ".")
    if is_ended:
        return replace(word, text="number", lemma="number", form="number")
    return word


def is_subordinating(word: Word) -> bool:
    """Return whether a word begins a clause that may assert something within a plan: "…, since it failed"."""
    return word.part == "SCONJ" or word.tag in ("WDT", "WP", "WRB") or word.text in (":", ";", "–", "—")


def is_tied_to(words: Sequence[Word], at: int, index: int) -> bool:
    """Return whether one word is said of another: "it is enabled", or after marks alone: "Insurance: No"."""
    between = words[min(at, index) + 1 : max(at, index)]
    is_entry = index > at and bool(between) and not any(word.text[:1].isalnum() for word in between)
    return words[at].head == index or words[index].head == at or is_entry


def list_coordinated(words: Sequence[Word], at: int) -> frozenset[int]:
    """Return a verb with those that it is joined to: "cancelled or refunded"."""
    found = [at]
    while words[found[-1]].relation == "conj" and words[found[-1]].head not in found:
        found.append(words[found[-1]].head)
    return frozenset(found)


def is_denied(words: Sequence[Word], at: int) -> bool:
    """Return whether a verb, or one that it is joined to, is negated: "was not sent"."""
    verbs = list_coordinated(words, at)
    negations = [index for index, word in enumerate(words) if is_of(word, "negation")]
    return any(words[index].head in verbs or index in (at - 1, at - 2) for index in negations)


def is_of_answer(words: Sequence[Word], at: int) -> bool:
    """Return whether a verb is about the answer: "I ordered them by age", "posted below", "informed you"."""
    own = {other.text.lower() for other in words if other.head == at}
    is_here = any(word.text.lower() in ("above", "below", "here") for word in words)
    is_sorted = words[at].lemma == "order" and bool(own & {"by", "from", "alphabetically", "chronologically"})
    return is_here or is_sorted or (words[at].lemma in ("inform", "notify") and "you" in own)


def is_done(words: Sequence[Word], at: int) -> bool:
    """Return whether a verb says what the agent did: "I sent", "was sent", "- Refund: created"."""
    helpers = {
        other.text.lower()
        for other in words
        if other.head == at and other.relation in ("aux", "auxpass", "neg")
    }
    if helpers & _SUPPOSING:
        return False
    is_passive = any(other.head == at and other.relation == "auxpass" for other in words)
    return is_passive or has_own_subject(words, at)


def is_state(words: Sequence[Word], at: int) -> bool:
    """Return whether a verb in the passive says what became of a thing: "is confirmed", not "is listed"."""
    is_passive = any(other.head == at and other.relation in ("auxpass", "nsubjpass") for other in words)
    return words[at].tag == "VBN" and is_passive and not is_of(words[at], "shown")


def is_polar(task: str) -> bool:
    """Return whether a task may be answered by yes or no, so that its words say what is in question."""
    return _POLAR.search(task.strip()) is not None


def is_polar_answer(answer: str) -> bool:
    """Return whether an answer begins with yes or no, whatever the task looks like."""
    return answer.lstrip(" *_")[:3].lower().rstrip(",.:!* ") in ("yes", "no")


def is_of_cases(task: str) -> bool:
    """Return whether a task may be about several cases: it compares, or names two numbers."""
    words = task.lower().split()
    degrees = load_degrees("superlative").keys() | load_degrees("comparative").keys() | load_texts("casing")
    numbers = [word for word in words if any(map(str.isdigit, word))]
    return len(numbers) > 1 or not degrees.isdisjoint(word.strip(".,;:?!") for word in words)


def is_question_of_subject(task: str) -> bool:
    """Return whether a task is about who did something: "Who sent it?", but not "How much did it cost?"."""
    return _OF_SUBJECT.search(task) is not None


def is_predicate(words: Sequence[Word], at: int) -> bool:
    """Return whether a word is what a form of "be" says of its subject: "are late", "are on time"."""
    word, head = words[at], words[words[at].head]
    is_behind_be = words[head.head].part == "AUX" and words[at].head == head.head + 1
    return (word.relation == "pobj" and is_behind_be) or (word.relation == "acomp" and head.part == "AUX")


def is_of_success(words: Sequence[Word], at: int) -> bool:
    """Return whether a particle says that something succeeded: "the payment went through"."""
    return words[at].text.lower() == "through" and not any(other.head == at for other in words)


def is_own_doing(words: Sequence[Word], at: int) -> bool:
    """Return whether a verb says what the agent did."""
    related = [other for other in words if other.head == at]
    is_own = any(other.text.lower() in _OWN or other.relation == "auxpass" for other in related)
    return is_own and words[at].tag in ("VBD", "VBN")


def are_tying(words: Sequence[Word]) -> bool:
    """Return whether the words between two names say that the second is a value of the first."""
    is_tied = any(word.text.lower() in _TYING or word.text == ":" for word in words)
    is_apart = any(word.text in _SEPARATING or is_of(word, "negation") for word in words)
    return is_tied and not is_apart and len(words) <= _MOST_BETWEEN


def is_mark(word: Word) -> bool:
    """Return whether a word is no word: a mark, or a space."""
    return word.part in ("PUNCT", "SPACE") or not any(map(str.isalnum, word.text))


def is_function_word(word: Word) -> bool:
    """Return whether a word has a part in the grammar only; without a grammar, whether it is a stop word."""
    return word.part in _FUNCTION_PARTS or (not word.part and word.text.lower() in STOP)


def is_plain_word(word: Word) -> bool:
    """Return whether a word means something by itself, whatever cell has it."""
    text = word.text.lower()
    if word.form in STOP or text in _ORDINAL_TEXTS or text in load_degrees("superlative"):
        return True
    return text in load_words("on") | load_words("off") or any(is_of(word, kind) for kind in _PLAIN_KINDS)


def has_counting_word(words: Sequence[Word], at: int, among: AbstractSet[int]) -> bool:
    """Return whether a number, a determiner or a superlative among some words is of a noun."""
    superlatives = load_degrees("superlative")
    own = [words[index] for index in sorted(among) if words[index].head == at]
    return any(
        word.relation in ("nummod", "det", "predet") or word.text.lower() in superlatives for word in own
    )


def is_meaningful(word: Word) -> bool:
    """Return whether a word changes what a sentence states: "not", "all", "exactly", "up"."""
    return word.text.lower() in _SIDES or any(is_of(word, kind) for kind in _MEANINGFUL)


def is_degree(word: Word) -> bool:
    """Return whether a word compares: a superlative or a comparative."""
    lowered = word.text.lower()
    return lowered in load_degrees("superlative") or lowered in load_degrees("comparative")


def is_up_of_sum(words: Sequence[Word], at: int) -> bool:
    """Return whether a word is the "up" of "add up to": what the operation is called, and no direction."""
    return words[at].text.lower() == "up" and at > 0 and is_of(words[at - 1], "sum")


def get_rank(words: Sequence[Word], at: int) -> tuple[int, tuple[int, ...]]:
    """Return the rank before a superlative, and where: 2 of "second-highest"; 1 and nowhere without one."""
    for before in (at - 1, at - 2):
        if before >= 0 and words[before].text.lower() in _ORDINALS:
            return _ORDINALS[words[before].text.lower()], (before,)
    return 1, ()


def is_of_past(word: Word) -> bool:
    """Return whether a word says that something was so at another time."""
    return is_of(word, "past") or is_of(word, "time") or word.text.lower() in ("were", "was", "had")


def names_another(words: Sequence[Word]) -> bool:
    """Return whether a thing is named between a name and a value: "Grafana on 3000 and the exporter on"."""
    joined = [at for at, word in enumerate(words) if word.text in ("and", "&", "plus")]
    return any(word.part in ("NOUN", "PROPN", "DET") for at in joined for word in words[at + 1 : at + 2])


def is_of_subject(words: Sequence[Word], at: int) -> bool:
    """Return whether a word belongs to the subject: what a sentence is about, not what it says of that."""
    for _ in range(_MAX_HOPS):
        head = words[at].head
        if words[at].relation in _SUBJECTS or head == at or words[at].part in ("VERB", "AUX"):
            break
        at = head
    return words[at].relation in _SUBJECTS


def has_own_subject(words: Sequence[Word], at: int) -> bool:
    """Return whether the agent is the subject of a verb, or of the verb that it is joined to."""
    for _ in range(_MAX_HOPS):
        subjects = {other.text.lower() for other in words if other.head == at and other.relation == "nsubj"}
        if subjects or words[at].relation != "conj" or words[at].head == at:
            return bool(subjects & _SELF)
        at = words[at].head
    return False


def is_supposing(clause: Sequence[Word]) -> bool:
    """Return whether words say that what follows may not be: "if it is open"."""
    # As a name "May" is a month or a person.
    return any(word.text.lower() in _SUPPOSITIONS and word.part != "PROPN" for word in clause)


def compares_or_derives(clause: Sequence[Word]) -> bool:
    """Return whether words compare values, or name an operation over them that is no sum and no share."""
    is_comparing = any(word.text.lower() in _COMPARING for word in clause)
    return is_comparing or bool(list_cues(clause) - {"sum", "share"})


def list_content_forms(words: Sequence[Word], left_out: Sequence[int] = ()) -> list[str]:
    """Return the base forms of the words that say something, but of those at some places."""
    stated = [word for at, word in enumerate(words) if at not in left_out and word.text[:1].isalnum()]
    return [word.form for word in stated if word.form not in STOP and not is_of(word, "carrier")]


def may_say_more(words: Sequence[Word], facts: Sequence[Fact]) -> bool:
    """Return whether words may say something that an output with these facts does not."""
    if any(is_of(word, "negation") or is_of(word, "hedge") for word in words):
        return True
    cells = [fact for fact in facts if fact.role is Role.CELL]
    # Of several things it is open which one does what: "Tom sent it to Mia".
    has_doing = any(word.part == "VERB" and not is_of(word, "carrier") for word in words)
    return (len(cells) > 1 and has_doing) or any(map(is_possible, cells))


def is_combining(word: Word) -> bool:
    """Return whether a word says what a value has to do with the next one: "20 minus the fee"."""
    return word.text.lower() in _COMBINING


def may_name(words: Sequence[Word], at: int) -> bool:
    """Return whether a word may name a field: "I charged $25" of an amount says what was done."""
    return words[at].part in _NAMING_PARTS and not is_own_doing(words, at)

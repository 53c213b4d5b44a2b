"""What an answer says was done: `The seat is booked`, `I have notified all three`.

In: an answer. Out: its `DoneClaim`s. English sentences are parsed: the tree says whether a verb is negated,
conditional or to come (`could not be refunded`, `I will refund it`, `once it is shipped`), and of whom it is
said. The parser is loaded when an answer first holds a verb of doing in a form that may be one. Of German,
French, Spanish, Italian, Chinese and Japanese a small lexicon is known; of others nothing is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from spanproof.reading.doings import Lexicon, load_lexicon
from spanproof.reading.english import ParserUnavailableError, open_english

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_MAX_ANSWER: Final = 4_000
_MAX_ANCESTORS: Final = 4
# So short an answer may have no word by which its language is known.
_MAX_FRAGMENT_WORDS: Final = 8
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
# Where a sentence ends beyond doubt: `… is done. The next …`.
_SENTENCE_ENDS = re.compile(r"(?<=[a-z\d)*_][.!?])\s+(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]+")
# What parts the clauses of a sentence, without a parser.
_PARTS = re.compile(r"[,;:，；：]|\s(?:y|e|et|und|sowie|mais|pero|aber|ma)\s")
_MARKDOWN = re.compile(r"[*_`#>|]|^\s*[-+•]\s|^\s*\d+[.)]\s", re.MULTILINE)
_ENGLISH = re.compile(
    r"\b(?:the|is|are|was|were|has|have|been|and|your|you|i|of|to|it|all|for)\b", re.IGNORECASE
)
_BY_AGENT = re.compile(r"\b(?:I|we|We)(?:['’]ve| have)?\b")
_PART_OF = re.compile(
    r"\b(?P<part>\d{1,4}|one|two|three|four|five|six|seven|eight|nine) (?:out )?of\b", re.IGNORECASE
)
_QUANTIFIERS = frozenset(str.split("all both every each everything everyone everybody"))
_NEGATIVES = frozenset(str.split("not n't n’t never no neither none nothing no-one cannot hardly without"))
_MODALS = frozenset(
    str.split("will would can could should may might must shall 'll ’ll 'd ’d wo ca going to")
)
_CONDITIONS = frozenset(str.split("if once when unless until before whether as till"))
_FAILING_VERBS = frozenset(str.split("fail unable try attempt need want plan refuse hope wait intend expect"))
_SELF = frozenset(str.split("i we it system"))
# Words by which something was done before the run.
_EARLIER = frozenset(
    str.split("already yesterday earlier previously ago before twice once originally recently")
)
_TIME_PREPOSITIONS = frozenset(("on", "in", "at", "since"))
_PLURALS = frozenset(("NNS", "NNPS"))
_SEVERAL = frozenset(str.split("they them these those both all everything everyone everybody each we us"))
_REVERSING = frozenset(str.split("back down away off aside"))
# Words of "all" but what was said before: `everything else is done`.
_LEAVING_OUT = frozenset(
    str.split("except excluding apart almost nearly only else other others rest remaining")
)
# What a doing lasts or measures: `booked for three nights` is one booking.
_MEASURES = frozenset(
    str.split(
        "second minute hour day night week month year time percent dollar euro pound cent people person"
    )
)
_SUBJECTS = frozenset(("nsubj", "nsubjpass", "csubj"))
# "Both by mail and by text" is one doing.
_JOINING = frozenset(("cc", "preconj"))
# Roles in a sentence, by the names of Universal Dependencies.
_STATE_ROLES = frozenset(("acomp", "ROOT", "advmod", "oprd"))
_STATE_OR_JOINED_ROLES = frozenset(("acomp", "advmod", "oprd", "conj"))
_INHERITING_ROLES = frozenset(("conj", "xcomp", "ccomp", "acomp", "advmod", "oprd", "dep"))
_VERB_TAGS = frozenset(("VBN", "VBD", "JJ", "RB", "NNP", "NN", "VB", "VBP"))
_NO_CLAIM_ROLES = frozenset(("amod", "relcl", "acl", "nsubj", "dobj", "pobj", "compound", "aux", "auxpass"))
# Ways to say of any doing that it was done.
_PHRASES = re.compile(
    r"\b(?:taken care of|(?:went|gone) (?:out|through)|all (?:set|sorted)|good to go)\b", re.IGNORECASE
)
# Words other than verbs that say it, by the verb that they stand for.
_OTHER_WORDS = {"complete": "complete", "successful": "complete", "successfully": "complete", "set": "set"}
_SPELLED = {
    word: at for at, word in enumerate(str.split("zero one two three four five six seven eight nine ten"))
}
# Without the parser: words before a verb that deny it or put it off.
_DENIED_IN_ENGLISH = re.compile(
    r"\b(?:not|n.t|never|no|none|nothing|no longer|if|once|when|would|will|should|could|can|may|please"
    r"|want|shall|before|unless|until|unable|fail\w*)\b|n['’]t\b|['’]ll\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DoneClaim:
    """What an answer says was done.

    Attributes:
        words: the word that says it, as the answer has it.
        verb: its verb; empty where the language's verbs are not known by themselves.
        sentence: that holds it.
        covers_all: it is said of all that there is.
        count: of how many it is said, None where no number is given.
        by_agent: the agent says that it did it itself.
        is_earlier: it may say what was so before the run: `was refunded on 3 May`, `is already closed`.
        is_plural: it is said of several things, or of no thing in particular.
    """

    words: str
    verb: str
    sentence: str
    covers_all: bool = False
    count: int | None = None
    by_agent: bool = False
    is_earlier: bool = False
    is_plural: bool = False


@lru_cache(maxsize=128)
def list_done_claims(answer: str) -> tuple[DoneClaim, ...]:
    """Return what an answer says was done, in order."""
    text = answer[:_MAX_ANSWER]
    lexicon = load_lexicon()
    if _has_form(text, lexicon) and _may_be_english(text):
        return _parse_english(text, lexicon)
    return tuple(_iter_foreign_claims(text, lexicon))


@lru_cache(maxsize=128)
def list_possible_verbs(answer: str) -> frozenset[str]:
    """Return the verbs of which an answer may say that they were done; nothing is parsed for it.

    `list_done_claims` gives claims of these verbs, of the nouns of their doings, and of no others.
    """
    text = answer[:_MAX_ANSWER]
    lexicon = load_lexicon()
    if not _may_be_english(text) or not _has_form(text, lexicon):
        return frozenset(claim.verb for claim in list_done_claims(answer))
    words = {word.lower() for word in _WORD.findall(text)}
    verbs = {lexicon.participles.get(word) or _OTHER_WORDS.get(word, "") for word in words} - {""}
    return frozenset(verbs | ({"do"} if _PHRASES.search(text) else set()))


def names_agent(answer: str) -> bool:
    """Whether an answer has the agent speak of itself: `I`, `we`."""
    return _BY_AGENT.search(answer[:_MAX_ANSWER]) is not None


def _may_be_english(text: str) -> bool:
    return len(text.split()) <= _MAX_FRAGMENT_WORDS or _ENGLISH.search(text) is not None


def _has_form(text: str, lexicon: Lexicon) -> bool:
    """Whether a text holds a word or a phrase that may say that something was done."""
    words = (word.lower() for word in _WORD.findall(text))
    return any(w in lexicon.participles or w in _OTHER_WORDS for w in words) or bool(_PHRASES.search(text))


def _parse_english(text: str, lexicon: Lexicon) -> tuple[DoneClaim, ...]:
    plain = _MARKDOWN.sub(lambda found: " " * len(found[0]), text)
    # A line is a sentence at least: a parser reads a list without points as one.
    lines = [line.strip() for text in plain.splitlines() for line in _SENTENCE_ENDS.split(text)]
    try:
        with open_english() as parser:
            documents = parser.pipe(line for line in lines if _has_form(line, lexicon))
            sentences = (sentence for document in documents for sentence in document.sents)
            stated = (sentence for sentence in sentences if not sentence.text.rstrip().endswith("?"))
            return tuple(claim for sentence in stated for claim in _iter_sentence_claims(sentence, lexicon))
    except ParserUnavailableError:
        return tuple(_iter_english_claims(plain, lexicon))


def _iter_sentence_claims(sentence: Span, lexicon: Lexicon) -> Iterator[DoneClaim]:
    phrase = _PHRASES.search(sentence.text)
    if phrase is not None and not _DENIED_IN_ENGLISH.search(sentence.text[: phrase.start()]):
        covers_all = any(word.text.lower() in _QUANTIFIERS - {"all"} for word in sentence)
        count = _find_count(sentence.root, sentence)
        head = next(token for token in sentence if token.idx >= sentence.start_char + phrase.start())
        verb = _find_general_verb("do", list(_iter_subjects(head)), lexicon)
        if verb is not None:
            yield DoneClaim(phrase[0], verb, sentence.text.strip(), covers_all, count, is_plural=True)
    for token in sentence:
        verb = _find_verb(token, sentence, lexicon)
        if verb is None:
            continue
        covers_all = any(map(_is_quantifier, sentence)) and not _has_partial_quantifier(sentence)
        by_agent = _BY_AGENT.search(sentence.text[: token.idx - sentence.start_char]) is not None
        is_short = len(sentence) <= _MAX_FRAGMENT_WORDS // 2
        yield DoneClaim(
            token.text,
            verb,
            sentence.text.strip(),
            covers_all,
            _find_count(token, sentence),
            by_agent,
            not by_agent and _is_earlier_state(token),
            is_short or _is_of_several(token, sentence),
        )


def _find_verb(token: Token, sentence: Span, lexicon: Lexicon) -> str | None:
    """Return the verb by which a word says that something was done, None where it says none."""
    word = token.text.lower()
    verb = lexicon.participles.get(word)
    if verb is None and token.dep_ in _STATE_ROLES:
        verb = _OTHER_WORDS.get(word)
    if verb is None or token.tag_ not in _VERB_TAGS or _is_reversed(token) or not _is_asserted(token):
        return None
    if verb in lexicon.general:
        return _find_general_verb(verb, _list_things_done(token, sentence), lexicon)
    return verb


def _list_things_done(token: Token, sentence: Span) -> list[Token]:
    """Return what a verb is said of: its objects, else its subjects, else what a short line has before it."""
    things = [child for child in token.children if child.dep_ == "dobj"] or list(_iter_subjects(token))
    if not things and len(sentence) <= _MAX_FRAGMENT_WORDS:
        return [other for other in sentence if other.i < token.i]  # `Registration: complete`
    return things


def _find_general_verb(verb: str, things: Sequence[Token], lexicon: Lexicon) -> str | None:
    """Return what a verb such as `done` says by what it is said of, None where that is no doing.

    `The payment is complete` pays, `your request is complete` does anything, `the report is complete` none.
    """
    names = [thing.lemma_.lower() for thing in things]
    doing = next((lexicon.nominals[name] for name in names if name in lexicon.nominals), None)
    nouns = [name for thing, name in zip(things, names, strict=True) if thing.pos_ == "NOUN"]
    if doing is None and (not nouns or lexicon.anything.intersection(nouns)):
        return verb
    return doing


def _is_quantifier(token: Token) -> bool:
    """Return whether a word says that all are meant: not the last one of "booked for 8 people each"."""
    is_last = token.i + 1 >= len(token.doc) or token.nbor().is_punct
    return token.text.lower() in _QUANTIFIERS and not (is_last and token.text.lower() == "each")


def _is_of_several(token: Token, sentence: Span) -> bool:
    """Return whether what a verb is said of is several things; without it, whether a sentence has some."""
    things = _list_things_done(token, sentence)
    if not things:
        return any(other.tag_ in _PLURALS for other in sentence)
    joined = [child for thing in things for child in thing.children if child.dep_ == "conj"]
    return bool(joined) or any(thing.tag_ in _PLURALS or thing.text.lower() in _SEVERAL for thing in things)


def _is_reversed(token: Token) -> bool:
    """Return whether a particle turns a verb into its contrary: `was turned back`, `was put off`."""
    return any(
        child.text.lower() in _REVERSING and child.dep_ in {"prt", "advmod"} and child.i > token.i
        for child in token.children
    )


def _is_earlier_state(token: Token) -> bool:
    """Whether a doing is said with its time, its doer, or as done before: `was refunded by Ana on 3 May`."""
    is_past = token.tag_ == "VBD" or any(child.text.lower() in {"was", "were"} for child in token.children)
    for child in token.children:
        word = child.text.lower()
        if word in _EARLIER or child.dep_ == "agent":
            return True
        if is_past and word in _TIME_PREPOSITIONS and any(part.like_num for part in child.subtree):
            return True
    return False


def _is_asserted(token: Token) -> bool:
    """Whether a verb is said to have happened: not denied, put off, requested, or said of somebody else."""
    is_bare = token.tag_ in {"VB", "VBP"} and token.lemma_.lower() == token.text.lower()
    if is_bare and token.dep_ != "ROOT":
        return False
    is_fragment = token.head.dep_ == "ROOT" and token.head.pos_ not in {"VERB", "AUX"}
    if token.dep_ in _NO_CLAIM_ROLES and not is_fragment:
        return False
    if _is_denied(token) or any(_is_denied(above, inherits=True) for above in _iter_governing(token)):
        return False
    if token.tag_ == "VBN" or token.pos_ == "ADJ" or token.dep_ in _STATE_OR_JOINED_ROLES:
        return True
    return not _is_done_by_another(token)


def _is_done_by_another(token: Token) -> bool:
    """Whether a verb has an object and a subject that is not the agent: `Ana sent it`, not `it was sent`."""
    roles = {child.dep_ for child in token.children}
    subjects = {subject.text.lower() for subject in _iter_subjects(token)}
    is_active = bool(roles & {"dobj", "dative"}) and not roles & {"auxpass", "nsubjpass"}
    return is_active and bool(subjects) and not subjects & _SELF


def _iter_governing(token: Token) -> Iterator[Token]:
    """Yield the words above a verb whose denial holds for it too."""
    for _ in range(_MAX_ANCESTORS - 1):
        if token.dep_ not in _INHERITING_ROLES or token.head is token:
            return
        token = token.head
        yield token


def _is_denied(token: Token, *, inherits: bool = False) -> bool:
    """Whether a word is negated, modal or conditional, by what hangs on it."""
    if any(map(_denies_head, token.children)):
        return True
    return inherits and token.lemma_.lower() in _FAILING_VERBS


def _denies_head(token: Token) -> bool:
    """Whether a word says of the verb that it hangs on that this was not, or not yet, done."""
    word = token.text.lower()
    if word in _NEGATIVES and token.dep_ != "conj":
        return True
    match token.dep_:
        case "neg":
            return True
        case "aux":
            return word in _MODALS or token.tag_ == "VBG"
        case "mark" | "advmod":
            return word in _CONDITIONS
        case "auxpass":
            return word == "being"  # `is being refunded`
        case "dobj" | "attr":
            return any(child.text.lower() == "no" for child in token.children)
    return token.dep_ in _SUBJECTS and _is_negative_phrase(token)


def _is_negative_phrase(token: Token) -> bool:
    """Whether a phrase says that it is about none: `no refund`, `none of them`, `not all orders`."""
    words = {token.text.lower(), *(child.text.lower() for child in token.children)}
    return bool(words & _NEGATIVES)


def _iter_subjects(token: Token) -> Iterator[Token]:
    node = token
    for _ in range(_MAX_ANCESTORS):
        own = [child for child in node.children if child.dep_ in _SUBJECTS]
        if own or node.dep_ not in {"conj", "xcomp", "acomp", "advmod"}:
            yield from own
            return
        node = node.head


def _has_partial_quantifier(sentence: Span) -> bool:
    """Whether a quantifier is limited: `all but one`, `all except A-3`, `almost all`."""
    words = {token.text.lower() for token in sentence}
    return bool(words & _LEAVING_OUT) or "all but" in sentence.text


def _find_count(token: Token, sentence: Span) -> int | None:
    """Return the number of things that a verb is said of, None where there is none."""
    if any(other.text.lower() == "both" and other.dep_ not in _JOINING for other in sentence):
        return 2
    part = _PART_OF.search(sentence.text)
    if part is not None:
        return _find_spelled_count(part["part"])
    for other in sentence:
        head = other.head
        counts_things = head.tag_ in _PLURALS and head.lemma_.lower() not in _MEASURES
        is_modifier = other.dep_ == "nummod" and head.dep_ not in {"pobj", "npadvmod"}
        is_subject = other.pos_ == "NUM" and other.dep_ in _SUBJECTS | {"dobj"}
        if (is_modifier and counts_things) or (is_subject and head is token):
            number = _find_spelled_count(other.text)
            if number is not None:
                return number
    return None


def _find_spelled_count(word: str) -> int | None:
    if word.isdecimal() and len(word) <= 4:
        return int(word)
    return _SPELLED.get(word.lower())


def _iter_english_claims(text: str, lexicon: Lexicon) -> Iterator[DoneClaim]:
    """Yield claims by the words around a verb, where the parser is not installed."""
    for sentence in _SENTENCE.findall(text):
        for found in _WORD.finditer(sentence):
            verb = lexicon.participles.get(found[0].lower())
            denied = _DENIED_IN_ENGLISH.search(sentence[: found.start()])
            if verb is not None and not denied and not sentence.rstrip().endswith("?"):
                covers_all = any(word in _QUANTIFIERS for word in sentence.lower().split())
                yield DoneClaim(found[0], verb, sentence.strip(), covers_all, is_plural=True)


def _iter_foreign_claims(text: str, lexicon: Lexicon) -> Iterator[DoneClaim]:
    for sentence in _SENTENCE.findall(text):
        if sentence.rstrip().endswith(("?", "？")) or "¿" in sentence:
            continue
        for forms in lexicon.languages.values():
            claims = list(forms.done.finditer(sentence))
            for found in claims:
                is_whole = found[0].isascii() or _WORD.match(found[0])
                around = sentence if is_whole else sentence[: found.start()]
                if forms.denied.search(_without_match(around, found)) is None:
                    yield DoneClaim(
                        found[0],
                        forms.get_verb(found[0]),
                        sentence.strip(),
                        forms.all.search(sentence) is not None,
                        is_earlier=forms.earlier.search(_get_clause(sentence, found)) is not None,
                        is_plural=True,
                    )
            if claims:
                break


def _get_clause(sentence: str, found: re.Match[str]) -> str:
    """Return the clause of a sentence that holds what was found."""
    parts = list(_PARTS.finditer(sentence))
    start = max((part.end() for part in parts if part.end() <= found.start()), default=0)
    end = min((part.start() for part in parts if part.start() >= found.end()), default=len(sentence))
    return sentence[start:end]


def _without_match(text: str, found: re.Match[str]) -> str:
    """Return a text without the words that were found."""
    return text.replace(found[0], " ", 1)

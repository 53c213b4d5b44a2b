"""What an answer says was done: `The seat is booked`, `I have notified all three`.

In: an answer. Out: its `DoneClaim`s. English sentences are parsed: the tree says whether a verb is negated,
conditional or to come (`could not be refunded`, `I will refund it`, `once it is shipped`), and of whom it is
said. The parser is loaded when an answer first holds a verb of doing in a form that may be one. Of German,
French, Spanish, Italian, Chinese and Japanese a small lexicon is known; of others nothing is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from spanproof.reading.doings import Lexicon, load_lexicon
from spanproof.reading.english import ParserUnavailableError, load_english

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_MAX_ANSWER: Final = 4_000
_MAX_ANCESTORS: Final = 4
# So short an answer may have no word by which its language is known.
_MAX_FRAGMENT_WORDS: Final = 8
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_WORD = re.compile(r"[^\W\d_]+")
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
_PLURALS = frozenset(("NNS", "NNPS"))
_SUBJECTS = frozenset(("nsubj", "nsubjpass", "csubj"))
_NO_CLAIM_ROLES = frozenset(("amod", "relcl", "acl", "nsubj", "dobj", "pobj", "compound"))
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
        is_plural: it is said of several things, or of no thing in particular.
    """

    words: str
    verb: str
    sentence: str
    covers_all: bool = False
    count: int | None = None
    by_agent: bool = False
    is_plural: bool = False


@lru_cache(maxsize=128)
def list_done_claims(answer: str) -> tuple[DoneClaim, ...]:
    """Return what an answer says was done, in order."""
    text = answer[:_MAX_ANSWER]
    lexicon = load_lexicon()
    forms = {word.lower() for word in _WORD.findall(text)}
    has_candidate = any(form in lexicon.participles or form in _OTHER_WORDS for form in forms)
    has_candidate = has_candidate or _PHRASES.search(text) is not None
    is_short = len(text.split()) <= _MAX_FRAGMENT_WORDS
    if has_candidate and (is_short or _ENGLISH.search(text)):
        return tuple(_parse_english(text, lexicon))
    return tuple(_match_other_languages(text, lexicon))


def _parse_english(text: str, lexicon: Lexicon) -> Iterator[DoneClaim]:
    plain = _MARKDOWN.sub(lambda found: " " * len(found[0]), text)
    try:
        parser = load_english()
    except ParserUnavailableError:
        yield from _match_english(plain, lexicon)
        return
    # A line is a sentence at least: a parser reads a list without points as one.
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    for document in parser.pipe(lines):
        for sentence in document.sents:
            if not sentence.text.rstrip().endswith("?"):
                yield from _iter_sentence_claims(sentence, lexicon)


def _iter_sentence_claims(sentence: Span, lexicon: Lexicon) -> Iterator[DoneClaim]:
    phrase = _PHRASES.search(sentence.text)
    if phrase is not None and not _DENIED_IN_ENGLISH.search(sentence.text[: phrase.start()]):
        covers_all = any(word.text.lower() in _QUANTIFIERS - {"all"} for word in sentence)
        count = _find_count(sentence.root, sentence)
        yield DoneClaim(phrase[0], "do", sentence.text.strip(), covers_all, count, is_plural=True)
    for token in sentence:
        word = token.text.lower()
        verb = lexicon.participles.get(word)
        if verb is None and word in _OTHER_WORDS and token.dep_ in {"acomp", "ROOT", "advmod", "oprd"}:
            verb = _OTHER_WORDS[word]
        is_form = token.tag_ in {"VBN", "VBD", "JJ", "RB", "NNP", "NN", "VB", "VBP"}
        if verb is None or not is_form or not _is_asserted(token):
            continue
        yield DoneClaim(
            token.text,
            verb,
            sentence.text.strip(),
            any(other.text.lower() in _QUANTIFIERS for other in sentence)
            and not _has_partial_quantifier(sentence),
            _find_count(token, sentence),
            _BY_AGENT.search(sentence.text[: token.idx - sentence.start_char]) is not None,
            len(sentence) <= _MAX_FRAGMENT_WORDS // 2 or any(other.tag_ in _PLURALS for other in sentence),
        )


def _is_asserted(token: Token) -> bool:
    """Whether a verb is said to have happened: not denied, put off, requested, or said of somebody else."""
    if token.tag_ in {"VB", "VBP"} and token.lemma_.lower() == token.text.lower() and token.dep_ != "ROOT":
        return False
    is_fragment = token.head.dep_ == "ROOT" and token.head.pos_ not in {"VERB", "AUX"}
    if token.dep_ in _NO_CLAIM_ROLES and not is_fragment:
        return False
    node, steps = token, 0
    while steps < _MAX_ANCESTORS:
        if _is_denied(node, inherits=node is not token):
            return False
        if node.dep_ not in {"conj", "xcomp", "ccomp", "acomp", "advmod", "oprd", "dep"} or node.head is node:
            break
        node, steps = node.head, steps + 1
    subjects = list(_iter_subjects(token))
    is_passive = (
        any(child.dep_ in {"auxpass", "nsubjpass"} for child in token.children) or token.pos_ == "ADJ"
    )
    has_object = any(child.dep_ in {"dobj", "dative"} for child in token.children)
    acts_itself = not has_object or any(subject.text.lower() in _SELF for subject in subjects)
    return (
        not subjects
        or is_passive
        or acts_itself
        or token.tag_ == "VBN"
        or token.dep_ in {"acomp", "advmod", "oprd", "conj"}
    )


def _is_denied(token: Token, *, inherits: bool) -> bool:
    """Whether a word is negated, modal or conditional, by what hangs on it."""
    for child in token.children:
        word = child.text.lower()
        if child.dep_ == "neg" or (word in _NEGATIVES and child.dep_ != "conj"):
            return True
        if child.dep_ == "aux" and word in _MODALS:
            return True
        if child.dep_ in {"mark", "advmod"} and word in _CONDITIONS:
            return True
        if child.dep_ == "aux" and child.tag_ == "VBG":
            return True
        # `is being refunded`
        if child.dep_ == "auxpass" and word == "being":
            return True
        if child.dep_ in _SUBJECTS and _is_negative_phrase(child):
            return True
        if child.dep_ in {"dobj", "attr"} and any(each.text.lower() == "no" for each in child.children):
            return True
    return inherits and token.lemma_.lower() in _FAILING_VERBS


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
    return (
        bool(words & {"except", "excluding", "apart", "almost", "nearly", "only"})
        or "all but" in sentence.text
    )


def _find_count(token: Token, sentence: Span) -> int | None:
    """Return the number of things that a verb is said of, None where none is given."""
    if "both" in (other.text.lower() for other in sentence):
        return 2
    part = _PART_OF.search(sentence.text)
    if part is not None:
        return _parse_count(part["part"])
    for other in sentence:
        is_noun = other.head.pos_ == "NOUN" and other.head.tag_ in {"NNS", "NNPS"}
        is_subject = other.dep_ in _SUBJECTS | {"dobj"}
        if (other.dep_ == "nummod" and is_noun) or (
            other.pos_ == "NUM" and is_subject and other.head is token
        ):
            number = _parse_count(other.text)
            if number is not None:
                return number
    return None


def _parse_count(word: str) -> int | None:
    return int(word) if word.isdecimal() and len(word) <= 4 else _SPELLED.get(word.lower())


def _match_english(text: str, lexicon: Lexicon) -> Iterator[DoneClaim]:
    """Yield claims by the words around a verb, where the parser is not installed."""
    for sentence in _SENTENCE.findall(text):
        for found in _WORD.finditer(sentence):
            verb = lexicon.participles.get(found[0].lower())
            denied = _DENIED_IN_ENGLISH.search(sentence[: found.start()])
            if verb is not None and not denied and not sentence.rstrip().endswith("?"):
                covers_all = any(word in _QUANTIFIERS for word in sentence.lower().split())
                yield DoneClaim(found[0], verb, sentence.strip(), covers_all, is_plural=True)


def _match_other_languages(text: str, lexicon: Lexicon) -> Iterator[DoneClaim]:
    for sentence in _SENTENCE.findall(text):
        if sentence.rstrip().endswith(("?", "？")) or "¿" in sentence:
            continue
        for forms in lexicon.languages.values():
            found = forms.done.search(sentence)
            if found is None:
                continue
            around = sentence if found[0].isascii() or _WORD.match(found[0]) else sentence[: found.start()]
            if forms.denied.search(_blank(around, found)) is None:
                covers_all = forms.all.search(sentence) is not None
                yield DoneClaim(found[0], "", sentence.strip(), covers_all, is_plural=True)
            break


def _blank(text: str, found: re.Match[str]) -> str:
    """Return a text without the words that were found."""
    return text.replace(found[0], " ", 1)

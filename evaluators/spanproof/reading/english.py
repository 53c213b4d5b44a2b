"""The parser of English sentences: spaCy with its small English model, loaded when an answer first needs it.

`english_model` holds the files of en_core_web_sm 3.8.0 as published (MIT), without the components that find
sentences and names; `SHA256SUMS` has their checksums.
"""

from __future__ import annotations

import gc
import hashlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from spanproof.reading.word_vectors import WordVectors

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

MODEL: Final = Path(__file__).parent / "english_model"
_LEFT_OUT: Final = ("ner", "senter")
_WORD_VECTORS: Final = "tok2vec"
# Components with a network that read the vectors of words, in their order; the others work word by word.
_NETWORKS: Final = ("tagger", "parser")
# Sentences that a network takes at once.
_BATCH: Final = 64
# Words that begin a rule of two words: "ai n't", "gon na", "got ta", "let 's", "c'm on", "y' all".
_BEGINNING: Final = frozenset(("ai", "gon", "got", "let", "c'm", "y", "y'"))
_EXPLETIVE: Final = "expl"
_LOADING: Final = threading.RLock()
# The words of the texts at hand are kept by the vocabulary, which is one for all threads.
_READING: Final = threading.Lock()


class ParserUnavailableError(RuntimeError):
    """The parser cannot be loaded; the message says why and what to do."""


@contextmanager
def open_english() -> Iterator[Language]:
    """Give the parser of English, loaded once per process, to one thread at a time.

    What it reads in the context must not be used after it: then the words of these texts are forgotten. A
    vocabulary that keeps each number and name of each answer grows for as long as the process lives.

    Raises:
        ParserUnavailableError: spaCy is not installed, or a file of the model is not as it was published.
    """
    parser = _load_english()
    with _READING, parser.memory_zone():
        yield parser


def _load_english() -> Language:
    # Words of one parser do not fit the vocabulary of another: of two threads one waits.
    with _LOADING:
        return _load_parser()


@cache
def _load_parser() -> Language:
    try:
        import spacy
    except ImportError as missing:
        raise ParserUnavailableError("spaCy is not installed: pip install 'spanproof[language]'") from missing
    for line in (MODEL / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        if hashlib.sha256((MODEL / name).read_bytes()).hexdigest() != digest:
            raise ParserUnavailableError(
                f"{MODEL / name} is not the file that was published: install Spanproof again"
            )
    parser = spacy.load(MODEL, exclude=_LEFT_OUT)
    # The model stays as long as the process. A trace of 13 spans takes 43 ms to evaluate where the collector
    # of garbage looks at all of the model again and again, and 35 ms where it does not.
    gc.collect()
    gc.freeze()
    return parser


@contextmanager
def parse_english(texts: Sequence[str]) -> Iterator[list[Doc]]:
    """Give the grammar of some texts, to be used in the context alone; see `open_english`."""
    rules, vectors = _load_tag_rules(), _load_word_vectors()
    with open_english() as parser:
        yield _parse_texts(parser, rules, vectors, texts)


def _parse_texts(parser: Language, rules: _TagRules, vectors: WordVectors, texts: Sequence[str]) -> list[Doc]:
    embedding: Any = parser.get_pipe(_WORD_VECTORS)
    networks: list[Any] = [parser.get_pipe(name) for name in _NETWORKS]
    lemmatizer: Any = parser.get_pipe("lemmatizer")
    docs = [parser.make_doc(text) for text in texts]
    for first in range(0, len(docs), _BATCH):
        batch = docs[first : first + _BATCH]
        # `Language.pipe` copies each batch for each component: of a short answer that is a third of its time.
        embedding.set_annotations(batch, vectors.compute(batch))
        for network in networks:
            network.set_annotations(batch, network.predict(batch))
    for doc in docs:
        rules.add_tags(doc)
        lemmatizer(doc)
    return docs


class _TagRules:
    """The model's rules from tags to parts of speech, each applied once to a kind of word.

    The rules look at a word's tag and relation, and at the word itself where one names it. Matching all of
    them takes 1.4 of the 6.5 ms that an answer takes to parse, looking up what they gave 0.1 ms.
    """

    def __init__(self, parser: Language) -> None:
        ruler: Any = parser.get_pipe("attribute_ruler")
        self._ruler = ruler
        self._named = frozenset(_iter_named_words(ruler.patterns))
        self._known: dict[tuple[object, ...], tuple[int, Any, int, int, int]] = {}

    def add_tags(self, doc: Doc) -> None:
        """Set the parts of speech of a text, and the lemmas that rules give."""
        keys = [self._build_key(token) for token in doc]
        is_of_pairs = any(token.lower_ in _BEGINNING or token.dep_ == _EXPLETIVE for token in doc)
        if is_of_pairs or not all(key in self._known for key in keys):
            self._ruler(doc)
            if not is_of_pairs:
                for key, token in zip(keys, doc, strict=True):
                    self._known[key] = (token.pos, token.morph, token.lemma, token.tag, token.dep)
            return
        words: Any = doc
        for key, word in zip(keys, words, strict=True):
            word.pos, morph, word.lemma, word.tag, word.dep = self._known[key]
            word.set_morph(morph)

    def _build_key(self, token: Token) -> tuple[object, ...]:
        lowered = token.lower_
        return lowered if lowered in self._named else "", token.tag, token.dep, token.is_space


def _iter_named_words(patterns: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the words that rules name; those of a regular expression are in no text of an agent."""
    for rule in patterns:
        for pattern in rule["patterns"]:
            for token in pattern:
                named = token.get("LOWER", "")
                yield from [named] if isinstance(named, str) else named.get("IN", ())


@cache
def _build_tag_rules() -> _TagRules:
    return _TagRules(_load_parser())


def _load_tag_rules() -> _TagRules:
    with _LOADING:
        return _build_tag_rules()


@cache
def _build_word_vectors() -> WordVectors:
    embedding: Any = _load_parser().get_pipe(_WORD_VECTORS)
    return WordVectors(embedding.model)


def _load_word_vectors() -> WordVectors:
    with _LOADING:
        return _build_word_vectors()

"""The parser of English comes with Spanproof, is as it was published, and says what is missing."""

from __future__ import annotations

import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from spacy.tokens import Doc

from spanproof.reading import english
from spanproof.reading.english import ParserUnavailableError, open_english, parse_english
from spanproof.reading.word_vectors import WordVectors


def test_a_sentence_has_its_subject_and_its_verb() -> None:
    with open_english() as parser:
        parsed = parser("The payment for order 4711 was refused.")
        (root,) = (token for token in parsed if token.dep_ == "ROOT")
        (subject,) = (token for token in parsed if token.dep_ == "nsubjpass")
        assert (root.lemma_, subject.text) == ("refuse", "payment")


def test_the_parser_is_loaded_once() -> None:
    with open_english() as first:
        pass
    with open_english() as second:
        assert first is second


def test_the_words_of_answers_are_forgotten() -> None:
    with open_english() as parser:
        kept = len(parser.vocab.strings)
    for number in range(1000, 1100):
        with parse_english([f"Order X{number}Y of Ulf{number} was refused, at {number}.{number} cents."]):
            assert len(parser.vocab.strings) > kept
    assert len(parser.vocab.strings) == kept


def test_a_reader_that_fails_leaves_the_parser_to_the_next() -> None:
    with pytest.raises(KeyError), parse_english(["Order 4711 was refused."]):
        raise KeyError
    with parse_english(["Order 4711 was refused."]) as (doc,):
        assert [token.lemma_ for token in doc] == ["order", "4711", "be", "refuse", "."]


def test_threads_that_need_the_parser_at_once_share_one() -> None:
    english._load_parser.cache_clear()
    english._build_tag_rules.cache_clear()
    english._build_word_vectors.cache_clear()
    start = threading.Barrier(3)

    def parse(number: int) -> list[str]:
        start.wait()
        with parse_english([f"Order {number} was refused."] * 5) as docs:
            return [token.lemma_ for doc in docs for token in doc]

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(parse, (1, 2, 3)))
    assert [len(lemmas) for lemmas in found] == [25, 25, 25]


def test_a_model_that_is_not_the_published_one_is_refused(tmp_path, monkeypatch) -> None:
    changed = tmp_path / "english_model"
    shutil.copytree(english.MODEL, changed)
    (changed / "parser" / "moves").write_bytes(b"other moves")
    monkeypatch.setattr(english, "MODEL", changed)
    with pytest.raises(ParserUnavailableError, match=r"parser/moves is not the file that was published"):
        english._load_parser.__wrapped__()


def test_without_spacy_the_extra_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ParserUnavailableError, match=r"pip install 'spanproof\[language\]'"):
        english._load_parser.__wrapped__()


def test_looking_rules_up_gives_the_same_grammar_as_matching_them():
    texts = [
        "There are two orders that haven't shipped, and the refund isn't done.",
        "I've got to cancel it; let's see whether the other one was booked.",
        "Nothing was found, but everyone who had asked did get an answer.",
    ]

    def describe(doc: Doc) -> list[tuple[str, ...]]:
        return [(word.pos_, word.tag_, word.lemma_, word.dep_, str(word.morph)) for word in doc]

    with open_english() as parser:
        matched = [describe(parser(text)) for text in texts]
    for _ in range(2):
        with parse_english(texts) as docs:
            assert [describe(doc) for doc in docs] == matched


def test_the_vectors_of_words_are_those_of_the_models_network():
    parser = english._load_english()
    network = parser.get_pipe("tok2vec")
    vectors = WordVectors(network.model)
    long = "The order of the second customer was not shipped before the refund, she says. " * 6
    batches = [["Order 4711 was refused."], ["Order 4711 was paid.", "", " \n ", "No."], [long]]
    for texts in batches:
        docs = [parser.make_doc(text) for text in texts]
        for own, published in zip(vectors.compute(docs), network.predict(docs), strict=True):
            assert own.shape == published.shape
            assert own == pytest.approx(published, abs=1e-4)

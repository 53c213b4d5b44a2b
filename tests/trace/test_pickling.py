from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

import pytest

from spanproof.trace import Cohort, Errored, Label, Payload, Scored, Skipped, Span, SpanKind
from spanproof.trace.pickling import encode_pickle


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class One:
    only: str


@dataclass
class Open:
    name: str
    others: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Below(One):
    more: int = 0


SPAN = Span(
    "t", "s", None, "n", SpanKind.LLM, 1, 2, input=Payload("x", {"a": [1, None]}), attributes={"k": b"v"}
)


@pytest.mark.parametrize(
    "value",
    [
        SPAN,
        (SPAN, SPAN),
        Scored(0.5, Label.FAIL, "x"),
        Skipped("y"),
        Errored("z", "w"),
        Cohort(agent="a"),
        One("x"),
        Open("x", [1]),
        Below("x", 3),
        {Colour.RED: One("\ud800")},
    ],
)
def test_a_value_comes_back_equal_and_of_its_class(value):
    read = pickle.loads(encode_pickle(value))
    assert read == value
    assert type(read) is type(value)


def test_what_was_one_object_is_one_object_again():
    first, second = pickle.loads(encode_pickle((SPAN, SPAN)))
    assert first is second


def test_what_cannot_be_pickled_is_an_error():
    with pytest.raises(TypeError):
        encode_pickle(MappingProxyType({}))

"""Public names that look random are no secrets; random values are, whatever marks they have."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable

import pytest
from tests.bench.public_names import COUNT, count_flagged

from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.public_names import is_public_name

_Make = Callable[[random.Random], str]
_CAPITALS = string.ascii_uppercase + string.digits
_SMALL = string.ascii_lowercase + string.digits


def _choose(chance: random.Random, alphabet: str, size: int) -> str:
    return "".join(chance.choice(alphabet) for _ in range(size))


RANDOM: dict[str, _Make] = {
    "base64": lambda chance: base64.b64encode(chance.randbytes(32)).decode(),
    "base64 of URLs": lambda chance: base64.urlsafe_b64encode(chance.randbytes(24)).decode(),
    "letters and digits": lambda chance: _choose(chance, string.ascii_letters + string.digits, 32),
    "groups of capitals": lambda chance: "-".join(_choose(chance, _CAPITALS, 5) for _ in range(5)),
    "groups of small letters": lambda chance: "-".join(_choose(chance, _SMALL, 4) for _ in range(6)),
    "parts behind points": lambda chance: ".".join(
        _choose(chance, string.ascii_letters + string.digits, 24) for _ in "ab"
    ),
}


def test_one_public_name_in_a_thousand_is_flagged_at_most() -> None:
    flagged, lines = count_flagged()
    assert flagged.total() <= COUNT // 1000, lines


@pytest.mark.parametrize("make", RANDOM.values(), ids=RANDOM)
def test_a_random_value_is_no_public_name(make: _Make) -> None:
    chance = random.Random(7)
    assert sum(is_public_name(make(chance)) for _ in range(500)) <= 5


@pytest.mark.parametrize("make", RANDOM.values(), ids=RANDOM)
def test_a_random_value_under_the_name_of_a_secret_is_found(make: _Make) -> None:
    chance = random.Random(7)
    values = [make(chance) for _ in range(100)]
    source = "\n".join(f"api_key_{index} = '{value}'" for index, value in enumerate(values))
    findings = Pipeline().scan("text", source).findings
    found = {one.line for one in findings if one.verdict is not Verdict.ALLOW}
    assert len(found) >= 95


@pytest.mark.parametrize(
    "value",
    ["dXNlcjpodW50ZXIyMnBhc3M=", "eyJwYXNzd29yZCI6ICJodW50ZXIyMiIsICJ1IjogImJvYiJ9"],
    ids=["user and password", "document with a password"],
)
def test_a_secret_in_base64_is_no_public_name(value: str) -> None:
    assert not is_public_name(value)

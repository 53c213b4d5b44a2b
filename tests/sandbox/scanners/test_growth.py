"""No construct holds the gate: a scan of any text of a size takes bounded time, or is reviewed for that."""

from __future__ import annotations

import random
from functools import cache

import pytest

from spanproof.sandbox.policy import Aggregation, Policy
from spanproof.sandbox.scanners.context import clock
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.source import LONG

pytestmark = pytest.mark.load

_PIPELINE = Pipeline()


@cache
def _unit() -> float:
    """Processor time of a fixed piece of work, the least of three: some 0.03 s on a machine of 2023.

    Bounds are multiples of it, so that they hold on slow and busy machines too.
    """

    def work() -> float:
        started = clock()
        counts: dict[int, int] = {}
        for number in range(150_000):
            counts[number % 97] = counts.get(number % 97, 0) + len(str(number))
        return clock() - started

    return min(work() for _ in range(3))


def _bound(units: int) -> float:
    return max(units * _unit(), 1.0)


_UNITS = {
    "bash": [
        "'", '"', "`", "$(", "${", "case a in ", "case a in a) b ;; ", "case a in (", "<<E\n", "a=(", "a | ",
        "((", "[[ ", "{ ", "if ", "for a in ", "$((", "a[", "{a,", "a && ", "\"$(", "\"`", "$'", "<(", "\\",
    ],
    "javascript": [
        "(", "{", "[", "'", "`${", "=>", "(a)=>", "a?b:", "<a>", "/a", "/*", "class A{", "async ",
        "new ",
    ],
    "typescript": ["<a>", "a<b>(", "(a:", "type A<", "a as ", "{", "?.", "abstract "],
    "python": [
        "(", "[", "{", "lambda:", "f'{", "not ", "a if ", "x=", "a.", "'", '"""', "async ", "a:=",
        "*", "@a\n",
    ],
    "sql": [
        "(", "SELECT ", "CASE WHEN ", "JOIN a ", "a.", "'", "/*", "WITH a AS (", "NOT ", "INTERVAL ",
        "[", "{",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "unit"), [(name, unit) for name, units in _UNITS.items() for unit in units]
)
def test_a_repeated_construct_takes_bounded_time(language: str, unit: str) -> None:
    # The longest that is read in this process.
    text = unit * (LONG // len(unit))
    started = clock()

    scan = _PIPELINE.scan(language, text)

    assert clock() - started < _bound(150), f"{unit!r} holds the {language} scanner"
    assert not [one.message for one in scan.findings if one.rule == "scanner_error"]


@pytest.mark.parametrize("line", ["sed '{}' a", "sed 's/{}/' a", "awk '{}' a", "awk '{{ print \"{}\" }}' a"])
@pytest.mark.parametrize(
    "unit",
    ["[", "/", "s/a", "\\", "{", "(", "|", '"', "getline ", "getline < ", "print ", "a>", "w ", "r", ","],
)
def test_a_program_text_takes_bounded_time(line: str, unit: str) -> None:
    text = line.format(unit * ((LONG - 40) // len(unit)))
    started = clock()

    scan = _PIPELINE.scan("bash", text)

    assert clock() - started < _bound(150), f"{unit!r} holds the scanner in {line!r}"
    assert not [one.message for one in scan.findings if one.rule == "scanner_error"]


@pytest.mark.parametrize(
    "unit", ["pw ", "identified by ", "docker login ", "http ", "sshpass -p", "-----BEGIN "]
)
def test_words_before_a_secret_take_bounded_time(unit: str) -> None:
    started = clock()

    scan = _PIPELINE.scan("text", unit * (200_000 // len(unit)))

    assert clock() - started < _bound(150), f"{unit!r} holds the scanner of secrets"
    assert not [one.message for one in scan.findings if one.rule == "scanner_error"]


@pytest.mark.parametrize("joins", [8, 20, 200])
@pytest.mark.parametrize("language", ["sql", "python"])
def test_joins_without_a_condition_are_reviewed_or_judged_in_time(language: str, joins: int) -> None:
    statement = (
        "SELECT * FROM customers c " + "JOIN orders c " * joins + "WHERE pg_read_file('/etc/passwd') = 1"
    )
    started = clock()

    source = statement if language == "sql" else f"cursor.execute({statement!r})"
    scan = _PIPELINE.scan(language, source)

    assert clock() - started < _bound(60)
    assert scan.verdict is not Verdict.ALLOW


def test_a_long_script_that_the_grammar_cannot_parse_in_time_is_reviewed_for_that() -> None:
    scan = _PIPELINE.scan("bash", "cat /etc/shadow\n" + "a=(" * 60_000)

    assert [one.rule for one in scan.findings] == ["too-complex"]
    assert scan.verdict is Verdict.REVIEW


def test_a_secret_in_what_cannot_be_judged_in_time_is_denied_all_the_same() -> None:
    secret = "gh" + "p_" + "a8Xk29dLqPz0Wm3v7TnB5cR1yE4uHs6gJf2Q"
    scan = Pipeline(Policy(scanner_time_s=1)).scan("bash", f"x={secret}\n" + "a=(" * 60_000)

    assert {"too-complex", "secret.github-token"} <= {one.rule for one in scan.findings}
    assert scan.verdict is Verdict.DENY


@pytest.mark.parametrize("how", list(Aggregation))
def test_what_cannot_be_judged_in_time_is_reviewed_under_every_rule(how: Aggregation) -> None:
    pipeline = Pipeline(Policy(scanner_time_s=1, aggregation=how))

    assert pipeline.scan("bash", "a=(" * 60_000).verdict is Verdict.REVIEW


def test_a_long_text_inside_a_short_one_is_reviewed() -> None:
    scan = _PIPELINE.scan("python", "import os\nos.system('a=(' * 60_000)")

    assert scan.verdict is Verdict.REVIEW


def test_a_long_plain_script_is_read_to_its_end() -> None:
    scan = _PIPELINE.scan("bash", "sort a.csv > b.csv\n" * 3_000 + "cat /etc/shadow")

    assert scan.verdict is Verdict.DENY


_SEEDS = {
    "python": "import os\nfor name in ['a', 'b']:\n    with open(f'{name}.csv') as file:\n"
    "        print(file.read())\n",
    "bash": 'for f in a b; do case $f in a) cat "$f" | sort > out ;; *) echo $(( 1 + 2 )) ;; esac; done\n',
    "javascript": "const fs = require('fs'); for (const f of ['a', `b${1}`]) { fs.stat(f, (e) => e ?? 1) }\n",
    "sql": "WITH t AS (SELECT a, COUNT(*) FROM x JOIN y ON x.a = y.a GROUP BY 1) SELECT * FROM t"
    " WHERE a IN (1, 'b');\n",
}


@pytest.mark.parametrize("language", _SEEDS)
def test_mutated_snippets_neither_crash_nor_hang(language: str) -> None:
    chance = random.Random(7)
    for _ in range(150):
        text = list(_SEEDS[language] * chance.randint(1, 3))
        for _ in range(chance.randint(1, 12)):
            at = chance.randrange(len(text))
            text[at : at + chance.randint(0, 4)] = chance.choices(
                "'\"`(){}[]$;|&<>\\\n #aé*", k=chance.randint(0, 3)
            )
        started = clock()
        scan = _PIPELINE.scan(language, "".join(text))
        assert clock() - started < _bound(60), "".join(text)
        assert "scanner_error" not in {one.rule for one in scan.findings}, "".join(text)

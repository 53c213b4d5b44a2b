"""Replays with fixtures, in other languages, and under other seeds, in the real sandbox."""

from __future__ import annotations

import pytest

from spanproof.evaluators.replay import FixtureSet, replay_run
from spanproof.sandbox import Database, DatabaseEngine, Exchange, FailureClass
from spanproof.sandbox.scanners.model import Scan, Verdict
from spanproof.trace import Language, Payload

SHOP = b"CREATE TABLE prices (item TEXT, cents INT); INSERT INTO prices VALUES ('hat', 4500), ('cap', 900);"


@pytest.fixture
def replayed(build, jail):
    def replay(*snippets, fixtures=None, parameters=None, repeat=False, **fields):
        run = build.run(snippets, **fields)
        scans = {snippet.id: Scan(Verdict.ALLOW, ()) for snippet in snippets}
        return replay_run(run, scans, jail, fixtures or FixtureSet(), parameters, repeat=repeat)

    return replay


@pytest.fixture(params=["sqlite", "duckdb"])
def shop(request):
    database = Database(DatabaseEngine(request.param), "shop.sql", writable=True)
    return FixtureSet(files={"shop.sql": SHOP}, database=database)


def endings(replay):
    return [(step.execution.failure_class, step.agrees) for step in replay.steps]


def sql(build, source, given, **fields):
    shown = Payload(given, given) if isinstance(given, str) else None
    return build.snippet(source, language=Language.SQL, output=shown, **fields)


@pytest.mark.parametrize(
    ("given", "agrees"),
    [
        ("[('cap', 900), ('hat', 4500)]", True),
        ('[{"item": "hat", "cents": 4500.0}, {"item": "cap", "cents": 900}]', True),
        ('{"columns": ["item", "cents"], "rows": [["hat", 4500], ["cap", 900]]}', True),
        ("| item | cents |\n|---|---|\n| hat | 4500 |\n| cap | 900 |", True),
        ("[('hat', 5400), ('cap', 900)]", False),
        ("[('hat', 4500)]", False),
        ("two rows were found", None),
    ],
)
def test_rows_of_a_query_are_compared_in_the_forms_tools_give_them(build, replayed, shop, given, agrees):
    replay = replayed(sql(build, "SELECT item, cents FROM prices", given), fixtures=shop)
    assert endings(replay) == [(FailureClass.OK, agrees)], replay.steps[0].difference


def test_an_order_that_was_requested_counts(build, replayed, shop):
    wrong = sql(build, "SELECT item FROM prices ORDER BY cents", "[('hat',), ('cap',)]")
    (step,) = replayed(wrong, fixtures=shop).steps
    assert (step.agrees, step.difference) == (False, "row 1 recorded 'hat', replayed 'cap'")


def test_what_a_statement_changed_is_there_for_the_next(build, replayed, shop):
    replay = replayed(
        sql(build, "SELECT count(*) FROM prices", "[(2,)]"),
        sql(build, "INSERT INTO prices VALUES ('bag', 100);", "ok"),
        sql(build, "UPDATE prices SET cents = cents + 1 -- all\n", "ok"),
        sql(build, "SELECT sum(cents), count(*) FROM prices", "[(5503, 3)]"),
        fixtures=shop,
    )
    assert [step.execution.failure_class for step in replay.steps] == [FailureClass.OK] * 4
    assert (replay.steps[0].agrees, replay.steps[3].agrees) == (True, True), replay.steps[3].difference
    assert replay.steps[3].execution.stdout == "5503|3\n"
    assert replay.steps[1].execution.result is None or shop.database.engine is DatabaseEngine.DUCKDB


def test_a_statement_that_fails_on_one_side_only_proves_nothing(build, replayed, shop):
    missing = sql(build, "SELECT * FROM orders", "[(1,)]")
    failed = sql(build, "SELECT 1", None, error=build.error("OperationalError"))
    both = sql(build, "SELECT * FROM nowhere", None, error=build.error("OperationalError"))
    steps = replayed(missing, failed, both, fixtures=shop).steps
    assert [step.agrees for step in steps][:2] == [None, None]
    assert "the fixture database need not be the one of the run" in steps[0].difference
    assert steps[2].agrees in (True, None)


def test_sql_without_a_database_is_left_out_with_the_way_to_give_one(build, replayed):
    snippet = sql(build, "SELECT 1", "[(1,)]")
    replay = replayed(snippet)
    assert replay.steps == ()
    assert "give one as `database` in the file of `evaluation.fixtures`" in replay.unreplayed[snippet.id]


@pytest.mark.parametrize(
    ("language", "source", "printed"),
    [
        (Language.BASH, "cat prices.csv | tr a-z A-Z; exit 0", "HAT,45\n"),
        (
            Language.JAVASCRIPT,
            "console.log(require('fs').readFileSync('prices.csv', 'utf8').trim())",
            "hat,45\n",
        ),
        (Language.TYPESCRIPT, "const cents: number = 45 * 100; console.log(cents)", "4500\n"),
    ],
)
def test_other_languages_run_each_by_itself_among_the_fixtures(build, replayed, language, source, printed):
    fixtures = FixtureSet(files={"prices.csv": b"hat,45\n"})
    snippet = build.snippet(source, language=language, observation=printed)
    (step,) = replayed(snippet, fixtures=fixtures).steps
    assert step.execution.stdout == printed
    assert step.agrees is True


def test_a_shell_s_state_is_not_carried_over_and_no_difference_counts(build, replayed):
    first = build.snippet("x=5; echo 1 > made.txt", language=Language.BASH, observation="")
    second = build.snippet("echo $x; ls", language=Language.BASH, observation="5\nmade.txt\n")
    steps = replayed(first, second).steps
    assert steps[1].execution.stdout == "\n"
    assert steps[1].agrees is None


def test_python_finds_files_recorded_http_seed_and_clock(build, replayed):
    source = """
import json, time, urllib.request
print(open("prices.csv").read().strip(), int(time.time()) // 1000)
print(json.load(urllib.request.urlopen("http://shop.example/a"))["cents"])
"""
    fixtures = FixtureSet(
        files={"prices.csv": b"hat,45\n"},
        http=(Exchange("GET", "http://shop.example/a", body=b'{"cents": 4500}'),),
        clock_s=1_600_000_000.0,
    )
    (step,) = replayed(build.snippet(source, observation=""), fixtures=fixtures).steps
    assert step.execution.stdout.split() == ["hat,45", "1600000", "4500"], step.execution


def test_what_the_time_of_day_or_the_order_of_a_set_decides_is_flaky(build, replayed):
    day = build.snippet("import time\nday = time.gmtime()\nprint(day[0], day[6])", logs="1999 0")
    first = build.snippet("names = {f'name {n}' for n in range(50)}\nprint(list(names)[0])", logs="name 99")
    steady = build.snippet("print(sorted(names)[0])", logs="name 0")
    steps = replayed(day, first, steady).steps
    assert [step.flaky for step in steps] == [True, True, False]
    assert [step.agrees for step in steps] == [None, None, True]


def test_a_clock_that_the_fixtures_fix_makes_nothing_flaky(build, replayed):
    day = build.snippet("import time\nprint(time.gmtime()[0])", logs="2020")
    wrong = build.snippet("print(2 + 2)", logs="5")
    replay = replayed(day, wrong, fixtures=FixtureSet(clock_s=1_600_000_000.0))
    assert replay.repeated
    assert not replay.steps[0].flaky
    assert replay.steps[0].agrees


def test_what_the_seed_decides_is_flaky_and_proves_nothing(build, replayed):
    chance = build.snippet("import random\nf = random.random\nx = [f() for _ in range(3)]", logs="")
    shown = build.snippet("print(x[0] > 2, x[0])", logs="False 0.25")
    steady = build.snippet("print(1 + 1)", logs="2")
    wrong = build.snippet("print(2 + 2)", logs="5")
    replay = replayed(chance, shown, steady, wrong)
    assert replay.repeated
    assert [step.flaky for step in replay.steps] == [False, True, False, False]
    assert [step.agrees for step in replay.steps] == [None, None, True, False]
    assert replay.steps[1].difference.startswith(
        "flaky: under another seed and clock it printed first 'False 0."
    )
    number, step = replay.first_divergence
    assert (number, step.snippet) == (4, wrong)


def test_a_run_that_agrees_is_repeated_only_on_request(build, replayed):
    snippet = build.snippet("print(1)", logs="1")
    assert not replayed(snippet).repeated
    assert replayed(snippet, repeat=True).repeated


def test_declared_parameters_bind_a_call_and_refuse_what_the_tool_could_not_take(build, replayed):
    call = build.call("price", 4500, item="hat", size="m")
    good = build.snippet("print(price('hat', 'm'))", logs="4500", tape=(call,))
    misuse = build.snippet("price(colour='red')", error=build.error("TypeError"))
    replay = replayed(good, misuse, parameters={"price": ("item", "size")})
    assert endings(replay) == [(FailureClass.OK, True), (FailureClass.EXCEPTION, True)]
    assert replay.steps[1].divergences == ()

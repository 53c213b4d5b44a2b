"""SQL without a fixture database: run in the sandbox against the tables whose rows are all on the trace."""

from __future__ import annotations

import json

import pytest

from spanproof.evaluators.replay import replay_run
from spanproof.sandbox.scanners.model import Scan, Verdict
from spanproof.trace import Language

ALLOW = Scan(Verdict.ALLOW, ())
ORDERS = "id, customer, total\n1, Ada, 120.5\n2, Ben, 33.25\n3, Ada, 61.0"


def replayed(build, jail, *queries):
    """The replay of queries with the results they have on record."""
    snippets = [
        build.snippet(source, language=Language.SQL, observation=result) for source, result in queries
    ]
    run = build.run(snippets)
    return snippets, replay_run(run, {each.id: ALLOW for each in snippets}, jail)


@pytest.mark.parametrize(
    ("query", "result", "agrees"),
    [
        ("SELECT SUM(total) FROM orders WHERE customer = 'Ada'", "[(181.5,)]", True),
        ("SELECT SUM(total) FROM orders WHERE customer = 'Ada'", "[(181.05,)]", False),
        ("SELECT customer, COUNT(*) FROM orders GROUP BY customer", "[('Ben', 1), ('Ada', 2)]", True),
        ("SELECT id FROM orders WHERE total > 50 ORDER BY total DESC", "[(1,), (3,)]", True),
        ("SELECT id FROM orders WHERE total > 50 ORDER BY total DESC", "[(3,), (1,)]", False),
    ],
)
def test_a_query_runs_against_the_rows_that_another_one_gave(build, jail, query, result, agrees):
    (_, narrow), replay = replayed(build, jail, ("SELECT * FROM orders", ORDERS), (query, result))
    step = replay.find_step(narrow.id)
    assert step is not None, replay.unreplayed
    assert step.agrees is agrees, step.difference


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT * FROM refunds", "the rows of refunds are not on the trace"),
        ("SELECT placed FROM orders", "the values of placed are not on the trace"),
        ("SELECT total / 2 FROM orders", "the same to every engine"),
        ("SELECT id FROM orders WHERE customer LIKE 'a%'", "the same to every engine"),
        ("SELECT id FROM orders WHERE customer = 'ada'", "by case"),
        ("SELECT strftime('%Y', id) FROM orders", "the same to every engine"),
    ],
)
def test_what_another_engine_could_take_to_mean_something_else_is_not_run(build, jail, query, why):
    (_, narrow), replay = replayed(build, jail, ("SELECT * FROM orders", ORDERS), (query, "[]"))
    assert replay.find_step(narrow.id) is None
    assert why in replay.unreplayed[narrow.id]


def test_the_query_that_gave_the_rows_is_not_held_against_them(build, jail):
    (whole, again), replay = replayed(
        build, jail, ("SELECT * FROM orders", ORDERS), ("SELECT * FROM orders", ORDERS)
    )
    assert replay.find_step(whole.id) is None
    assert "its own result" in replay.unreplayed[again.id]


@pytest.mark.parametrize("count", [5, 10, 100])
def test_as_many_rows_as_tools_cap_at_may_be_a_part(build, jail, count):
    rows = str([(number,) for number in range(count)])
    (_, counted), replay = replayed(
        build, jail, ("SELECT id FROM orders", rows), ("SELECT COUNT(*) FROM orders", "[(5000,)]")
    )
    assert replay.find_step(counted.id) is None


def test_two_readings_of_one_table_that_differ_prove_nothing(build, jail):
    shorter = ORDERS.rpartition("\n")[0]
    (*_, count), replay = replayed(
        build,
        jail,
        ("SELECT * FROM orders", ORDERS),
        ("SELECT * FROM orders", shorter),
        ("SELECT COUNT(*) FROM orders", "[(2,)]"),
    )
    assert replay.find_step(count.id) is None


def test_a_run_that_wrote_to_its_database_has_no_tables(build, jail):
    snippets, replay = replayed(
        build,
        jail,
        ("SELECT * FROM orders", ORDERS),
        ("DELETE FROM orders WHERE id = 1", "ok"),
        ("SELECT COUNT(*) FROM orders", "[(2,)]"),
    )
    assert replay.find_step(snippets[2].id) is None


def test_names_and_cells_of_a_stranger_are_only_data(build, jail):
    rows = json.dumps([{"id": 1, 'no"te': "x'); DROP TABLE notes; --"}])
    (_, count), replay = replayed(
        build, jail, ("SELECT * FROM notes", rows), ("SELECT COUNT(*) FROM notes", "[(1,)]")
    )
    step = replay.find_step(count.id)
    assert step is not None, replay.unreplayed
    assert step.agrees is True, step.difference

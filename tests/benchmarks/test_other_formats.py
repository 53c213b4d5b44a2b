"""Tool calling, SQL and patches."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks.conftest import WriteRows, grade, grades, read_one

from spanproof.benchmarks import BENCHMARKS, BenchmarkError, GradingSetup, Source, read_problems
from spanproof.benchmarks.formats.swe_bench import read_statuses

QUESTION = {
    "id": "parallel_0",
    "question": [[{"role": "user", "content": "Weather in Rome and in Oslo?"}]],
    "function": [{"name": "weather.get", "parameters": {}}],
}
TRUTH = {
    "id": "parallel_0",
    "ground_truth": [
        {"weather.get": {"city": ["Rome", "Roma"], "unit": ["C", ""]}},
        {"weather.get": {"city": ["Oslo"], "unit": ["C", ""]}},
    ],
}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('[weather.get(city="Oslo"), weather.get(city="rome", unit="C")]', "passed"),
        ('[{"weather_get": "{\\"city\\": \\"Rome\\"}"}, {"weather_get": {"city": "Oslo"}}]', "passed"),
        (
            json.dumps(
                [
                    {"function": {"name": "weather.get", "arguments": '{"city": "Roma"}'}},
                    {"name": "weather.get", "arguments": {"city": "Oslo"}},
                ]
            ),
            "passed",
        ),
        ('[weather.get(city="Rome")]', "failed"),
        ('[weather.get(city="Rome"), weather.get(city="Rome")]', "failed"),
        ('[weather.get(city="Rome", zip=1), weather.get(city="Oslo")]', "failed"),
        ('[weather.get(unit="C"), weather.get(city="Oslo")]', "failed"),
        ("I cannot look that up.", "failed"),
    ],
)
def test_bfcl(write_rows: WriteRows, place: GradingSetup, answer: str, expected: str) -> None:
    write_rows(TRUTH, name="possible_answer/parallel.json")
    problem = read_one("bfcl", write_rows(QUESTION, name="parallel.json"))
    assert grades(problem, answer, place) == {"calls": expected}


def test_bfcl_where_no_call_fits(write_rows: WriteRows, place: GradingSetup) -> None:
    problem = read_one("bfcl", write_rows({**QUESTION, "id": "irrelevance_0"}))
    assert grades(problem, "There is no function for that.", place) == {"calls": "passed"}
    assert grades(problem, 'weather.get(city="Rome")', place) == {"calls": "failed"}


def test_bfcl_without_acceptable_calls_is_an_error(write_rows: WriteRows) -> None:
    with pytest.raises(BenchmarkError, match="no acceptable calls for parallel_0"):
        read_problems(BENCHMARKS["bfcl"], Source(write_rows(QUESTION)))


TASK = {
    "task_id": 3,
    "instruction": "Refund order A-1.",
    "actions": [
        {"name": "get_order", "kwargs": {"id": "A-1"}},
        {"name": "refund", "kwargs": {"id": "A-1", "cents": 4500}},
    ],
    "outputs": ["1,450"],
}


def _trajectory(*calls: tuple[str, dict[str, Any], str], said: str = "You get $1450.") -> str:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "hi"}]
    for number, (name, arguments, result) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        messages.append({"role": "assistant", "tool_calls": [{"id": str(number), "function": function}]})
        messages.append({"role": "tool", "tool_call_id": str(number), "content": result})
    return json.dumps([*messages, {"role": "assistant", "content": said}])


REFUND = ("refund", {"cents": 4500, "id": "A-1"}, "ok")


def test_tau(write_rows: WriteRows, place: GradingSetup) -> None:
    problem = read_one("tau", write_rows(TASK))
    passed = {"task": "passed", "calls": "passed", "outputs": "passed"}
    assert grades(problem, _trajectory(REFUND), place) == passed
    # A call that failed changed nothing, and a look at something else does no harm.
    failed_call = ("refund", {"id": "A-2"}, "Error: no such order")
    assert grades(problem, _trajectory(failed_call, ("get_user", {}, "x"), REFUND), place) == passed
    assert grades(problem, _trajectory(REFUND, REFUND), place)["calls"] == "failed"
    assert grades(problem, _trajectory(), place)["task"] == "failed"
    assert grades(problem, _trajectory(REFUND, said="Done."), place) == {
        **passed,
        "task": "failed",
        "outputs": "failed",
    }


def test_tau_reads_tasks_out_of_results(write_rows: WriteRows) -> None:
    result = {"task_id": 3, "reward": 1.0, "info": {"task": TASK}, "traj": []}
    (problem,) = read_problems(BENCHMARKS["tau"], Source(write_rows(result, {**result, "trial": 1})))
    assert problem.prompt == "Refund order A-1."


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    folder = tmp_path / "databases"
    (folder / "shop").mkdir(parents=True)
    connection = sqlite3.connect(folder / "shop" / "shop.sqlite")
    connection.executescript(
        "CREATE TABLE item (name, cents); INSERT INTO item VALUES ('tea', 1), ('ink', 2);"
    )
    connection.close()
    return folder


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("SELECT name FROM item", "SELECT name FROM item ORDER BY cents DESC", "passed"),
        ("SELECT name FROM item ORDER BY cents", "SELECT name FROM item ORDER BY cents DESC", "failed"),
        ("SELECT name FROM item", "SELECT DISTINCT 'tea' FROM item", "failed"),
        ("SELECT name FROM item", "SELECT nome FROM item", "failed"),
        ("SELECT name FROM item", "DROP TABLE item", "failed"),
        ("SELECT none FROM item", "SELECT name FROM item", "unjudged"),
    ],
)
def test_text_to_sql(
    write_rows: WriteRows, databases: Path, place: GradingSetup, gold: str, answer: str, expected: str
) -> None:
    path = write_rows({"db_id": "shop", "question": "Which items?", "query": gold})
    problem = read_one("text-to-sql", path, databases=databases)
    assert grades(problem, answer, place, whole=True) == {"rows": expected}


INSTANCE = {
    "instance_id": "own__repo-1",
    "repo": "own/repo",
    "base_commit": "0" * 40,
    "problem_statement": "It is wrong.",
    "patch": "diff --git a/a.py b/a.py\n",
    "test_patch": "diff --git a/tests/test_a.py b/tests/test_a.py\n",
    "FAIL_TO_PASS": '["tests/test_a.py::test_new"]',
    "PASS_TO_PASS": ["tests/test_a.py::test_old"],
}


def test_swe_bench_names_the_image_and_is_unjudged_without_one(
    write_rows: WriteRows, place: GradingSetup
) -> None:
    problem = read_one("swe-bench", write_rows(INSTANCE), image="local/{instance}:1")
    assert getattr(problem, "image") == "local/own_1776_repo-1:1"  # noqa: B009 - it is of a subclass
    found = grade(problem, "diff", place)["resolved"]
    assert (found.grade, found.reason) == ("unjudged", "no backend here runs container images")
    assert grades(problem, "", place)["resolved"] == "failed"


def test_statuses_of_three_test_runners() -> None:
    printed = (
        "PASSED tests/test_a.py::test_old\nFAILED tests/test_a.py::test_new[x - y] - assert 1 == 2\n"
        "test_view (urls.Tests) ... ok\ntest_bad (urls.Tests) ... FAIL\ntest_add ok\ntest_mul F\n"
    )
    assert read_statuses(printed) == {
        "tests/test_a.py::test_old": True,
        "tests/test_a.py::test_new[x": False,
        "test_view (urls.Tests)": True,
        "test_bad (urls.Tests)": False,
        "test_add": True,
        "test_mul": False,
    }


@pytest.mark.parametrize("name", ["../secret", "link"])
def test_a_database_elsewhere_is_refused(write_rows: WriteRows, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "secret.sqlite").write_bytes(b"")
    folder = tmp_path / "databases"
    (folder / "link").mkdir(parents=True)
    (folder / "link" / "link.sqlite").symlink_to(tmp_path / "secret" / "secret.sqlite")
    path = write_rows({"db_id": name, "question": "Which items?", "query": "SELECT 1"})
    with pytest.raises(BenchmarkError, match="lies outside"):
        read_one("text-to-sql", path, databases=folder)

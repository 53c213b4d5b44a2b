from __future__ import annotations

import csv
import io
import json
import time

import pytest

from spanproof.cli.app import run
from spanproof.cli.commands.query import Rate, _get_style
from spanproof.store import FailRate, open_store
from spanproof.trace import Cause, Cohort, Errored, Label, Layer, Scored

HOUR_NS = 3_600 * 10**9


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory, evaluation) -> str:
    """Ten runs within the last hour, of which four fail and one errors; five before that pass."""
    now = time.time_ns()
    before = now - 3 * HOUR_NS // 2
    failed, passed = Scored(0.0, Label.FAIL, "wrong"), Scored(1.0, Label.PASS, "fine")
    outcomes = [failed] * 4 + [passed] * 5 + [Errored("ValueError", "broken")]
    rows = [
        evaluation((0xA00 + n) << 100, verdicts={Layer.GROUNDEDNESS: each}, start_ns=now - HOUR_NS // 2 + n)
        for n, each in enumerate(outcomes)
    ]
    rows += [
        evaluation((0xB00 + n) << 100, verdicts={Layer.GROUNDEDNESS: passed}, start_ns=before + n)
        for n in range(5)
    ]
    directory = tmp_path_factory.mktemp("queried") / "store"
    with open_store(directory) as store:
        store.write(rows)
    return str(directory)


def test_a_rate_comes_with_its_number_and_interval(location, capfd):
    assert run(["query", "groundedness.score", "--since", "1h", "--store", location, "--json"]) == 0
    row = json.loads(capfd.readouterr().out)
    assert (row["passed"], row["failed"], row["errored"]) == (5, 4, 1)
    assert row["fail_rate"] == pytest.approx(4 / 9)
    assert (row["low"], row["high"]) == (pytest.approx(0.1888, abs=1e-4), pytest.approx(0.7333, abs=1e-4))


@pytest.fixture(scope="module")
def half_open(tmp_path_factory: pytest.TempPathFactory, evaluation) -> str:
    """Six runs of the last hour: two pass, one fails, three are open."""
    now = time.time_ns() - HOUR_NS // 2
    passed, failed = Scored(1.0, Label.PASS, "fine"), Scored(0.0, Label.FAIL, "wrong")
    left_open = Scored(0.5, None, "not settled", cause=Cause.VALUE_NOT_FOUND)
    outcomes = [passed] * 2 + [failed] + [left_open] * 3
    directory = tmp_path_factory.mktemp("half-open") / "store"
    with open_store(directory) as store:
        store.write(
            [
                evaluation((0xA00 + n) << 100, verdicts={Layer.GROUNDEDNESS: each}, start_ns=now + n)
                for n, each in enumerate(outcomes)
            ]
        )
    return str(directory)


def test_what_is_open_is_counted_beside_the_fail_rate_and_has_a_rate_of_its_own(half_open, capfd):
    arguments = ["query", "groundedness.score", "--store", half_open]
    assert run([*arguments, "--json"]) == 0
    row = json.loads(capfd.readouterr().out)
    assert (row["passed"], row["failed"], row["open"], row["advice"]) == (2, 1, 3, 0)
    assert (row["fail_rate"], row["open_rate"]) == (pytest.approx(1 / 3), 0.5)
    assert row["open_low"] < 0.5 < row["open_high"]
    assert run(arguments) == 0
    header, shown, cause = capfd.readouterr().out.splitlines()
    assert header.split()[-4:] == ["judged", "open", "not", "judged"]
    assert shown.split()[-4:] == ["1", "3", "3", "0"]
    assert cause.strip() == "open: 3 answers hold a value that no source has"
    assert run([*arguments, "--rate", "open"]) == 0
    header, shown, _ = capfd.readouterr().out.splitlines()
    assert header.split()[:2] == ["open", "rate"]
    assert (shown.split()[0], shown.split()[-3:]) == ("50.0%", ["3", "6", "0"])


def test_a_rate_is_green_only_where_nothing_is_wrong_and_nothing_is_open():
    def style(rate: str, **given: int) -> str:
        counts = dict.fromkeys(("passed", "failed", "open", "errored", "skipped", "advice"), 0) | given
        return _get_style(Rate(rate), FailRate(**counts))

    assert style("fail", passed=3) == "green"
    assert style("fail", passed=3, open=1) == "yellow"
    assert style("fail", passed=3, open=1, failed=1) == "bold red"
    assert (style("fail", open=3), style("fail")) == ("yellow", "")
    assert (style("open", passed=3), style("open", passed=3, open=1)) == ("green", "yellow")


def test_a_window_is_compared_with_the_one_before(location, capfd):
    arguments = ["query", "groundedness.score", "--since", "1h", "--compare", "--store", location]
    assert run([*arguments, "--json"]) == 0
    row = json.loads(capfd.readouterr().out)
    assert row["before"]["fail_rate"] == 0.0
    assert row["change"]["value"] == pytest.approx(4 / 9)
    assert row["change"]["low"] < row["change"]["value"] < row["change"]["high"]
    assert run(arguments) == 0
    assert "+44.4%" in capfd.readouterr().out


def test_scores_are_grouped_by_dimension_and_by_time(location, capfd):
    assert run(["query", "groundedness.score", "--by", "agent", "--store", location, "--json"]) == 0
    row = json.loads(capfd.readouterr().out)
    assert row["agent"]
    assert row["failed"] == 4
    assert run(["query", "groundedness.score", "--every", "1h", "--store", location, "--json"]) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert sum(row["passed"] for row in rows) == 10
    assert [row["start_unix_ns"] for row in rows] == sorted(row["start_unix_ns"] for row in rows)
    cohort = ["--where", f"agent={row['agent']}x"]
    assert run(["query", "groundedness.score", *cohort, "--store", location]) == 0
    assert "no groundedness.score in the last 24h" in capfd.readouterr().err


def test_what_is_open_has_a_column_a_rate_and_its_causes(tmp_path, evaluation, capfd):
    unsettled = Scored(0.5, None, "45.00 is nowhere", cause=Cause.VALUE_NOT_FOUND, detail="45.00")
    with open_store(tmp_path / "store") as store:
        store.write(
            [
                evaluation(number, verdicts={Layer.GROUNDEDNESS: outcome}, start_ns=time.time_ns() - 10**9)
                for number, outcome in enumerate([unsettled, unsettled, Scored(1.0, Label.PASS, "fine")], 1)
            ]
        )
    arguments = ["query", "groundedness.score", "--store", str(tmp_path / "store")]
    assert run([*arguments, "--json"]) == 0
    row = json.loads(capfd.readouterr().out)
    assert (row["passed"], row["failed"], row["open"], row["advice"]) == (1, 0, 2, 0)
    assert (row["open_rate"], row["mean"]) == (pytest.approx(2 / 3), 1.0)
    assert run([*arguments, "--rate", "open"]) == 0
    assert "66.7%" in capfd.readouterr().out
    assert run(arguments) == 0
    said = " ".join(capfd.readouterr().out.split())
    assert "open: 2 answers hold a value that no source has" in said


def test_rows_are_written_as_csv_that_no_spreadsheet_runs(tmp_path, evaluation, capfd):
    cohort = Cohort(project="shop", agent="=cmd|'/c calc'!A0")
    hostile = evaluation(1 << 100, start_ns=time.time_ns() - 10**9, cohort=cohort)
    with open_store(tmp_path / "store") as store:
        store.write([hostile])
    location = str(tmp_path / "store")
    assert run(["query", "correctness.score", "--by", "agent", "--csv", "--store", location]) == 0
    (row,) = csv.DictReader(io.StringIO(capfd.readouterr().out))
    assert row["agent"] == "'=cmd|'/c calc'!A0"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["colour.score"], "colour"),
        (["trajectory.recover"], "recovery"),
        (["groundedness.score", "--since", "0h"], "no span of time"),
        (["groundedness.score", "--every", "soon"], "--every 'soon'"),
        (["groundedness.score", "--where", "colour=red"], "The dimensions are"),
        (["groundedness.score", "--where", "agent"], "Write DIMENSION=VALUE"),
        (["groundedness.score", "--by", "colour"], "attribute:KEY for any attribute"),
        (["groundedness.score", "--by", "attribute:"], "unknown dimension 'attribute:'"),
        (["groundedness.score", "--compare", "--every", "1h"], "--compare"),
    ],
)
def test_a_mistake_is_named_with_its_remedy(location, capfd, arguments, says):
    assert run(["query", *arguments, "--store", location]) == 2
    assert says in capfd.readouterr().err


def test_other_rates_have_intervals_too(location, capfd):
    arguments = ["query", "groundedness.score", "--since", "1h", "--store", location]
    assert run([*arguments, "--json"]) == 0
    row = json.loads(capfd.readouterr().out)
    assert (row["error_rate"], row["skip_rate"], row["presence_rate"]) == (0.1, 0.0, 0.9)
    assert row["error_low"] < 0.1 < row["error_high"]
    assert run([*arguments, "--rate", "error", "--compare"]) == 0
    shown = capfd.readouterr().out
    assert "10.0%" in shown
    assert "+10.0%" in shown


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_rows_are_written_as_columns(location, tmp_path, suffix):
    from pyarrow import feather, parquet

    path = tmp_path / f"rates.{suffix}"
    arguments = ["query", "groundedness.score", "--by", "agent", "--store", location, "--out", str(path)]
    assert run(arguments) == 0
    table = parquet.read_table(path) if suffix == "parquet" else feather.read_table(path)
    assert table.column("failed").to_pylist() == [4]


def test_sql_reads_the_tables(location, capfd):
    sql = "SELECT label, count() AS n FROM scores FINAL WHERE name = 'groundedness' GROUP BY label;"
    assert run(["sql", sql, "--store", location, "--json"]) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert {row["label"]: row["n"] for row in rows} == {"": 1, "fail": 4, "pass": 10}
    assert (
        run(["sql", "SELECT arrayJoin([0, 1, 2]) AS number", "--limit", "2", "--store", location, "--csv"])
        == 0
    )
    assert capfd.readouterr().out == "number\n0\n1\n"


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE scores",
        "INSERT INTO scores SELECT * FROM scores",
        "SELECT 1; SELECT 2",
        "SELECT * FROM file('/etc/passwd', 'LineAsString')",
        "SELECT * FROM url('http://127.0.0.1/', 'LineAsString')",
        "WITH x AS (SELECT * FROM remote('127.0.0.1', system.one)) SELECT * FROM x",
        "SELECT 1 INTO OUTFILE '/tmp/x'",
        "SELECT (SELECT count() FROM executable('x', 'TSV', 'a String'))",
        "SELECT file('/etc/passwd')",
        "SET readonly = 0",
        "SELECT FROM WHERE",
    ],
)
def test_sql_changes_and_reads_nothing_else(location, capfd, sql):
    assert run(["sql", sql, "--store", location]) == 2
    assert "store" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT * FROM scorez", "'spanproof.scorez'. Maybe you meant spanproof.scores?\n"),
        ("SELECT no_such FROM scores", "`no_such`"),
        ("SELECT FROM WHERE", "cannot be read at 'WHERE', line 1, column 17\n"),
    ],
)
def test_sql_that_cannot_be_run_is_refused_with_the_place_and_the_tables(location, capfd, sql, said):
    assert run(["sql", sql, "--store", location]) == 2
    reported = capfd.readouterr().err
    assert said in reported
    assert "store.md#tables" in reported


def test_sql_while_another_process_holds_the_store(location, capfd):
    with open_store(location, share=True):
        assert run(["sql", "SELECT count() AS n FROM scores FINAL", "--store", location, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["n"] > 0

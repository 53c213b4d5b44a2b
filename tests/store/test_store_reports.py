"""`spanproof report judge-vs-execution` over a real embedded store."""

from __future__ import annotations

import json
from dataclasses import replace

from spanproof.cli.app import run
from spanproof.evaluators.judge import BESIDE
from spanproof.store import open_store
from spanproof.trace import Errored, Label, Layer, Scored


def test_judge_vs_execution_counts_and_names_where_they_differ(tmp_path, capsys, evaluation):
    passed = {Layer.CORRECTNESS: Scored(1.0, Label.PASS, "ran and agreed")}
    failed = {Layer.CORRECTNESS: Scored(0.0, Label.FAIL, "ended in KeyError")}
    evaluations = [
        advised(evaluation(1, verdicts=passed), 0.9),
        advised(evaluation(2, verdicts=failed), 0.8),
        advised(evaluation(3, verdicts=failed), 0.1),
        evaluation(4, verdicts=failed),
    ]
    with open_store(tmp_path / "store") as store:
        store.write(evaluations)
    arguments = ["report", "judge-vs-execution", "--store", str(tmp_path / "store")]
    assert run([*arguments, "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["runs"], row["both_pass"], row["only_judge_passes"], row["both_fail"]) == (3, 1, 1, 1)
    (difference,) = row["differences"]
    assert (difference["execution"], difference["judge"]) == ("fail", 0.8)
    assert difference["execution_says"] == "ended in KeyError"
    assert run(arguments) == 0
    assert "judge 0.80" in capsys.readouterr().out


def test_nothing_to_compare_is_reported_and_is_json_all_the_same(tmp_path, capsys, evaluation):
    failed = {Layer.CORRECTNESS: Scored(0.0, Label.FAIL, "ended in KeyError")}
    with open_store(tmp_path / "store") as store:
        store.write([evaluation(1, verdicts=failed)])
    arguments = ["report", "judge-vs-execution", "--store", str(tmp_path / "store")]
    assert run(arguments) == 0
    reported = capsys.readouterr()
    assert reported.out == ""
    assert "no run has both a judge's score and a verdict of execution" in reported.err
    assert "judge.beside_share" in reported.err
    assert run([*arguments, "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["runs"], row["kappa"], row["not_answered"], row["differences"]) == (0, None, 0, [])


def test_a_judge_that_did_not_answer_is_reported(tmp_path, capsys, evaluation):
    failed = {Layer.CORRECTNESS: Scored(0.0, Label.FAIL, "ended in KeyError")}
    refused = Errored("JudgeFailed.refused", "the endpoint answered 401")
    with open_store(tmp_path / "store") as store:
        store.write([advised(evaluation(number, verdicts=failed), refused) for number in (1, 2)])
    arguments = ["report", "judge-vs-execution", "--store", str(tmp_path / "store")]
    assert run(arguments) == 0
    reported = capsys.readouterr().err
    assert "the judge gave no answer on 2 runs: JudgeFailed.refused: the endpoint answered 401" in reported
    assert run([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["not_answered"] == 2


def advised(found, said):
    """The evaluation with a judge's advice on its one run: a value, or what became of asking."""
    (of_run,) = found.runs
    own = next(score for score in of_run.scores if score.name == "correctness")
    advice = replace(
        own,
        id=own.id[::-1],
        name=BESIDE,
        evaluator="judge:x",
        outcome=Scored(said, None, "it reads well") if isinstance(said, float) else said,
    )
    return replace(found, runs=(replace(of_run, scores=(*of_run.scores, advice)),))

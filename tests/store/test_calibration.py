from __future__ import annotations

import json

import pytest

from spanproof.cli.app import run
from spanproof.store import open_store
from spanproof.store.external import ExternalScore
from spanproof.trace import Label, Layer, Scored

NOW = 1_790_000_000 * 10**9


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory, evaluation) -> str:
    """Ten runs: the layer fails five, people fail four of these and one of the others."""
    directory = tmp_path_factory.mktemp("stored")
    with open_store(directory) as store:
        for number in range(10):
            ours, people = number < 5, number in (0, 1, 2, 3, 9)
            trace_id = (0xC00 + number) << 100
            outcome = Scored(float(not ours), Label.FAIL if ours else Label.PASS, "so it is")
            found = evaluation(trace_id, verdicts={Layer.GROUNDEDNESS: outcome}, start_ns=NOW + number)
            store.write([found])
            label = Label.FAIL if people else Label.PASS
            store.write_external(
                [
                    ExternalScore(
                        found.trace.trace_id, None, Layer.GROUNDEDNESS, "right", "human", float(not people),
                        label, "", None, "", NOW,
                    )
                ]
            )  # fmt: skip
    return str(directory)


def test_a_layer_is_compared_with_the_labels_of_people(location, capfd):
    assert run(["report", "calibration", "--store", location, "--json"]) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    (whole,) = [row for row in rows if row["evaluator"] is None]
    assert (whole["layer"], whole["labels"]) == ("groundedness", 10)
    assert (whole["precision"]["value"], whole["recall"]["value"]) == (0.8, 0.8)
    assert whole["precision"]["low"] < 0.8 < whole["precision"]["high"]
    assert whole["kappa"]["value"] == pytest.approx(0.6)
    assert len(rows) == 2, "and a row for the evaluator that settled it"


def test_too_little_agreement_is_a_failed_gate(location, capfd):
    assert run(["report", "calibration", "--store", location, "--at-least", "0.5"]) == 1
    assert run(["report", "calibration", "--store", location, "--at-least", "-0.5"]) == 0
    assert "80%" in capfd.readouterr().out


def test_without_labels_there_is_nothing_to_compare(location, capfd):
    assert run(["report", "calibration", "--store", location, "--source", "harness"]) == 0
    assert "no run has both" in capfd.readouterr().err

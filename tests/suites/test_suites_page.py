"""What docs/suites.md shows is what a suite takes and says."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from spanproof.cli.app import run
from spanproof.evaluators.casetests import CaseTests, read_tests
from spanproof.evaluators.casetests.inputs import Shape
from spanproof.evaluators.model import TraceEvaluation
from spanproof.store import open_store
from spanproof.suites import CaseStatus, load_suite, promote_run, run_suite

PAGE = (Path(__file__).parents[2] / "docs" / "suites.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)
RUN_ID = "a" * 16


def block(holding: str) -> str:
    (found,) = [text for _, text in BLOCKS if holding in text]
    return found


def test_every_key_of_the_tests_is_in_the_example_and_is_taken():
    document = yaml.safe_load(block("entry_point: tidy"))
    assert document.keys() == CaseTests.model_fields.keys()
    assert read_tests(document, "docs/suites.md").has_any
    assert read_tests(yaml.safe_load(block("from hypothesis")), "docs/suites.md").unit


def test_every_shape_is_reported():
    reported = PAGE[PAGE.index("Shapes: ") :].partition("\n\n")[0]
    shapes = {shape.model_fields["kind"].annotation.__args__[0] for shape in Shape.__args__[0].__args__}
    assert shapes <= set(re.findall(r"`(\w+)`", reported))


def test_every_status_is_reported():
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == {status.value for status in CaseStatus}


def test_lines_to_hold_a_case_by_are_taken(evaluation, engine, suite):
    case = promote_run(evaluation, RUN_ID, suite)
    folder = suite / "cases" / case.id
    lines = block("name: within_budget")
    path = folder / "case.yaml"
    path.write_text(path.read_text().replace("details:\n", f"details:\n{lines}"))
    (folder / "tests.yaml").write_text("budget: {wall_s: 60, memory_mb: 2000}\n")
    assert run_suite(suite, engine).passed
    (folder / "tests.yaml").write_text("budget: {wall_s: 0.000001}\n")
    (report,) = run_suite(suite, engine).cases
    assert [each.expected.name for each in report.differences] == ["within_budget"]
    assert " s of 0.000001 s allowed" in report.differences[0].explanation


def test_the_commands_of_the_page_run(evaluation: TraceEvaluation, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    with open_store(Path(".spanproof/store")) as store:
        store.write([evaluation])
    lines = [line.partition("#")[0].split()[1:] for line in block("spanproof promote 0af").splitlines()]
    promoting, running = ([word.replace("0af7651916cd", "5555") for word in words] for words in lines)
    assert (run(promoting), run(running)) == (0, 0), capfd.readouterr()
    assert len(load_suite(Path("suites/checkout"))) == 1
    shown = block(".gitattributes")
    made = {path.name for path in Path("suites/checkout").rglob("*") if path.is_file()}
    assert all(name in shown for name in made - {"02.py"})

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spanproof.suites import (
    Expect,
    Form,
    Reading,
    SuiteError,
    datasets,
    format_csv,
    format_jsonl,
    iter_dataset,
    load_suite,
)
from spanproof.suites.editing import add_cases

QUESTION = "What is the total refund in dollars for order A-17?"
LANGFUSE = {
    "id": "item-1",
    "status": "ACTIVE",
    "input": {"question": QUESTION, "currency": "USD"},
    "expectedOutput": {"answer": "$45.00"},
    "metadata": {"source": "support"},
    "sourceTraceId": "0af7651916cd43dd8448eb211c80319c",
    "sourceObservationId": None,
    "datasetId": "d1",
    "datasetName": "refunds",
    "createdAt": "2025-01-01T00:00:00.000Z",
    "updatedAt": "2025-01-01T00:00:00.000Z",
}
LANGSMITH = {
    "id": "3a4c",
    "dataset_id": "d1",
    "inputs": {"question": QUESTION, "currency": "USD"},
    "outputs": {"answer": "$45.00"},
    "metadata": {"dataset_split": ["base"]},
    "source_run_id": None,
}
BRAINTRUST = {
    "id": "b1",
    "_xact_id": "1000",
    "dataset_id": "d1",
    "project_id": "p1",
    "input": {"question": QUESTION, "currency": "USD"},
    "expected": "$45.00",
    "metadata": {"difficulty": "easy"},
    "tags": ["refunds"],
    "span_id": "s",
    "root_span_id": "s",
}
PHOENIX = {
    "id": "RGF0YXNldEV4YW1wbGU6MQ==",
    "input": {"question": QUESTION, "currency": "USD"},
    "output": {"answer": "$45.00"},
    "metadata": {"annotator": "ann"},
    "updated_at": "2025-01-01T00:00:00+00:00",
}
CHAT = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": "$45.00"}]


def write(folder: Path, content: Any, name: str = "data.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("document", "form"),
    [
        ({"data": [LANGFUSE], "meta": {"page": 1}}, Form.LANGFUSE),
        ([LANGFUSE], Form.LANGFUSE),
        ([LANGSMITH], Form.LANGSMITH),
        ({"events": [BRAINTRUST], "cursor": None}, Form.BRAINTRUST),
        ([BRAINTRUST], Form.BRAINTRUST),
        ({"data": {"dataset_id": "x", "version_id": "y", "examples": [PHOENIX]}}, Form.PHOENIX),
    ],
)
def test_each_export_becomes_a_task_inputs_and_an_answer(tmp_path, document, form):
    (case,) = iter_dataset(write(tmp_path, document))
    assert (case.task, dict(case.inputs)) == (QUESTION, {"currency": "USD"})
    assert [each.entry for each in case.requirements] == [{"answer": {"contains": "$45.00"}}]
    assert case.source["form"] == form.value
    assert case.source["id"]
    assert case.source["metadata"]
    lines = write(tmp_path, json.dumps(_first(document)) + "\n\n", "data.jsonl")
    assert list(iter_dataset(lines)) == [case]


def _first(document: Any) -> Any:
    while not (isinstance(document, dict) and "id" in document):
        values = document.values() if isinstance(document, dict) else document
        document = next(each for each in values if isinstance(each, dict | list))
    return document


def test_a_langfuse_item_keeps_the_trace_it_is_from_and_braintrust_its_tags(tmp_path):
    (langfuse,) = iter_dataset(write(tmp_path, [LANGFUSE]))
    assert langfuse.source["trace_id"] == "0af7651916cd43dd8448eb211c80319c"
    (braintrust,) = iter_dataset(write(tmp_path, [BRAINTRUST]), Reading(tags=("new", "refunds")))
    assert braintrust.tags == ("refunds", "new")


@pytest.mark.parametrize(
    ("text", "form", "inputs"),
    [
        ("example_id,input_question,output_answer,metadata_by\n7,How many?,12,ann\n", "phoenix", {}),
        ("input_question,input_unit,output_answer\nHow many?,cm,12\n", "langsmith", {"unit": "cm"}),
        ('id,input,expectedOutput,metadata\n7,How many?,12,"{""by"": ""ann""}"\n', "langfuse", {}),
        ("question,unit,answer\nHow many?,cm,12\n", "table", {"unit": "cm"}),
        ('id,question,tags,answer,n\n7,How many?,safe,12,"{""n"": 3}"\n', "table", {"n": {"n": 3}}),
    ],
)  # fmt: skip
def test_tables_of_each_kind_are_read(tmp_path, text, form, inputs):
    (case,) = iter_dataset(write(tmp_path, "\ufeff" + text, "data.csv"))
    assert (case.source["form"], case.task, dict(case.inputs)) == (form, "How many?", inputs)
    assert [each.entry for each in case.requirements] == [{"answer": {"contains": "12"}}]


@pytest.mark.parametrize(
    ("expected", "entry"),
    [
        ("text", {"answer": {"contains": "text"}}),
        (12.5, {"answer": {"number": 12.5}}),
        (True, {"answer": {"equals": True}}),
        ({"a": 1, "b": 2}, {"answer": {"equals": {"a": 1, "b": 2}}}),
        ({"only": "x"}, {"answer": {"contains": "x"}}),
        ({"role": "assistant", "content": "x"}, {"answer": {"contains": "x"}}),
        ([1, 2], {"answer": {"equals": [1, 2]}}),
    ],
)
def test_an_expected_answer_is_required_in_its_own_kind(tmp_path, expected, entry):
    (case,) = iter_dataset(write(tmp_path, [{**BRAINTRUST, "expected": expected}]))
    assert [each.entry for each in case.requirements] == [entry]


@pytest.mark.parametrize("expected", [None, "", {}, []])
def test_without_an_expected_answer_nothing_is_required_of_it(tmp_path, expected):
    (case,) = iter_dataset(write(tmp_path, [{**BRAINTRUST, "expected": expected}]))
    assert case.requirements == ()


def test_conversations_become_a_task(tmp_path):
    (one,) = iter_dataset(write(tmp_path, json.dumps({"messages": CHAT}) + "\n", "a.jsonl"))
    assert (one.task, [each.entry for each in one.requirements]) == (
        QUESTION,
        [{"answer": {"contains": "$45.00"}}],
    )
    turns = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}, *CHAT[::-1], CHAT[0]]
    (many,) = iter_dataset(write(tmp_path, [{"inputs": {"messages": turns}, "outputs": None}]))
    assert many.task == f"user: Hello\nassistant: $45.00\nuser: {QUESTION}\nuser: {QUESTION}"


def test_names_choose_what_is_the_task_and_the_answer(tmp_path):
    how = Reading(expect=Expect.EQUALS, task_key="frage", expected_key="soll")
    (case,) = iter_dataset(write(tmp_path, "frage,text,soll\nWieviel?,x,12\n", "data.csv"), how)
    assert (case.task, dict(case.inputs)) == ("Wieviel?", {"text": "x"})
    assert [each.entry for each in case.requirements] == [{"answer": {"equals": "12"}}]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[1]", "entry 1: expected an object, got int"),
        ('{"task": ""}', "a case needs a task"),
        ('{"task": "x", "musst": []}', "no key 'musst' is known"),
        ('{"task": "x", "id": "../../etc"}', "id '../../etc' must be letters"),
        ('{"task": "x", "files": {"../x": ""}}', "is no path beneath the work directory"),
        ('{"task": "x", "must": ["oops"]}', "must, entry 1"),
        ('{"task": "x"}\n{oops\n', "line 2: not JSON"),
        ('[{"inputs": {"a": "x", "b": "y"}, "outputs": {}}]', "none of a, b is known to be the task"),
        ('[{"inputs": {}, "outputs": {}}]', "it has no input"),
        ('[{"inputs": {"messages": [{"role": "system", "content": "x"}]}, "outputs": {}}]', "none of a user"),
    ],
)  # fmt: skip
def test_what_is_no_case_is_named_with_its_entry(tmp_path, content, words):
    path = write(tmp_path, content)
    with pytest.raises(SuiteError) as caught:
        list(iter_dataset(path))
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


CASES = [
    {
        "id": "refund-a17",
        "task": QUESTION,
        "agent": "shop",
        "must": ["groundedness.score == pass", {"answer": {"contains": "45.00"}}],
        "must_not": [{"call": {"tool": "delete_order", "args": {}}}],
        "inputs": {"currency": "USD", "n": [1, {"a": None}]},
        "files": {"a.csv": "id,cents\nA,1\n"},
        "recorded": [{"tool": "refund_cents", "args": {"order_id": "A-17"}, "result": 4500}],
        "tags": ["safe", "refunds"],
        "notes": 'of "May", it\'s\n',
        "cohort": {"project": "eu"},
    },
    {"task": "What else?"},
]


def test_what_is_exported_is_imported_again_unchanged(tmp_path):
    text = "\n".join(json.dumps(each) for each in CASES)
    cases = list(iter_dataset(write(tmp_path, text, "cases.jsonl")))
    assert list(iter_dataset(write(tmp_path, format_jsonl(cases), "again.jsonl"))) == cases
    assert list(iter_dataset(write(tmp_path, format_csv(cases), "again.csv"))) == cases
    suite = tmp_path / "suite"
    add_cases(suite, cases)
    assert load_suite(suite) == sorted(cases, key=lambda case: case.id)
    assert format_jsonl(load_suite(suite)) == format_jsonl(sorted(cases, key=lambda case: case.id))


def test_an_import_can_be_repeated_and_leaves_out_what_behaves_the_same(tmp_path):
    suite = tmp_path / "suite"
    path = write(
        tmp_path, [LANGFUSE, {**LANGFUSE, "id": "item-2"}, {**LANGFUSE, "id": "3", "input": "Other?"}]
    )
    first = add_cases(suite, iter_dataset(path))
    assert (len(first.added), len(first.existing), len(first.duplicates)) == (2, 0, 1)
    before = {file: file.read_bytes() for file in suite.rglob("*") if file.is_file()}
    second = add_cases(suite, iter_dataset(path))
    assert (second.added, len(second.existing), len(second.duplicates)) == ((), 2, 1)
    assert {file: file.read_bytes() for file in suite.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        (b"[" * 100_000, "not JSON"),
        (b'{"a": ' * 100_000, "not JSON"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_hostile_dataset_is_one_error(tmp_path: Path, content: bytes, reported: str) -> None:
    (tmp_path / "data.json").write_bytes(content)
    with pytest.raises(SuiteError, match=reported):
        list(iter_dataset(tmp_path / "data.json"))


def test_a_table_with_a_cell_without_an_end_is_one_error(tmp_path: Path) -> None:
    path = write(tmp_path, 'task,answer\n"' + "x" * (1 << 25), "data.csv")
    with pytest.raises(SuiteError, match="not CSV: field larger than"):
        list(iter_dataset(path))


def test_a_dataset_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "_FILE_BYTES", 1 << 20)
    with pytest.raises(SuiteError, match="/dev/zero has more than"):
        list(iter_dataset(Path("/dev/zero")))

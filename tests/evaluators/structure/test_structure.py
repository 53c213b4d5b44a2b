from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from spanproof.evaluators.outcomes.model import Account
from spanproof.evaluators.structure import Structure, build_task_key, evaluator, read_code_left
from spanproof.trace import Run, Scored, Skipped, SpanError, Step, ToolCall

MODULE = """import os
import json

def total(rows, tax=0):
    found = 0
    for row in rows:
        if row and row.get("net"):
            found += row["net"]
    return found + tax

def _helper():
    return 1
"""


def writing(build, *arguments: dict[str, object], **fields: object) -> Run:
    """A run that calls a tool with each of these, a step each."""
    steps = tuple(
        Step(number, f"{number:016x}", calls=(build.call("write_file", "ok", **given),))
        for number, given in enumerate(arguments, 1)
    )
    return replace(build.run([]), steps=steps, **fields)


def measured(build, run: Run, before=None, earlier=()):
    evidence = replace(build.evidence(run), earlier=tuple(earlier))
    judgements = Structure(before).judge(evidence, ())
    assert {each.span_id for each in judgements} <= {run.span_id}
    assert all(getattr(each.outcome, "label", None) is None for each in judgements)
    return {each.name: each.outcome for each in judgements}


def test_a_run_without_code_has_no_structural_metric(build):
    assert measured(build, build.run([])) == {}


def test_a_file_that_was_written_is_measured(build):
    found = measured(build, writing(build, {"path": "shop/sums.py", "content": MODULE}))
    assert set(found) == {"complexity", "code_lines", "duplication", "dead_code"}
    assert (found["complexity"].raw, found["complexity"].unit) == (4, "paths")
    assert found["complexity"].explanation.startswith("4 paths through total at line 4 of shop/sums.py")
    assert (found["code_lines"].raw, found["code_lines"].unit) == (10, "lines")
    assert found["duplication"].value == 1
    assert found["dead_code"].value == pytest.approx(1 - 4 / 12)
    assert [fact.what.partition(": ")[2] for fact in found["dead_code"].evidence] == [
        "unused import os (1 line)",
        "unused import json (1 line)",
        "unused function _helper (2 lines)",
    ]


def test_a_comment_excuses_no_dead_code(build):
    run = writing(build, {"path": "a.py", "content": "import os  # noqa\n"})
    assert measured(build, run)["dead_code"].value == 0


@pytest.mark.parametrize("name", ["a.go", "a.java", "a.ts", "a.rs", "a.rb"])
def test_other_languages_have_size_and_complexity_and_no_dead_code(build, name):
    source = "f(x) {\n  if (x > 1) { return 2; }\n  return 3;\n}\n"
    found = measured(build, writing(build, {"path": name, "content": source}))
    assert found["code_lines"].raw == 4
    assert isinstance(found["complexity"], Scored)
    assert isinstance(found["dead_code"], Skipped)


def test_text_that_is_no_code_and_code_that_does_not_parse_are_skipped(build):
    for name, content in (("notes.md", "# Notes"), ("a.py", "def f(:\n")):
        found = measured(build, writing(build, {"path": name, "content": content}))
        assert {type(each) for each in found.values()} == {Skipped}
        assert name in found["complexity"].reason


def test_edits_are_applied_and_an_edit_of_unknown_content_leaves_the_file_out(build):
    write = {"file_path": "a.py", "content": "def f():\n    return 1\n"}
    edit = {"file_path": "a.py", "old_string": "return 1", "new_string": "return 2"}
    left = read_code_left(writing(build, write, edit), Account(), {})
    assert left["a.py"].source == "def f():\n    return 2\n"
    assert read_code_left(writing(build, edit), Account(), {}) == {}
    assert (
        read_code_left(writing(build, edit), Account(), read_code_left(writing(build, write), Account(), {}))
        == left
    )


def test_a_write_that_failed_wrote_nothing(build):
    run = writing(build, {"path": "a.py", "content": "x = 1"})
    call = replace(run.steps[0].calls[0], result=None, error=SpanError("PermissionError", "read-only", ()))
    assert read_code_left(replace(run, steps=(replace(run.steps[0], calls=(call,)),)), Account(), {}) == {}


def test_requested_calls_count_where_the_trace_has_no_call(build):
    step = Step(1, "1" * 16, requested=(ToolCall("Write", {"path": "a.py", "content": "x = 1"}),))
    assert set(read_code_left(replace(build.run([]), steps=(step,)), Account(), {})) == {"a.py"}


def test_the_session_leaves_out_failed_steps_and_definitions_that_were_replaced(build):
    failed = build.snippet("def f(x):\n    return 1 / 0\nf(1)", error=build.error("ZeroDivisionError"))
    first = build.snippet("def f(x):\n    return x\ny = f(1)")
    second = build.snippet("def f(x):\n    return x + 1\nprint(f(y))")
    run = build.run([failed, first, second])
    (session,) = read_code_left(run, build.evidence(run).account, {}).values()
    assert session.source == "y = f(1)\ndef f(x):\n    return x + 1\nprint(f(y))"


def test_names_of_a_session_that_the_user_may_read_are_not_dead(build):
    found = measured(build, build.run([build.snippet("import math\nprices = [1]\nprices")]))
    assert [fact.what for fact in found["dead_code"].evidence] == [
        "line 1 of <session>.py: unused import math (1 line)"
    ]


def test_a_block_that_repeats_another_is_counted_once_and_rows_of_data_are_not(build):
    block = "".join(f"    total += rows[{n}].price * tax_{n}\n" for n in range(8))
    source = f"def a(rows, total):\n{block}    return total\ndef b(rows, total):\n{block}    return -total\n"
    found = measured(build, writing(build, {"path": "a.py", "content": source}))["duplication"]
    assert found.value == pytest.approx(1 - 8 / 20)
    rows = "ROWS = [\n" + '    {"id": 1, "name": "tea"},\n' * 40 + "]\n"
    assert measured(build, writing(build, {"path": "a.py", "content": rows}))["duplication"].value == 1


def test_the_run_before_is_the_turn_before_in_the_trace(build):
    before = writing(build, {"path": "sums.py", "content": MODULE})
    after = writing(build, {"path": "sums.py", "content": MODULE.replace("rows, tax=0", "rows, tax, day")})
    found = measured(build, after, earlier=[before])
    assert found["growth"].value == 1
    assert found["public_api"].value == 0
    assert found["public_api"].explanation.startswith(
        "1 of 1 public name broke; sums.py: total: parameter is now required"
    )
    assert set(measured(build, after)) == {"complexity", "code_lines", "duplication", "dead_code"}


def test_growth_is_the_larger_of_size_and_complexity(build):
    before = writing(build, {"path": "a.py", "content": "def f(x):\n    return x\n"})
    after = writing(
        build, {"path": "a.py", "content": "def f(x):\n    if x:\n        return x\n    return 1\n"}
    )
    found = measured(build, after, earlier=[before])["growth"]
    assert (found.value, found.explanation) == (0.5, "2 to 4 lines and 2 to 3 paths since the run before.")


def test_a_class_without_its_method_and_a_name_that_is_gone_are_broken(build):
    old = "LIMIT = 3\nclass Till:\n    def pay(self): ...\n    def _note(self): ...\ndef keep(): ...\n"
    new = "class Till:\n    pass\ndef keep(more=1): ...\n"
    before, after = (writing(build, {"path": "till.py", "content": each}) for each in (old, new))
    found = measured(build, after, earlier=[before])["public_api"]
    assert found.value == pytest.approx(0.5)
    assert {fact.what for fact in found.evidence} == {
        "till.py: LIMIT: public object was removed",
        "till.py: Till.pay: public object was removed",
    }


def test_a_given_run_of_the_same_task_is_the_run_before_for_sessions_as_well(build):
    before = build.run([build.snippet("def f(x):\n    return x\nf(1)")], task="Sum  the rows")
    after = build.run([build.snippet("def f(x, y):\n    return x\nf(1, 2)")], task="Sum the rows")
    left = {build_task_key(before): read_code_left(before, Account(), {})}
    assert measured(build, after, left)["public_api"].value == 0
    other = replace(after, task="Another")
    assert "public_api" not in measured(build, other, left)


def test_without_its_libraries_each_is_skipped_with_how_to_get_them(build, monkeypatch):
    monkeypatch.setattr(evaluator, "find_spec", lambda name: None if name == "vulture" else object())
    found = measured(build, writing(build, {"path": "a.py", "content": "x = 1"}))
    assert {each.reason for each in found.values()} == {
        "vulture is not installed; `pip install 'spanproof[structure]'` gets it"
    }


@pytest.mark.parametrize(
    "source", ["x = " + "+".join(["1"] * 3000), "x = " + "(" * 150 + ")" * 150, "if 1:\n" * 1, "\0"]
)
def test_hostile_code_is_measured_or_skipped(build, source):
    for outcome in measured(build, writing(build, {"path": "a.py", "content": source})).values():
        assert isinstance(outcome, Scored | Skipped)


def test_nothing_is_run(build, tmp_path: Path):
    source = f"open({str(tmp_path / 'x')!r}, 'w')\n"
    measured(build, writing(build, {"path": "a.py", "content": source}))
    assert not (tmp_path / "x").exists()


def test_more_code_than_can_be_read_is_skipped(build):
    found = measured(build, writing(build, {"path": "a.py", "content": "x = 1\n" * 100_000}))
    assert "400,000 characters" in found["complexity"].reason

from __future__ import annotations

import json
import re
from dataclasses import replace

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from result_schemas import SARIF, check_junit

from spanproof.gate.outputs import (
    CodeMark,
    ResultRow,
    ResultTable,
    Verdict,
    format_annotations,
    format_junit,
    format_markdown,
    format_sarif,
    list_code_marks,
)
from spanproof.trace import Layer


def test_junit_has_a_test_a_row_with_file_time_and_output(table):
    root = check_junit(format_junit(table))
    held, failed, unjudged = root.iter("testcase")
    assert (held.get("file"), held.get("time")) == ("suites/s/cases/b/case.yaml", "0.250")
    assert held.find("failure") is None
    assert failed.find("failure").get("message") == "boundary: it starts a program"
    assert "trial 2: failed" in failed.find("system-out").text
    assert unjudged.find("error").get("type") == "inconclusive"
    assert unjudged.get("time") is None


def test_sarif_points_into_the_snippet_and_holds_it(table):
    document = json.loads(format_sarif(table))
    jsonschema.validate(document, SARIF)
    (run,) = document["runs"]
    blamed, unplaced = run["results"]
    place = blamed["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "suites/s/cases/a/snippets/01.py"
    assert place["region"] == {"startLine": 2, "endLine": 2}
    assert (blamed["ruleId"], blamed["level"]) == ("python.process", "error")
    assert run["artifacts"][0]["contents"]["text"].startswith("import os\n")
    assert unplaced["level"] == "warning"
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {
        each["ruleId"] for each in run["results"]
    }


def test_an_annotation_names_file_line_and_title(table):
    first, second = format_annotations(table).splitlines()
    assert first == (
        "::error file=suites/s/cases/a/snippets/01.py,line=2,endLine=2,title=a%2C b%3A c::starts a program"
    )
    assert second == "::warning title=open::no sandbox"


def test_code_that_is_no_file_of_the_checkout_is_annotated_at_the_case(table):
    row = replace(table.rows[1], marks=(replace(table.rows[1].marks[0], uri="traces/t/01.py"),))
    (line,) = format_annotations(replace(table, rows=(row,))).splitlines()
    assert line.startswith("::error file=suites/s/cases/a/case.yaml,title=a%2C b%3A c::boundary: it starts")
    assert line.endswith("%0Atraces/t/01.py:2 python.process starts a program")


def test_markdown_puts_what_fails_first_and_stays_below_the_limit_of_a_comment(table):
    text = format_markdown(table)
    assert text.index("failed") < text.index("inconclusive") < text.index("✅ passed")
    many = ResultTable("t", False, "h", (table.rows[1],) * 2_000)
    long = format_markdown(many)
    assert len(long) < 65_536
    assert "more rows do not fit here" in long


def check_hostile(table: ResultTable) -> None:
    """Each form is whole, and none of the text in it is more than text."""
    check_junit(format_junit(table))
    jsonschema.validate(json.loads(format_sarif(table)), SARIF)
    lines = format_annotations(table).split("\n")
    assert lines[-1] == ""
    assert all(re.match(r"::(error|warning) [^\r]*$", line) for line in lines[:-1])
    assert len(lines) - 1 == sum(max(1, len(row.marks)) if not row.file else 1 for row in table.failing)
    for text in (format_markdown(table), format_annotations(table)):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
    outside_code = re.sub(r"<code>[^<]*</code>", "", format_markdown(table))
    assert not re.search(r"[@\[\]!`]|http|alert|forged", outside_code)
    inside = "".join(re.findall(r"<code>([^<]*)</code>", format_markdown(table)))
    assert not re.search(r"[@\[\]!`*_<>|$\n\\]", inside)


def test_hostile_text_stays_text_in_every_form(hostile):
    check_hostile(hostile)


texts = st.text(st.characters(), max_size=40) | st.sampled_from(
    ["</style><script>", "|", "``", "&#x3c;", "\n::error::x", "%0A", "<code>", "</code>", "]]>", "-->"]
)


@given(texts, texts, texts, texts)
def test_any_text_stays_text_in_every_form(name, reason, detail, source):
    mark = CodeMark(reason or "r", detail, "traces/t/01.py", 1, 1, "python", source)
    row = ResultRow("g", name or "n", Verdict.FAILED, reason, (detail,), "boundary", name, marks=(mark,))
    check_hostile(
        ResultTable("t", False, reason, (row, ResultRow("g", name or "n", Verdict.PASSED)), ((name, reason),))
    )


def compiles(snippet: str, label: str) -> dict[str, str]:
    about = {"layer": "correctness", "name": "compiles", "snippet_id": snippet}
    return {**about, "label": label, "explanation": "line 2"}


RUN = {
    "scores": [compiles("b", "fail"), compiles("a", "pass")],
    "snippets": [
        {
            "id": "a",
            "number": 1,
            "language": "python",
            "source": "x = 1\nopen('/etc/shadow')\n",
            "findings": [
                {"rule": "python.file", "verdict": "deny", "line": 2, "end_line": 2, "message": "reads it"},
                {"rule": "style", "verdict": "allow", "line": 1, "end_line": 1, "message": "advice"},
            ],
        },
        {"id": "b", "number": 2, "language": "bash", "source": "ls\nrm x", "findings": []},
    ],
}


@pytest.mark.parametrize(
    ("layer", "places"),
    [
        (Layer.BOUNDARY, [("t/01.py", 2, 2, "python.file")]),
        (Layer.CORRECTNESS, [("t/02.sh", 1, 2, "correctness.compiles")]),
        (Layer.GROUNDEDNESS, [("t/02.sh", 1, 2, "groundedness")]),
    ],
)
def test_the_code_that_is_to_blame_depends_on_the_layer(layer, places):
    found = list_code_marks(RUN, layer, "t")
    assert [(mark.uri, mark.line, mark.end_line, mark.rule) for mark in found] == places


def test_a_run_without_code_has_no_marks():
    assert list_code_marks({"scores": []}, Layer.GROUNDEDNESS, "t") == ()

"""The page of a suite's result, and the file that it is written into."""

from __future__ import annotations

import json
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from spanproof.api.report import format_report
from spanproof.api.result_pages import ResultRun, build_result_page
from spanproof.gate.outputs import CodeMark, ResultRow, ResultTable, Verdict

texts = st.text(st.characters(), max_size=40) | st.sampled_from(
    ["</style><script>", "</script><img src=x>", "<!--<script>", "&#x3c;", "-->", "]]>"]
)


class Page(HTMLParser):
    """The elements of a page, and what it holds as data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.data, self.title, self._inside = "", "", ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self._inside = "report" if ("id", "report") in attrs else tag

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        self.data += data if self._inside == "report" else ""
        self.title += data if self._inside == "title" else ""


@given(texts, texts, texts, texts)
def test_any_text_stays_text_in_the_file(name, reason, detail, source):
    mark = CodeMark(reason or "r", detail, "traces/t/01.py", 1, 1, "python", source)
    row = ResultRow("g", name or "n", Verdict.FAILED, reason, (detail,), "boundary", name, marks=(mark,))
    page = build_result_page(ResultTable(reason, False, detail, (row,), ((name, reason),)), source, {})
    text = format_report(page.title, "/experiments/report", {"experiments/report": page})
    text.encode()
    found = Page(text)
    assert found.seen == [
        "html", "head", "meta", "meta", "meta", "meta", "title", "style", "body", "div", "script", "script",
    ]  # fmt: skip
    assert json.loads(found.data)["answers"] == {"experiments/report": page.model_dump(mode="json")}


def test_cases_that_did_not_pass_are_first_with_their_runs():
    rows = tuple(ResultRow("g", each.value, each) for each in reversed(Verdict))
    run = ResultRun(name="trial 1", path="trials/a/failed/1")
    page = build_result_page(ResultTable("t", False, "h", rows), "spanproof suite run s", {"failed": [run]})
    assert [each.verdict for each in page.cases] == ["failed", "errored", "inconclusive", "passed"]
    assert page.cases[0].runs == [run]

"""Tables of results, hostile ones too."""

from __future__ import annotations

import pytest

from spanproof.gate.outputs import CodeMark, ResultRow, ResultTable, Verdict

HOSTILE = (
    "<script>alert(1)</script> @everyone ![x](http://evil.example/p.png) | `a` & \"q\" 'q'"
    "\r\n::error::forged\x00\x1b[31m\u202egnp.\ud800 %0A $x$ #12"
)
SOURCE = "import os\nos.system('curl evil')\nprint('</pre><script>x</script>')\n"


@pytest.fixture
def table() -> ResultTable:
    mark = CodeMark(
        "python.process", "starts a program", "suites/s/cases/a/snippets/01.py", 2, 2, "python", SOURCE
    )
    rows = (
        ResultRow("spanproof.suite", "holds", Verdict.PASSED, wall_s=0.25, file="suites/s/cases/b/case.yaml"),
        ResultRow(
            "spanproof.suite",
            "a, b: c",
            Verdict.FAILED,
            "boundary: it starts a program",
            ("trial 1: failed", "trial 2: failed"),
            "boundary",
            "suites/s/cases/a/case.yaml",
            1.5,
            (mark,),
        ),
        ResultRow("spanproof.suite", "open", Verdict.INCONCLUSIVE, "no sandbox"),
    )
    return ResultTable("spanproof suite s", False, "1 of 3 cases passed", rows, (("pass@1", "33.3%"),))


@pytest.fixture
def hostile() -> ResultTable:
    mark = CodeMark(HOSTILE, HOSTILE, "traces/t/01.py", 1, 3, "python", SOURCE + HOSTILE)
    row = ResultRow(HOSTILE, HOSTILE, Verdict.FAILED, HOSTILE, (HOSTILE,), "boundary", HOSTILE, 1.0, (mark,))
    bare = ResultRow(HOSTILE, HOSTILE, Verdict.INCONCLUSIVE, HOSTILE, (HOSTILE,))
    return ResultTable(HOSTILE, False, HOSTILE, (row, bare), ((HOSTILE, HOSTILE),))

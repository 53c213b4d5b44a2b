"""JUnit XML, the form in which CI systems read results: a test for each row.

`time` is in seconds, to the millisecond; `file` is what GitLab and CircleCI link a test with. JUnit has
no word for what is open: a property of the suite counts it, and a test that does not pass for it is an
`error`.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from math import fsum

from spanproof.gate.outputs.table import ResultRow, ResultTable, Verdict
from spanproof.gate.outputs.text import format_printable

_ELEMENTS = {Verdict.FAILED: "failure", Verdict.ERRORED: "error", Verdict.INCONCLUSIVE: "error"}


def format_junit(table: ResultTable) -> str:
    """Return the text of a JUnit file with one suite; `failure`: judged and wrong, `error`: not judged."""
    about = {
        "name": format_printable(table.title),
        "tests": str(len(table.rows)),
        "failures": str(table.count(Verdict.FAILED)),
        "errors": str(table.count(Verdict.ERRORED) + table.count(Verdict.INCONCLUSIVE)),
        "time": _format_seconds(fsum(row.wall_s or 0.0 for row in table.rows)),
    }
    root = ET.Element("testsuites", about)
    suite = ET.SubElement(root, "testsuite", {**about, "skipped": "0"})
    if table.open or table.open_remark:
        _add_properties(suite, table)
    for row in table.rows:
        _add_test(suite, row)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add_properties(suite: ET.Element, table: ResultTable) -> None:
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", name="open", value=str(table.open))
    if table.open_remark:
        ET.SubElement(properties, "property", name="open_remark", value=format_printable(table.open_remark))


def _add_test(suite: ET.Element, row: ResultRow) -> None:
    about = {"classname": format_printable(row.group), "name": format_printable(row.name)}
    about |= {"file": format_printable(row.file)} if row.file else {}
    about |= {"time": _format_seconds(row.wall_s)} if row.wall_s is not None else {}
    test = ET.SubElement(suite, "testcase", about)
    if row.verdict in _ELEMENTS:
        problem = ET.SubElement(
            test,
            _ELEMENTS[row.verdict],
            message=format_printable(row.reason),
            type=row.layer or row.verdict.value,
        )
        problem.text = format_printable("\n".join((row.reason, *row.details)))
    if row.reason or row.details:
        ET.SubElement(test, "system-out").text = format_printable(
            "\n".join(filter(None, (row.reason, *row.details)))
        )


def _format_seconds(seconds: float) -> str:
    return f"{seconds:.3f}"

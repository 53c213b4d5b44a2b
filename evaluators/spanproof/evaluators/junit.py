"""JUnit XML, the form in which CI systems read results.

Takes named tests with their problems; gives the text of a file. Names and messages come out of traces, so
whatever XML cannot hold (controls, lone surrogates) becomes U+FFFD.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class ProblemKind(StrEnum):
    """`failure`: judged and wrong. `error`: it could not be judged."""

    FAILURE = "failure"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a test did not pass: one line, then the details."""

    kind: ProblemKind
    message: str
    details: str = ""


@dataclass(frozen=True, slots=True)
class JUnitTest:
    """One test; it passed where it has no problem."""

    group: str
    name: str
    problem: Problem | None = None


def junit_xml(suite: str, tests: Sequence[JUnitTest]) -> str:
    """The text of a JUnit file that holds one suite."""
    kinds = [test.problem.kind for test in tests if test.problem]
    root = ET.Element("testsuites")
    element = ET.SubElement(
        root,
        "testsuite",
        name=_text(suite),
        tests=str(len(tests)),
        failures=str(kinds.count(ProblemKind.FAILURE)),
        errors=str(kinds.count(ProblemKind.ERROR)),
    )
    for test in tests:
        case = ET.SubElement(element, "testcase", classname=_text(test.group), name=_text(test.name))
        if test.problem:
            problem = ET.SubElement(case, test.problem.kind.value, message=_text(test.problem.message))
            problem.text = _text(test.problem.details)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)

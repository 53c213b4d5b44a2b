"""The forms of JUnit XML and of SARIF, as their readers require them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import Any

_COUNT, _SECONDS = r"\d+", r"\d+\.\d{3}"
_COUNTS = {"tests": _COUNT, "failures": _COUNT, "errors": _COUNT, "time": _SECONDS}


@dataclass(frozen=True)
class Element:
    """What an element may hold.

    Attributes:
        required: a pattern by attribute.
        optional: the same.
        children: names of elements in the order they must have; a trailing `*`: any number of them.
    """

    required: dict[str, str]
    optional: dict[str, str]
    children: tuple[str, ...] = ()


JUNIT = {
    "testsuites": Element({"name": r"(?s).*", **_COUNTS}, {}, ("testsuite*",)),
    "testsuite": Element({"name": r"(?s).*", **_COUNTS}, {"skipped": _COUNT}, ("properties", "testcase*")),
    "properties": Element({}, {}, ("property*",)),
    "property": Element({"name": r".+", "value": r"(?s).*"}, {}),
    "testcase": Element(
        {"name": r"(?s).+", "classname": r"(?s).+"},
        {"file": r"(?s).+", "time": _SECONDS},
        ("failure", "error", "system-out"),
    ),
    "failure": Element({"message": r"(?s).*", "type": r".+"}, {}),
    "error": Element({"message": r"(?s).*", "type": r".+"}, {}),
    "system-out": Element({}, {}),
}
"""What GitLab, Jenkins and CircleCI read: their common part of junit-10.xsd, with `file` of a test."""


def check_junit(text: str) -> ET.Element:
    """Return the root of a JUnit file; fails where it is not of the form, or its counts are wrong."""
    root = ET.fromstring(text.encode())
    assert root.tag == "testsuites"
    _check(root)
    for suite in root:
        tests = suite.findall("testcase")
        found = [len(tests), len(suite.findall("*/failure")), len(suite.findall("*/error"))]
        assert found == [int(suite.attrib[name]) for name in ("tests", "failures", "errors")]
    return root


def _check(element: ET.Element) -> None:
    form = JUNIT[element.tag]
    known = form.required | form.optional
    missing = sorted(form.required.keys() - element.attrib.keys())
    unknown = sorted(element.attrib.keys() - known.keys())
    assert not missing, f"{element.tag} lacks {missing}"
    assert not unknown, f"{element.tag} has {unknown}"
    for name, value in element.attrib.items():
        assert re.fullmatch(known[name], value), f"{element.tag} {name}={value!r}"
    names = [child.tag for child in element]
    pattern = "".join(f"(?:{n.rstrip('*')} ){'*' if n.endswith('*') else '?'}" for n in form.children)
    assert re.fullmatch(pattern, "".join(f"{name} " for name in names)), f"{element.tag} holds {names}"
    for child in element:
        _check(child)


_TEXT = {"type": "string", "minLength": 1}
_URI = {"type": "string", "format": "uri-reference", "pattern": r"^[^ <>\"{}|\\^`\x00-\x20]+$"}
_MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": _TEXT}}
_LINE = {"type": "integer", "minimum": 1}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": False,
    }


_LOCATION = _object(
    [],
    physicalLocation=_object(
        ["artifactLocation"],
        artifactLocation=_object(["uri"], uri=_URI),
        region=_object(["startLine"], startLine=_LINE, endLine=_LINE),
    ),
    logicalLocations={"type": "array", "items": _object(["name"], name=_TEXT, kind=_TEXT)},
)
_BAG = _object(["open"], open={"type": "integer", "minimum": 0}, openRemark={"type": "string"})
SARIF: dict[str, Any] = _object(
    ["version", "runs", "$schema"],
    **{"$schema": _URI},
    version={"const": "2.1.0"},
    runs={
        "type": "array",
        "items": _object(
            ["tool", "results"],
            tool=_object(
                ["driver"],
                driver=_object(
                    ["name"],
                    name=_TEXT,
                    version=_TEXT,
                    informationUri=_URI,
                    rules={
                        "type": "array",
                        "uniqueItems": True,
                        "items": _object(
                            ["id"], id=_TEXT, name=_TEXT, shortDescription=_MESSAGE, helpUri=_URI
                        ),
                    },
                ),
            ),
            automationDetails=_object([], id=_TEXT),
            artifacts={
                "type": "array",
                "uniqueItems": True,
                "items": _object(
                    [],
                    location=_object(["uri"], uri=_URI),
                    sourceLanguage=_TEXT,
                    contents=_object(["text"], text={"type": "string"}),
                ),
            },
            properties=_BAG,
            columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            results={
                "type": "array",
                "items": _object(
                    ["message", "ruleId"],
                    ruleId=_TEXT,
                    level={"enum": ["none", "note", "warning", "error"]},
                    message=_MESSAGE,
                    locations={"type": "array", "items": _LOCATION},
                    properties=_BAG,
                    partialFingerprints={"type": "object", "additionalProperties": _TEXT},
                ),
            },
        ),
    },
)
"""What the SARIF 2.1.0 standard requires of the properties that Spanproof writes."""

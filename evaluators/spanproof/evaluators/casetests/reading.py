"""`tests.yaml` of a case, read and checked: every mistake is reported with its place before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from spanproof.evaluators.casetests.model import CaseTests, TestsError
from spanproof.evaluators.invalid import describe_error
from spanproof.sandbox.untrusted_files import (
    MAX_DOCUMENT_BYTES,
    MalformedYamlError,
    UnsafeFileError,
    load_yaml,
    read_beneath,
)


def load_tests(path: Path) -> CaseTests:
    """Load the tests in a file.

    Raises:
        TestsError: the file cannot be read, or is not what it must be.
    """
    try:
        document = load_yaml(read_beneath(path.parent, path.name, MAX_DOCUMENT_BYTES))
    except OSError as problem:
        raise TestsError(f"{path}: {problem.strerror}") from problem
    except UnsafeFileError as problem:
        raise TestsError(f"{path}: {problem}") from problem
    except MalformedYamlError as problem:
        raise TestsError(f"{path}: not YAML: {problem}") from problem
    return read_tests(document, str(path))


def read_tests(document: Any, location: str) -> CaseTests:
    """Build tests from what a YAML or JSON document says.

    Raises:
        TestsError: it is not what it must be; the message starts with `location`.
    """
    if document is None:
        raise TestsError(f"{location}: there is nothing in it; docs/suites.md shows the keys of tests")
    if not isinstance(document, dict):
        raise TestsError(f"{location}: expected a mapping of kinds of tests, got {type(document).__name__}")
    try:
        return CaseTests.model_validate(document)
    except ValidationError as problems:
        first = problems.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = _describe_problem(first)
        if first["type"] == "extra_forbidden":
            if len(first["loc"]) == 1:
                allowed = ", ".join(CaseTests.model_fields)
            else:
                allowed = "those in docs/suites.md"
            message = f"there is no such key; known are {allowed}"
        if len(problems.errors()) > 1:
            more = f" ({len(problems.errors()) - 1} more)"
        else:
            more = ""
        raise TestsError(
            f"{location}: {where}: {message}{more}" if where else f"{location}: {message}{more}"
        ) from problems


def _describe_problem(error: ErrorDetails) -> str:
    if error["loc"][-1:] == ("[key]",) and error["type"] == "string_type":
        return "keys are texts: put it in quotes"
    if error["type"] == "union_tag_invalid":
        return f"there is no such kind of input; known are {error['ctx']['expected_tags']}"
    message = describe_error(error)
    if error["type"] != "invalid-json-value":
        return message
    return f"{message}: write it as JSON would, or make it in tests of your own under `unit`"

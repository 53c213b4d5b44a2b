"""`tests.yaml` of a case, read and checked: every mistake is told with its place before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from spanproof.evaluators.casetests.model import CaseTests, TestsError


def load_tests(path: Path) -> CaseTests:
    """The tests in a file.

    Raises:
        TestsError: the file cannot be read, or is not what it must be.
    """
    try:
        document = yaml.safe_load(path.read_bytes())
    except OSError as problem:
        raise TestsError(f"{path}: {problem.strerror}") from problem
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        raise TestsError(f"{path}: not YAML: {problem}") from problem
    return read_tests(document, str(path))


def read_tests(document: Any, place: str) -> CaseTests:
    """Tests from what a YAML or JSON document says.

    Raises:
        TestsError: it is not what it must be; the message starts with `place`.
    """
    if not isinstance(document, dict):
        raise TestsError(f"{place}: expected a mapping of kinds of tests, got {type(document).__name__}")
    try:
        return CaseTests.model_validate(document)
    except ValidationError as problems:
        first = problems.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        told = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            known = ", ".join(CaseTests.model_fields) if len(first["loc"]) == 1 else "those in docs/suites.md"
            told = f"there is no such key; known are {known}"
        more = f" ({len(problems.errors()) - 1} more)" if len(problems.errors()) > 1 else ""
        raise TestsError(
            f"{place}: {where}: {told}{more}" if where else f"{place}: {told}{more}"
        ) from problems

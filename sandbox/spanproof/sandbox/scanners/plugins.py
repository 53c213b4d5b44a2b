"""Scanners of the user: of installed packages, of Python files that a policy names, and two advisers.

In: the entry points of the group `spanproof.scanners`, a file, or `bandit: true` or `toxicity: true` in a
policy. Out: scanners, as the pipeline runs its own. All are code of others with the rights of the user: a
policy file is as trusted as the program itself. They run in a process of `workers`, and nowhere else. The
advisers change no verdict. The classifier of `alt-profanity-check` (the extra `toxicity`) knows words, not
meanings: it misses polite threats and finds quoted insults.
"""

from __future__ import annotations

import logging
import re
import runpy
import tempfile
from collections.abc import Iterable
from importlib.metadata import entry_points
from itertools import islice
from pathlib import Path
from typing import Any, Final

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.model import Severity, Verdict
from spanproof.sandbox.scanners.rules import Rule
from spanproof.sandbox.scanners.scanner import Scanner
from spanproof.sandbox.scanners.source import Place, Source

GROUP: Final = "spanproof.scanners"

_SHAPE: Final = "a Scanner, a list of them, or a function without arguments that gives either"


def load_installed_scanners() -> tuple[Scanner, ...]:
    """Return the scanners of installed packages, in the order of their names.

    Raises:
        PolicyError: an entry point cannot be loaded or gives no scanner.
    """
    found: list[Scanner] = []
    for point in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        origin = f"entry point {point.name!r} of {GROUP}"
        try:
            loaded = point.load()
        except Exception as problem:
            raise PolicyError(
                f"{origin}: cannot be loaded: {problem}; mend or remove the package"
            ) from problem
        found += _list_scanners(loaded, origin)
    return tuple(found)


def load_scanner_file(file: str) -> tuple[Scanner, ...]:
    """Return the scanners a Python file names `SCANNERS`.

    Raises:
        PolicyError: the file cannot be run, or names no scanners.
    """
    try:
        names = runpy.run_path(file)
    except Exception as problem:
        raise PolicyError(f"scanner file {file}: cannot be run: {problem}; mend the file") from problem
    if "SCANNERS" not in names:
        raise PolicyError(f"scanner file {file}: binds no SCANNERS; give it {_SHAPE}")
    return tuple(_list_scanners(names["SCANNERS"], f"scanner file {file}"))


def _list_scanners(value: object, origin: str) -> list[Scanner]:
    if not isinstance(value, Scanner) and callable(value):
        try:
            value = value()
        except Exception as problem:
            raise PolicyError(f"{origin}: failed: {problem}; mend it") from problem
    found = [value] if isinstance(value, Scanner) else list(value) if isinstance(value, Iterable) else []
    if not found or not all(isinstance(one, Scanner) for one in found):
        raise PolicyError(f"{origin}: gives {type(value).__name__}; give {_SHAPE}")
    return found


def build_bandit_scanner() -> Scanner:
    """Build the scanner that runs bandit.

    Raises:
        PolicyError: bandit is not installed.
    """
    try:
        from bandit.core.config import BanditConfig
        from bandit.core.manager import BanditManager
    except ImportError as missing:
        raise PolicyError(
            f"policy: key 'bandit' needs the package {missing.name!r}; pip install bandit, or leave it out"
        ) from missing
    logging.getLogger("bandit").setLevel(logging.CRITICAL)
    config = BanditConfig()

    def scan(context: Context, source: Source) -> None:
        manager = BanditManager(config, "file", ignore_nosec=True)
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "snippet.py"
            file.write_bytes(source.text.encode("utf-8", "replace"))
            manager.discover_files([str(file)])
            manager.run_tests()
        for issue in manager.get_issue_list():
            _record_issue(context, source, issue)

    return Scanner("bandit", frozenset({"python"}), scan)


def _record_issue(context: Context, source: Source, issue: Any) -> None:
    lines = source.text.split("\n")
    line = min(max(int(issue.lineno), 1), len(lines))
    column = min(max(int(issue.col_offset), 0), len(lines[line - 1])) + 1
    number = int(issue.cwe.id) or None
    rule = Rule(Severity.ADVISORY, Verdict.ALLOW, f"See bandit's {issue.test_id}.", number)
    place = Place(line, column, line, len(lines[line - 1]) + 1)
    context.report_finding(f"bandit.{issue.test}", rule, place, f"{issue.test_id}: {issue.text}")


_SENTENCE: Final = re.compile(r"[^\s.!?][^.!?\n]{0,999}[.!?]*")
# Sentences of a text that are judged.
_MOST: Final = 500

# What a sentence scores at least. Of twelve hostile and fifteen harmless ones, nine and two reach it.
_LEAST: Final = 0.9


def build_toxicity_scanner() -> Scanner:
    """Build the scanner that runs the toxicity classifier.

    Raises:
        PolicyError: the classifier is not installed.
    """
    try:
        from profanity_check import predict_prob  # type: ignore[import-untyped]
    except ImportError as missing:
        raise PolicyError(
            f"policy: key 'toxicity' needs the package {missing.name!r};"
            " pip install 'spanproof[toxicity]', or leave it out"
        ) from missing

    def scan(context: Context, source: Source) -> None:
        sentences = list(islice(_SENTENCE.finditer(source.text), _MOST))
        if not sentences:
            return
        for sentence, score in zip(sentences, predict_prob([one[0] for one in sentences]), strict=True):
            if score >= _LEAST:
                place = source.place(*sentence.span())
                context.add("text.toxic", place, f"reads like an insult or abuse (score {score:.2f})")

    return Scanner("toxicity", frozenset({"text", "markdown"}), scan)

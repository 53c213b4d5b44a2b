"""Bandit as one more adviser: its issues as findings that carry a CWE number and change no verdict.

In: Python. Out: advisory findings `bandit.<test>`. Runs in the process of the user's scanners, as code of
others does, and only with `bandit: true` in the policy.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import Any

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.model import Severity, Verdict
from spanproof.sandbox.scanners.rules import Rule
from spanproof.sandbox.scanners.scanner import Scanner
from spanproof.sandbox.scanners.source import Place, Source


def bandit_scanner() -> Scanner:
    """The scanner.

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
            _report(context, source, issue)

    return Scanner("bandit", frozenset({"python"}), scan)


def _report(context: Context, source: Source, issue: Any) -> None:
    lines = source.text.split("\n")
    line = min(max(int(issue.lineno), 1), len(lines))
    column = min(max(int(issue.col_offset), 0), len(lines[line - 1])) + 1
    number = int(issue.cwe.id) or None
    rule = Rule(Severity.ADVISORY, Verdict.ALLOW, f"See bandit's {issue.test_id}.", number)
    place = Place(line, column, line, len(lines[line - 1]) + 1)
    context.report_finding(f"bandit.{issue.test}", rule, place, f"{issue.test_id}: {issue.text}")

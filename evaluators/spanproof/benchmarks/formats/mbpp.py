"""MBPP, whole and sanitized: a sentence, and assertions that the code must hold.

Fields: `task_id`, `text` or `prompt`, `code`, `test_list`, `test_setup_code` or `test_imports`,
`challenge_test_list`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spanproof.benchmarks.files import get_field, get_list, get_text, iter_rows
from spanproof.benchmarks.model import Answer, Problem
from spanproof.benchmarks.programs import Check, ProgramProblem


def iter_mbpp(path: Path) -> Iterator[Problem]:
    """Yield the problems of MBPP.

    The assertions of `test_list` are part of the prompt, as its authors prescribe.

    Raises:
        BenchmarkError: an entry lacks a field.
    """
    for location, row in iter_rows(path):
        identity = str(get_field(location, row, "task_id"))
        text = get_text(location, row, "text", "prompt")
        asserts = [str(test) for test in get_list(location, row, "test_list")]
        setup = "\n".join([*row.get("test_imports", []), row.get("test_setup_code") or ""]).strip()
        challenges = [str(test) for test in row.get("challenge_test_list") or ()]
        code = row.get("code")
        base = Check(tests="\n".join([setup, *asserts]))
        checks = {"tests": (base,)}
        if challenges:
            checks["challenge"] = (Check(tests="\n".join([setup, *challenges])),)
        yield ProgramProblem(
            id=identity,
            prompt=f'"""\n{text}\n' + "\n".join(asserts) + '\n"""\n',
            reference=Answer(identity, code, is_whole=True) if isinstance(code, str) else None,
            checks=checks,
            public=(base,),
            instruction="Write the Python function that this describes; the assertions must hold.",
            hidden=tuple(challenges),
        )

"""Files that a program writes itself: what it wrote is judged where it is run, loaded or read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_yaml import load_golden

from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_SNIPPETS = load_golden(Path(__file__).parent / "own_files.yaml")
_PIPELINE = Pipeline()


@pytest.mark.parametrize("snippet", _SNIPPETS["allowed"].values(), ids=_SNIPPETS["allowed"])
def test_what_a_program_wrote_itself_may_be_loaded_and_run(snippet: dict[str, str]) -> None:
    scan = _PIPELINE.scan(snippet["language"], snippet["code"])

    assert scan.verdict is Verdict.ALLOW, scan.findings


@pytest.mark.parametrize("snippet", _SNIPPETS["stopped"].values(), ids=_SNIPPETS["stopped"])
def test_what_a_program_wrote_itself_is_judged_by_what_it_holds(snippet: dict[str, str]) -> None:
    assert _PIPELINE.scan(snippet["language"], snippet["code"]).verdict is not Verdict.ALLOW


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("bash a.sh", "is not in the snippet"),
        (
            "echo ls > a.sh\nbash a.sh x\necho pwd > a.sh\nbash a.sh",
            "may have changed since the snippet wrote it",
        ),
        (
            "echo 'print(1)' > a.py\nsed -i s/1/2/ a.py\npython a.py",
            "may have changed since the snippet wrote it",
        ),
        ("echo ls > a.sh\nsed -i s/ls/pwd/ a.sh\n. a.sh", "may have changed since the snippet wrote it"),
    ],
)
def test_a_script_that_is_not_read_says_why(source: str, why: str) -> None:
    messages = [
        one.message for one in _PIPELINE.scan("bash", source).findings if "runs a script" in one.message
    ]

    assert messages
    assert all(message.endswith(why) for message in messages), messages

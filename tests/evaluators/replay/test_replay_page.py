"""The example of the batch interface in docs/replay.md is answered as it says."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

from spanproof.cli.app import run

PAGE = (Path(__file__).parents[3] / "docs" / "replay.md").read_text(encoding="utf-8")


def test_the_run_of_the_page_is_answered_as_the_page_says(monkeypatch, capsysbinary):
    request, answer = (json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(request).encode())))
    assert run(["replay", "--jsonl"]) == 0
    assert json.loads(capsysbinary.readouterr().out) == answer

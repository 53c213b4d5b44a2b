"""Right answers that look like wrong ones: whatever stays open, nothing of them is contradicted."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from spanproof.evaluators.layers.groundedness import Doing, Verdict, build_ledger

GROUPS = yaml.load(
    Path(__file__).with_name("innocent.yaml").read_text(encoding="utf-8"),
    getattr(yaml, "CSafeLoader", yaml.SafeLoader),
)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group["kind"])
def test_no_right_answer_is_contradicted(group):
    now = datetime.fromisoformat(group.get("now", "2025-05-04")).replace(tzinfo=UTC)
    doings = [Doing(tool, "", True, output) for output, tool in enumerate(group.get("calls", ()))]
    accused = []
    for answer in group["answers"]:
        ledger = build_ledger(group["outputs"], answer, group["task"], now=now, doings=doings)
        accused += [
            f"{answer} | {claim.rule}: {claim.text} against {claim.evidence.text if claim.evidence else ''}"
            for claim in ledger.claims
            if claim.verdict is Verdict.CONTRADICTED
        ]
    assert not accused, "\n".join(accused)

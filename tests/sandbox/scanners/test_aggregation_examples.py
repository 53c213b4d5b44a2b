"""The examples of aggregation in docs/scanners.md, as they are written there."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from spanproof.sandbox.policy_file import parse_policy
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_DOCUMENTATION = Path(__file__).parents[3] / "docs" / "scanners.md"
_SNIPPET = "open('/etc/shadow')  # TODO"


def _example(aggregation: str) -> dict[object, object]:
    blocks = _DOCUMENTATION.read_text(encoding="utf-8").split("```yaml\n# policy.yaml\n")[1:]
    texts = [block.partition("```")[0] for block in blocks]
    return dict(
        yaml.safe_load(next(text for text in texts if text.startswith(f"aggregation: {aggregation}")))
    )


@pytest.mark.parametrize(
    ("aggregation", "wanted"),
    [
        ("any", Verdict.DENY),
        ("majority", Verdict.REVIEW),
        ("all", Verdict.REVIEW),
        ("weighted", Verdict.DENY),
    ],
)
def test_the_same_findings_give_the_verdict_that_is_documented(aggregation: str, wanted: Verdict) -> None:
    document = _example("weighted" if aggregation == "weighted" else "any") | {"aggregation": aggregation}

    assert Pipeline(parse_policy(document, "example")).scan("python", _SNIPPET).verdict is wanted

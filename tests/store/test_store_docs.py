from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from spanproof.alerts import AlertRule, Notification, Status, Webhook, read
from spanproof.gate import AssertionSyntaxError, grammar, parse
from spanproof.store.schema import DIMENSIONS, TABLES
from spanproof.suites import CaseStatus
from spanproof.trace import Layer

DOCS = Path(__file__).parents[2] / "docs"


def test_every_table_is_documented():
    text = (DOCS / "store.md").read_text()
    assert [table.name for table in TABLES if f"| `{table.name}` |" not in text] == []


@pytest.mark.parametrize("model", [AlertRule, Webhook])
def test_every_key_of_an_alert_is_documented(model):
    text = (DOCS / "alerts.md").read_text()
    assert [key for key in model.model_fields if f"| `{key}` |" not in text] == []


def test_every_cohort_dimension_is_documented():
    text = (DOCS / "alerts.md").read_text()
    assert [name for name in DIMENSIONS if f"`{name}`" not in text] == []


def test_the_documented_grammar_is_that_of_the_parser():
    rules = [line.strip() for line in grammar.__doc__.splitlines() if line.startswith("    ")]
    documented = [line.strip() for line in (DOCS / "gate.md").read_text().splitlines()]
    assert [rule for rule in rules if rule not in documented] == []


def test_the_documented_error_is_the_parsers():
    (shown,) = [
        line for line in (DOCS / "gate.md").read_text().splitlines() if line.startswith("assertion 'ground")
    ]
    with pytest.raises(AssertionSyntaxError) as caught:
        parse("groundedness.score => 0.85 for all cases")
    assert str(caught.value) == shown


def test_the_documented_rules_are_rules():
    examples = re.findall(r"```yaml\n(.*?)```", (DOCS / "alerts.md").read_text(), re.DOTALL)
    rules = [AlertRule.model_validate(each) for text in examples for each in yaml.safe_load(text)["alerts"]]
    assert [rule.metric for rule in rules] == ["groundedness.score", "trajectory.cost_usd"]


def test_the_documented_notification_has_the_keys_of_a_real_one(embedded):
    example = json.loads((DOCS / "alerts.md").read_text().partition("```json\n")[2].partition("```")[0])
    rule = AlertRule(name="r", layer=Layer.GROUNDEDNESS)
    real = Notification(Status.FIRING, read(rule, embedded, 1), 0, 0).to_json()
    assert example.keys() == real.keys()


def test_every_status_of_a_case_is_documented():
    text = (DOCS / "suites.md").read_text()
    assert [status for status in CaseStatus if f"| `{status.value}` |" not in text] == []


def test_the_queries_of_the_docs_run(embedded):
    text = (DOCS / "store.md").read_text()
    sql = text.partition("```sql\n")[2].partition("```")[0]
    with embedded._connections.lease() as client:
        for statement in filter(str.strip, sql.split(";")):
            client.query(statement)

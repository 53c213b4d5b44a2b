from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest
import yaml

from spanproof.alerts import Alert, AlertRule, Notification, Target
from spanproof.config.alerts import Measure, iter_alert_problems
from spanproof.config.evaluation import Evaluation, JudgeChoice
from spanproof.gate import AssertionSyntaxError, grammar, parse_assertion
from spanproof.store.schema import TABLES
from spanproof.suites import CaseStatus
from spanproof.trace.codec import from_plain
from spanproof.trace.dimensions import DIMENSIONS

DOCS = Path(__file__).parents[2] / "docs"


def test_every_table_is_documented():
    text = (DOCS / "store.md").read_text()
    assert [table.name for table in TABLES if f"| `{table.name}` |" not in text] == []


def test_every_key_of_a_rule_and_every_kind_of_target_is_documented():
    text = (DOCS / "alerts.md").read_text()
    assert [key for key in AlertRule.model_fields if f"| `{key}` |" not in text] == []
    rows = dict(re.findall(r"^\| `(\w+)` \| (`.*?) \|", text, re.MULTILINE))
    assert [measure for measure in Measure if f"`{measure.value}`" not in text] == []
    for member, tag in (get_args(each) for each in get_args(get_args(Target)[0])):
        named = rows.get(tag.tag, "") + "`kind` `name` `timeout_s` `retry_for_s`"
        missing = [key for key in member.model_fields if f"`{key}`" not in named]
        assert not missing, f"document in docs/alerts.md, {tag.tag}: {missing}"


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
        parse_assertion("groundedness.score => 0.85 for all cases")
    assert str(caught.value) == shown


def test_the_documented_rules_are_rules():
    examples = re.findall(r"```yaml\n(.*?)```", (DOCS / "alerts.md").read_text(), re.DOTALL)
    rules = [AlertRule.model_validate(each) for text in examples for each in yaml.safe_load(text)["alerts"]]
    assert len(rules) >= 9
    assert len({rule.name for rule in rules}) == len(rules)
    for text in examples:
        tree = yaml.safe_load(text)
        assert (
            list(
                iter_alert_problems(
                    [AlertRule.model_validate(each) for each in tree["alerts"]],
                    (),
                    JudgeChoice(),
                    Evaluation.model_validate(tree.get("evaluation", {})),
                )
            )
            == []
        )


def test_the_documented_notification_has_the_keys_of_a_real_one():
    example = json.loads((DOCS / "alerts.md").read_text().partition("```json\n")[2].partition("```")[0])
    (alert,) = (from_plain(Alert, each) for each in example["alerts"])
    written = Notification(example["id"], example["rule"], example["at_ns"], (alert,)).to_json()
    assert written == example
    assert list(written["alerts"][0]) == list(example["alerts"][0])


def test_every_status_of_a_case_is_documented():
    text = (DOCS / "suites.md").read_text()
    assert [status for status in CaseStatus if f"| `{status.value}` |" not in text] == []


def test_the_queries_of_the_docs_run(embedded):
    text = (DOCS / "store.md").read_text()
    sql = text.partition("```sql\n")[2].partition("```")[0]
    with embedded._connections.lease() as client:
        for statement in filter(str.strip, sql.split(";")):
            client.query(statement)

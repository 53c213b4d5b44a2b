"""Rules that people make in the console, kept in the store as the YAML of a configuration.

In: the text of a rule, whose `notify` names targets of the configuration: the store keeps no address and no
secret of a target. Out: the rule.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml
from pydantic import ValidationError

from spanproof.config.alerts import AlertRule
from spanproof.config.targets import Target
from spanproof.store.alerts import MadeRule

_log = logging.getLogger(__name__)


class InvalidRuleError(ValueError):
    """A text is no rule; the message names the setting."""


def group_targets(rules: Iterable[AlertRule]) -> dict[str, Target]:
    """Return the targets that rules notify, by the id that the delivery log knows them by."""
    return {target.id: target for rule in rules for target in rule.notify}


def parse_rule(text: str, targets: Mapping[str, Target]) -> AlertRule:
    """Return the rule that YAML describes, alone or as the one item of a list.

    Args:
        text: as in `alerts` of a configuration, except that `notify` is a list of names.
        targets: of the configuration, by the names that may be given.

    Raises:
        InvalidRuleError: it is no rule, or it names a target that is not configured.
    """
    fields = _parse_fields(text)
    names = fields.pop("notify", None) or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InvalidRuleError("notify: name targets of the configuration, such as [oncall-chat]")
    if unknown := [name for name in names if name not in targets]:
        offered = ", ".join(targets) or "none"
        raise InvalidRuleError(f"notify: no target {unknown[0][:100]!r} is configured; there are: {offered}")
    try:
        rule = AlertRule.model_validate(fields)
    except ValidationError as problem:
        first = problem.errors()[0]
        setting = ".".join(str(part) for part in first["loc"]) or "rule"
        raise InvalidRuleError(f"{setting}: {first['msg']}") from problem
    return rule.model_copy(update={"notify": tuple(targets[name] for name in names)})


def _parse_fields(text: str) -> dict[str, Any]:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as problem:
        raise InvalidRuleError(f"rule: this is no YAML: {problem}") from problem
    if isinstance(document, list) and len(document) == 1:
        fields = document[0]
    else:
        fields = document
    if not isinstance(fields, dict):
        raise InvalidRuleError("rule: write one rule, as `name: …` and further keys")
    return fields


def read_made_rule(made: MadeRule, configured: Sequence[AlertRule]) -> AlertRule:
    """Return a rule that a person made, as the configuration of today has it watched.

    Raises:
        InvalidRuleError: it names a target that is gone, or the configuration has a rule of its name.
    """
    if any(rule.name == made.name for rule in configured):
        raise InvalidRuleError("the configuration has a rule of this name, which is watched in its place")
    return parse_rule(made.text, group_targets(configured))


def iter_usable_rules(made: Iterable[MadeRule], configured: Sequence[AlertRule]) -> Iterator[AlertRule]:
    """Yield the rules that people made; those that cannot be watched are logged."""
    for rule in made:
        try:
            yield read_made_rule(rule, configured)
        except InvalidRuleError as problem:
            _log.warning("alert %s, made by %s: %s", rule.name, rule.author, problem)

"""How often would this rule have fired? A rule of an alert, tried over what the store has."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import APIRouter, HTTPException, Request
from pydantic import Field

from spanproof.alerts import AlertRule
from spanproof.alerts.made_rules import InvalidRuleError, group_targets, parse_rule
from spanproof.alerts.messages import describe_bound
from spanproof.alerts.replay import compute_step_s, is_page, iter_stored_notifications
from spanproof.api import pages
from spanproof.api.access import WRITER, Opened
from spanproof.api.models import Answer, Nanoseconds
from spanproof.api.parameters import HOUR_NS
from spanproof.api.problems import build_problem

router = APIRouter()
_REFUSED: dict[int | str, dict[str, Any]] = {
    403: build_problem("this request may not write"),
    415: build_problem("the body is not JSON"),
}
# A week of a rule with a window of 1 h, read every 5 min: the engine takes about a second for so many.
_MOST_READINGS: Final = 12 * 24 * 7
_MOST_SHOWN: Final = 50
RULE_TEXT: Final = "As in `alerts` of a configuration, in YAML; `notify` names targets of the configuration."


class NewTrial(Answer):
    """A rule to be tried."""

    rule: Annotated[
        str,
        Field(min_length=1, max_length=20_000, description=RULE_TEXT),
    ]
    hours: Annotated[float, Field(gt=0, le=24 * 31, description="How far back.")] = 24.0 * 7


class TrialNotification(Answer):
    """A notification that the rule would have made."""

    at_ns: Nanoseconds
    status: str
    summary: str


class RuleTrial(Answer):
    """What the rule would have done."""

    name: str
    bound: str = Field(description="The bound in the unit of the rule.")
    fired: int = Field(description="How often it would have fired; reminders are not counted.")
    step_s: float = Field(description="Seconds between two readings.")
    words: str = Field(description="The result in words: `would have fired 3 times in 7 days`.")
    notifications: list[TrialNotification] = Field(description="The first of them, in order of time.")


@router.post("/alerts/trials", responses=_REFUSED, dependencies=[WRITER])
def try_rule(new_trial: NewTrial, request: Request, store: Opened) -> RuleTrial:
    """Try a rule over the last days; nothing is sent, and nothing is written."""
    rule = read_rule(request, new_trial.rule)
    end_ns = time.time_ns()
    start_ns = end_ns - int(new_trial.hours * HOUR_NS)
    step_s = max(compute_step_s(rule), new_trial.hours * 3600 / _MOST_READINGS)
    fired = 0
    shown: list[TrialNotification] = []
    for item in iter_stored_notifications(rule, store.measures, start_ns, end_ns, step_s):
        fired += is_page(item)
        if len(shown) < _MOST_SHOWN:
            summary = pages.format_text(item.summary)
            shown.append(TrialNotification(at_ns=item.at_ns, status=item.status.value, summary=summary))
    if new_trial.hours > 24:
        days = f"{new_trial.hours / 24:g} days"
    else:
        days = f"{new_trial.hours:g} h"
    return RuleTrial(
        name=pages.format_text(rule.name),
        bound=pages.format_text(describe_bound(rule)),
        fired=fired,
        step_s=step_s,
        words=f"would have fired {fired} {'time' if fired == 1 else 'times'} in the last {days}",
        notifications=shown,
    )


def read_rule(request: Request, text: str) -> AlertRule:
    """Return the rule that a person wrote, with the targets of the configuration that it names.

    Raises:
        HTTPException: 422: it is no rule; the message names the setting.
    """
    try:
        return parse_rule(text, group_targets(request.app.state.settings.rules))
    except InvalidRuleError as problem:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, pages.format_text(str(problem))) from problem

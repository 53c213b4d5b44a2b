"""How often would this rule have fired? A rule of an alert, tried over what the store has."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Annotated, Any, Final

import yaml
from fastapi import APIRouter, HTTPException
from pydantic import Field, ValidationError

from spanproof.alerts import Status
from spanproof.alerts.messages import describe_bound
from spanproof.alerts.replay import choose_step_s, iter_notifications
from spanproof.api import pages
from spanproof.api.access import WRITER, Opened
from spanproof.api.models import Answer, Nanoseconds
from spanproof.api.parameters import HOUR_NS
from spanproof.api.problems import describe_problem
from spanproof.config.alerts import AlertRule

router = APIRouter()
_REFUSED: dict[int | str, dict[str, Any]] = {
    403: describe_problem("this request may not write"),
    415: describe_problem("the body is not JSON"),
}
# A reading is a query over the scores of a window: so many are some seconds.
_MOST_READINGS: Final = 400
_MOST_SHOWN: Final = 50


class NewTrial(Answer):
    """A rule to be tried."""

    rule: Annotated[
        str,
        Field(min_length=1, max_length=20_000, description="As in `alerts` of a configuration, in YAML."),
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
def try_rule(given: NewTrial, store: Opened) -> RuleTrial:
    """Try a rule over the last days; nothing is sent, and nothing is written."""
    rule = _parse_rule(given.rule)
    end_ns = time.time_ns()
    start_ns = end_ns - int(given.hours * HOUR_NS)
    step_s = max(choose_step_s(rule), given.hours * 3600 / _MOST_READINGS)
    made = list(iter_notifications(rule, store.measures, start_ns, end_ns, step_s))
    fired = sum(each.status is Status.FIRING and not each.repeated for each in made)
    days = f"{given.hours / 24:g} days" if given.hours > 24 else f"{given.hours:g} h"
    return RuleTrial(
        name=pages.clean_text(rule.name),
        bound=pages.clean_text(describe_bound(rule)),
        fired=fired,
        step_s=step_s,
        words=f"would have fired {fired} {'time' if fired == 1 else 'times'} in the last {days}",
        notifications=[
            TrialNotification(
                at_ns=each.at_ns, status=each.status.value, summary=pages.clean_text(each.summary)
            )
            for each in made[:_MOST_SHOWN]
        ],
    )


def _parse_rule(text: str) -> AlertRule:
    """Return the rule that YAML describes, alone or as the one item of a list.

    Raises:
        HTTPException: 422: it is no rule; the message names the setting.
    """
    try:
        found = yaml.safe_load(text)
        rule = found[0] if isinstance(found, list) and len(found) == 1 else found
        return AlertRule.model_validate(rule)
    except yaml.YAMLError as problem:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, f"rule: this is no YAML: {problem}") from problem
    except ValidationError as problem:
        first = problem.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "rule"
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, f"{place}: {first['msg']}") from problem

"""Which notifier sends to which kind of target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spanproof.alerts.notifiers.base import Notifier
from spanproof.alerts.notifiers.chat import DiscordNotifier, SlackNotifier, TeamsNotifier
from spanproof.alerts.notifiers.incidents import AlertmanagerNotifier, OpsgenieNotifier, PagerDutyNotifier
from spanproof.alerts.notifiers.issues import GitHubNotifier, GitLabNotifier
from spanproof.alerts.notifiers.jira import JiraNotifier
from spanproof.alerts.notifiers.linear import LinearNotifier
from spanproof.alerts.notifiers.mail import EmailNotifier
from spanproof.alerts.notifiers.program import ExecNotifier
from spanproof.alerts.notifiers.webhook import WebhookNotifier
from spanproof.config.targets import Target

NOTIFIERS: Mapping[str, Callable[[Any], Notifier]] = {
    "webhook": WebhookNotifier,
    "slack": SlackNotifier,
    "teams": TeamsNotifier,
    "discord": DiscordNotifier,
    "pagerduty": PagerDutyNotifier,
    "opsgenie": OpsgenieNotifier,
    "alertmanager": AlertmanagerNotifier,
    "email": EmailNotifier,
    "github": GitHubNotifier,
    "gitlab": GitLabNotifier,
    "linear": LinearNotifier,
    "jira": JiraNotifier,
    "exec": ExecNotifier,
}
"""By the target's `kind`."""


def build_notifier(target: Target) -> Notifier:
    """Return the notifier of a target."""
    return NOTIFIERS[target.kind](target)

"""Chat: Slack, Microsoft Teams, Discord. A notification is one message, whatever alerts it has.

Their webhooks give no way to answer in the thread of an earlier message, so that an update is a message, too.
"""

from __future__ import annotations

import re
from typing import Any

from spanproof.alerts.messages import (
    describe_span,
    format_failures_heading,
    format_line,
    format_title,
    format_utc,
    list_failure_lines,
    list_score_lines,
)
from spanproof.alerts.model import Alert, Status
from spanproof.alerts.notification import Notification, list_member_lines
from spanproof.alerts.notifiers.http import HttpTarget
from spanproof.config.targets import Discord, Slack, Teams

# Of one message with details; the others are in its list of members.
_MOST_ALERTS = 3

_MARKDOWN = re.compile(r"([\\`*_~|>\[\](){}#+\-.!<@])")


class SlackNotifier:
    """Posts to an incoming webhook, in blocks."""

    def __init__(self, target: Slack) -> None:
        self._url = target.url.get_secret_value()
        self._http = HttpTarget(target.kind, target.timeout_s)

    def send(self, notification: Notification) -> None:
        """Post one message."""
        if len(notification.alerts) > 1:
            blocks = _build_slack_overview(notification)
        else:
            blocks = []
        for alert in _select_detailed(notification):
            blocks += _build_slack_blocks(alert)
        body = {
            "text": _format_slack_text(format_line(notification.summary, 500)),
            "attachments": [{"color": _get_colour(notification.status), "blocks": blocks}],
            "unfurl_links": False,
        }
        self._http.send_json(self._url, body)


class TeamsNotifier:
    """Posts an Adaptive Card to a webhook of the Workflows app."""

    def __init__(self, target: Teams) -> None:
        self._url = target.url.get_secret_value()
        self._http = HttpTarget(target.kind, target.timeout_s)

    def send(self, notification: Notification) -> None:
        """Post one card."""
        body: list[dict[str, Any]] = []
        actions = []
        if len(notification.alerts) > 1:
            body.append(_build_teams_text(notification.title, size="medium", weight="bolder"))
            body.append(_build_teams_text(notification.summary))
            body += [_build_teams_list(heading, lines) for heading, lines in _list_members(notification)]
        for alert in _select_detailed(notification):
            colour = "attention" if alert.status is Status.FIRING else "good"
            heading = {"size": "medium", "weight": "bolder", "color": colour}
            body.append(_build_teams_text(format_title(alert), **heading))
            body.append(_build_teams_text(alert.summary))
            if alert.failures:
                body.append(_build_teams_list(format_failures_heading(alert), list_failure_lines(alert)))
            if alert.scores:
                body.append(_build_teams_list("Scores", list_score_lines(alert)))
            if alert.url:
                actions.append(
                    {"type": "Action.OpenUrl", "title": format_title(alert)[:80], "url": alert.url}
                )
        card = {
            "type": "AdaptiveCard",
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "version": "1.4",
            "msteams": {"width": "Full"},
            "body": body,
            "actions": actions,
        }
        kind = "application/vnd.microsoft.card.adaptive"
        message = {"type": "message", "attachments": [{"contentType": kind, "content": card}]}
        self._http.send_json(self._url, message)


class DiscordNotifier:
    """Posts embeds to a webhook; they mention no one."""

    def __init__(self, target: Discord) -> None:
        self._url = target.url.get_secret_value()
        self._http = HttpTarget(target.kind, target.timeout_s)

    def send(self, notification: Notification) -> None:
        """Post one message."""
        embeds: list[dict[str, Any]] = []
        # All embeds of a message have 6,000 characters together.
        room = 5000 // (1 + _MOST_ALERTS)
        if len(notification.alerts) > 1:
            lines = [_format_markdown_text(notification.summary)]
            for heading, members in _list_members(notification):
                lines += [f"**{heading}**", *(f"- {_format_markdown_text(line)}" for line in members)]
            colour = int(_get_colour(notification.status)[1:], 16)
            overview = {"title": notification.title, "description": "\n".join(lines)[:room], "color": colour}
            embeds.append(overview)
        for alert in _select_detailed(notification):
            lines = [_format_markdown_text(alert.summary)]
            lines += [
                f"- {_format_markdown_text(line)}"
                for line in (*list_failure_lines(alert), *list_score_lines(alert))
            ]
            embed: dict[str, Any] = {
                "title": format_title(alert),
                "description": "\n".join(lines)[:room],
                "color": int(_get_colour(alert.status)[1:], 16),
            }
            if alert.url:
                embed["url"] = alert.url
            embeds.append(embed)
        body = {
            "embeds": embeds,
            "allowed_mentions": {"parse": []},
        }
        self._http.send_json(self._url, body)


def _build_slack_overview(notification: Notification) -> list[dict[str, Any]]:
    title = {"type": "plain_text", "text": notification.title, "emoji": False}
    blocks = [
        {"type": "header", "text": title},
        _build_slack_section(_format_slack_text(notification.summary)),
    ]
    for heading, lines in _list_members(notification):
        listed = "\n".join(f"• {_format_slack_text(line)}" for line in lines)
        blocks.append(_build_slack_section(f"*{heading}*\n{listed}"))
    return blocks


def _build_slack_blocks(alert: Alert) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": format_title(alert), "emoji": False}},
        _build_slack_section(_format_slack_text(alert.summary)),
    ]
    if alert.failures:
        lines = "\n".join(f"• {_format_slack_text(line)}" for line in list_failure_lines(alert))
        blocks.append(_build_slack_section(f"*{format_failures_heading(alert)}*\n{lines}"))
    if alert.scores:
        lines = "\n".join(
            f"• {_format_link(score.url, line[:12])}{_format_slack_text(line[12:])}"
            for score, line in zip(alert.scores, list_score_lines(alert), strict=False)
        )
        blocks.append(_build_slack_section(f"*Scores*\n{lines}"))
    parts = [f"since {format_utc(alert.since_ns)}", alert.severity]
    if alert.status is Status.RESOLVED:
        parts[0] += f", for {describe_span((alert.at_ns - alert.since_ns) / 1e9)}"
    link = f" · <{alert.url}|open in the console>" if alert.url else ""
    blocks.append(_build_slack_context(_format_slack_text(" · ".join(parts)) + link))
    return blocks


def _format_link(url: str | None, text: str) -> str:
    if url:
        return f"<{url}|{text}>"
    return _format_slack_text(text)


def _build_slack_section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text[:3000], "verbatim": True}}


def _build_slack_context(text: str) -> dict[str, Any]:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": text, "verbatim": True}]}


def _format_slack_text(text: str) -> str:
    """Return text for Slack: what would be a mention or a link is neither."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _build_teams_text(text: str, **style: Any) -> dict[str, Any]:
    return {
        "type": "TextBlock",
        "text": _format_markdown_text(format_line(text, 1000)),
        "wrap": True,
        **style,
    }


def _build_teams_list(heading: str, lines: tuple[str, ...]) -> dict[str, Any]:
    text = f"**{heading}**\n\n" + "\n".join(f"- {_format_markdown_text(line)}" for line in lines)
    return {"type": "TextBlock", "text": text, "wrap": True}


def _format_markdown_text(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def _select_detailed(notification: Notification) -> tuple[Alert, ...]:
    """Return the alerts that a message shows in full: the worst that fire, or the one that ended."""
    if len(notification.alerts) == 1:
        return notification.alerts
    return notification.firing[:_MOST_ALERTS]


def _list_members(notification: Notification) -> list[tuple[str, tuple[str, ...]]]:
    """Return what fires and what has ended, each with its heading."""
    firing = notification.firing
    found = [
        ("Firing", list_member_lines(firing)),
        ("Ended", list_member_lines(notification.alerts[len(firing) :])),
    ]
    return [(heading, lines) for heading, lines in found if lines]


def _get_colour(status: Status) -> str:
    return "#d1242f" if status is Status.FIRING else "#1a7f37"

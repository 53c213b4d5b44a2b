"""Jira: an incident opens an issue, updates rewrite it, its end moves it to a status that is done.

The incident's id is a label of its issue, by which an issue that exists already is found.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

import orjson

from spanproof.alerts.messages import format_line
from spanproof.alerts.notification import Notification, format_text
from spanproof.alerts.notifiers.http import HttpTarget
from spanproof.config.targets import JiraIssue

_LABEL: Final = "spanproof"
# Key of the category of all statuses that end an issue, whatever a project calls them.
_DONE: Final = "done"

# Characters; a description of Jira has at most 32,767.
_LONGEST_TEXT: Final = 30_000


class JiraNotifier:
    """Opens and ends issues of a project, by the REST API 2, which Jira Cloud and Data Center both have."""

    def __init__(self, target: JiraIssue) -> None:
        self._api = f"{target.url.rstrip('/')}/rest/api/2"
        # Cloud has taken the older path away, and Data Center has no other.
        if target.deployment == "cloud":
            self._search = f"{self._api}/search/jql"
        else:
            self._search = f"{self._api}/search"
        self._fields = {"project": {"key": target.project}, "issuetype": {"name": target.issue_type}}
        self._labels = [_LABEL, *target.labels]
        self._project = target.project
        token = target.token.get_secret_value()
        login = f"Bearer {token}"
        if target.user is not None:
            login = f"Basic {b64encode(f'{target.user}:{token}'.encode()).decode()}"
        self._http = HttpTarget(target.kind, target.timeout_s, {"Authorization": login})

    def send(self, notification: Notification) -> None:
        """Open, update or end the issue of the incident."""
        issue = self._find_issue(notification)
        text = {
            "summary": notification.title,
            "description": _format_block(format_text(notification)),
        }
        if issue is None:
            if notification.firing:
                labels = [*self._labels, _build_label(notification)]
                self._http.send_json(
                    f"{self._api}/issue", {"fields": {**self._fields, **text, "labels": labels}}
                )
            return
        key = quote(str(issue["key"]), safe="")
        if notification.firing:
            self._http.send_request("PUT", f"{self._api}/issue/{key}", orjson.dumps({"fields": text}))
        elif not _is_done(issue["fields"]):
            self._close_issue(f"{self._api}/issue/{key}", notification)

    def _close_issue(self, issue: str, notification: Notification) -> None:
        found = self._http.send_request("GET", f"{issue}/transitions") or {}
        ways = [way["id"] for way in found.get("transitions", ()) if _read_category(way.get("to")) == _DONE]
        # A workflow may have no way to the end from here: then the comment says that the alert has ended.
        if ways:
            self._http.send_json(f"{issue}/transitions", {"transition": {"id": ways[0]}})
        self._http.send_json(f"{issue}/comment", {"body": _format_block(notification.summary)})

    def _find_issue(self, notification: Notification) -> Mapping[str, Any] | None:
        query = f'project = "{self._project}" AND labels = "{_build_label(notification)}"'
        parameters = urlencode({"jql": query, "fields": "status", "maxResults": 1})
        found = self._http.send_request("GET", f"{self._search}?{parameters}")
        issues = found.get("issues") if isinstance(found, dict) else None
        return issues[0] if issues else None


def _build_label(notification: Notification) -> str:
    return f"{_LABEL}-{re.sub(r'[^0-9A-Za-z_-]', '_', notification.incident_id)[:64]}"


def _is_done(fields: Mapping[str, Any]) -> bool:
    return _read_category(fields.get("status")) == _DONE


def _read_category(status: Mapping[str, Any] | None) -> str:
    return str(((status or {}).get("statusCategory") or {}).get("key", ""))


def _format_block(text: str) -> str:
    """Return hostile text in a block of Jira's markup that it cannot close."""
    lines = (format_line(line, 500) for line in text.split("\n"))
    inside = "\n".join(lines).replace("{noformat", "{ noformat")[:_LONGEST_TEXT]
    return f"{{noformat}}\n{inside}\n{{noformat}}"

"""GitHub and GitLab: an incident opens an issue, updates rewrite it, its end closes it with a comment.

The incident's id is in the issue's text, so that an issue which exists already is found and not opened again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from spanproof.alerts.messages import format_line
from spanproof.alerts.notification import Notification, format_text
from spanproof.alerts.notifiers.http import HttpTarget
from spanproof.config.targets import GitHubIssue, GitLabIssue

_LABEL = "spanproof"
_PAGE = 100
_MOST_PAGES = 10


class GitHubNotifier:
    """Opens and closes issues of a repository."""

    def __init__(self, target: GitHubIssue) -> None:
        self._issues = f"{target.url.rstrip('/')}/repos/{target.repository}/issues"
        self._labels = [_LABEL, *target.labels]
        headers = {
            "Authorization": f"Bearer {target.token.get_secret_value()}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        self._http = HttpTarget(target.kind, target.timeout_s, headers)

    def send(self, notification: Notification) -> None:
        """Open, update or close the issue of the incident."""
        issue = self._find_issue(notification)
        text = {"title": notification.title, "body": _format_body(notification)}
        if issue is None:
            if notification.firing:
                self._http.send_json(self._issues, {**text, "labels": self._labels})
            return
        url = f"{self._issues}/{issue['number']}"
        if notification.firing:
            self._http.send_request("PATCH", url, orjson.dumps(text))
        elif issue.get("state") == "open":
            # Closed first: an issue that stays open misleads more than a comment that is missing.
            self._http.send_request("PATCH", url, orjson.dumps({"state": "closed"}))
            self._http.send_json(f"{url}/comments", {"body": format_quoted_line(notification.summary)})

    def _find_issue(self, notification: Notification) -> Mapping[str, Any] | None:
        query = {"labels": _LABEL, "state": "all", "sort": "created", "direction": "desc"}
        found = _fetch_issues(self._http, self._issues, query)
        marker = _build_marker(notification)
        return next((issue for issue in found if marker in (issue.get("body") or "")), None)


class GitLabNotifier:
    """Opens and closes issues of a project."""

    def __init__(self, target: GitLabIssue) -> None:
        project = quote(target.project, safe="")
        self._issues = f"{target.url.rstrip('/')}/api/v4/projects/{project}/issues"
        self._labels = ",".join((_LABEL, *target.labels))
        headers = {"PRIVATE-TOKEN": target.token.get_secret_value()}
        self._http = HttpTarget(target.kind, target.timeout_s, headers)

    def send(self, notification: Notification) -> None:
        """Open, update or close the issue of the incident."""
        issue = self._find_issue(notification)
        text = {"title": notification.title, "description": _format_body(notification)}
        if issue is None:
            if notification.firing:
                self._http.send_json(self._issues, {**text, "labels": self._labels})
            return
        url = f"{self._issues}/{issue['iid']}"
        if notification.firing:
            self._http.send_request("PUT", url, orjson.dumps(text))
        elif issue.get("state") == "opened":
            self._http.send_request("PUT", url, orjson.dumps({"state_event": "close"}))
            self._http.send_json(f"{url}/notes", {"body": format_quoted_line(notification.summary)})

    def _find_issue(self, notification: Notification) -> Mapping[str, Any] | None:
        query = {"labels": _LABEL, "order_by": "created_at", "sort": "desc"}
        found = _fetch_issues(self._http, self._issues, query)
        marker = _build_marker(notification)
        return next((issue for issue in found if marker in (issue.get("description") or "")), None)


def _fetch_issues(http: HttpTarget, url: str, query: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    """Yield the issues that a list has, the newest first."""
    for page in range(1, _MOST_PAGES + 1):
        page_query = urlencode({**query, "per_page": _PAGE, "page": page})
        rows = http.send_request("GET", f"{url}?{page_query}")
        rows = rows if isinstance(rows, list) else []
        yield from (row for row in rows if isinstance(row, dict))
        if len(rows) < _PAGE:
            return


def _build_marker(notification: Notification) -> str:
    return f"<!-- spanproof:{notification.incident_id} -->"


def _format_body(notification: Notification) -> str:
    return f"{describe_incident(notification)}\n\n{_build_marker(notification)}"


def describe_incident(notification: Notification) -> str:
    """Return what an issue in Markdown says of an incident, with a link to the console."""
    lines = (format_line(line, 500) for line in format_text(notification).split("\n"))
    url = notification.alerts[0].url
    return f"{_format_fence(chr(10).join(lines))}\n\n{url}".rstrip()


def format_quoted_line(text: str) -> str:
    """Return hostile text as one line of Markdown that mentions, links and formats nothing."""
    return _format_fence(format_line(text, 500))


def _format_fence(text: str) -> str:
    """Return text in a fence that it cannot close: nothing in it mentions, links or formats."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"

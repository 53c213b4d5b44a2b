"""Linear: an incident opens an issue of a team, updates rewrite it, its end completes it with a comment.

The id of an issue is made from that of its incident, so that one which was sent twice is one issue.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from spanproof.alerts.messages import format_line
from spanproof.alerts.notification import Notification
from spanproof.alerts.notifiers.base import NotDelivered
from spanproof.alerts.notifiers.http import HttpTarget
from spanproof.alerts.notifiers.issues import describe_incident, format_quoted_line
from spanproof.config.targets import LinearIssue

_FIND: Final = """query($id: ID!, $team: String!) {
  issues(filter: {id: {eq: $id}}, includeArchived: true) { nodes { id state { type } } }
  teams(filter: {key: {eqIgnoreCase: $team}}) {
    nodes { id states(filter: {type: {eq: "completed"}}) { nodes { id position } } }
  }
}"""
_OPEN: Final = "mutation($input: IssueCreateInput!) { issueCreate(input: $input) { success } }"
_UPDATE: Final = """mutation($id: String!, $input: IssueUpdateInput!) {
  issueUpdate(id: $id, input: $input) { success }
}"""
_COMMENT: Final = "mutation($input: CommentCreateInput!) { commentCreate(input: $input) { success } }"
_ENDED: Final = frozenset({"completed", "canceled"})
# Codes of errors with which the same request may pass later.
_LATER: Final = frozenset({"RATELIMITED", "INTERNAL_SERVER_ERROR"})


class LinearNotifier:
    """Opens and completes issues of a team."""

    def __init__(self, target: LinearIssue) -> None:
        self._team = target.team
        self._labels = list(target.label_ids)
        self._url = f"{target.url.rstrip('/')}/graphql"
        headers = {"Authorization": target.api_key.get_secret_value()}
        self._http = HttpTarget(target.kind, target.timeout_s, headers)

    def send(self, notification: Notification) -> None:
        """Open, update or complete the issue of the incident."""
        issue_id = _build_issue_id(notification)
        found = self._send_query(_FIND, {"id": issue_id, "team": self._team})
        issue = next(iter(_read_nodes(found, "issues")), None)
        team = next(iter(_read_nodes(found, "teams")), None)
        if team is None:
            raise NotDelivered(f"linear: there is no team with the key {self._team}", refused=True)
        text = {"title": notification.title, "description": describe_incident(notification)}
        if issue is None:
            if notification.firing:
                new = {"id": issue_id, "teamId": team["id"], **text, "labelIds": self._labels}
                self._send_query(_OPEN, {"input": new})
        elif notification.firing:
            self._send_query(_UPDATE, {"id": issue["id"], "input": text})
        else:
            self._close_issue(issue, team, notification)

    def _close_issue(
        self, issue: Mapping[str, Any], team: Mapping[str, Any], notification: Notification
    ) -> None:
        states = sorted(_read_nodes(team, "states"), key=lambda state: float(state["position"]))
        if issue["state"]["type"] in _ENDED or not states:
            return
        # Completed first: an issue that stays open misleads more than a comment that is missing.
        self._send_query(_UPDATE, {"id": issue["id"], "input": {"stateId": states[0]["id"]}})
        comment = {"issueId": issue["id"], "body": format_quoted_line(notification.summary)}
        self._send_query(_COMMENT, {"input": comment})

    def _send_query(self, query: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the data of an answer.

        Raises:
            NotDelivered: no answer, or one with errors, which GraphQL has with status 200 too.
        """
        answer = self._http.send_json(self._url, {"query": query, "variables": variables})
        answer = answer if isinstance(answer, dict) else {}
        if errors := answer.get("errors"):
            code = str((errors[0].get("extensions") or {}).get("code", ""))
            raise NotDelivered(f"linear: {format_line(code, 80) or 'an error'}", refused=code not in _LATER)
        return answer.get("data") or {}


def _read_nodes(found: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return list((found.get(name) or {}).get("nodes") or ())


def _build_issue_id(notification: Notification) -> str:
    """Return the incident's id in the form that Linear demands of ids, that of a UUID of version 4."""
    return str(uuid.UUID(bytes=sha256(notification.incident_id.encode()).digest()[:16], version=4))

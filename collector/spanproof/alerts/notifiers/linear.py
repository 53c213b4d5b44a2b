"""Linear: an alert opens an issue of a team, its end completes it with a comment.

The id of an issue is made from that of its alert, so that one which was sent twice is one issue.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from spanproof.alerts.messages import flatten_line, format_title
from spanproof.alerts.model import Alert, Notification, Status
from spanproof.alerts.notifiers.base import NotDelivered
from spanproof.alerts.notifiers.http import HttpTarget
from spanproof.alerts.notifiers.issues import describe_alert, quote_line
from spanproof.config.targets import LinearIssue

_FIND: Final = """query($id: ID!, $team: String!) {
  issues(filter: {id: {eq: $id}}, includeArchived: true) { nodes { id state { type } } }
  teams(filter: {key: {eqIgnoreCase: $team}}) {
    nodes { id states(filter: {type: {eq: "completed"}}) { nodes { id position } } }
  }
}"""
_OPEN: Final = "mutation($input: IssueCreateInput!) { issueCreate(input: $input) { success } }"
_CLOSE: Final = """mutation($id: String!, $input: IssueUpdateInput!) {
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
        """Open or complete an issue for each alert."""
        for alert in notification.alerts:
            issue_id = _derive_issue_id(alert)
            found = self._send_query(_FIND, {"id": issue_id, "team": self._team})
            known = next(iter(_read_nodes(found, "issues")), None)
            team = next(iter(_read_nodes(found, "teams")), None)
            if team is None:
                raise NotDelivered(f"linear: there is no team with the key {self._team}", refused=True)
            if alert.status is Status.FIRING and known is None:
                issue = {
                    "id": issue_id,
                    "teamId": team["id"],
                    "title": format_title(alert),
                    "description": describe_alert(alert),
                    "labelIds": self._labels,
                }
                self._send_query(_OPEN, {"input": issue})
            elif alert.status is Status.RESOLVED and known is not None:
                self._complete_issue(known, team, alert)

    def _complete_issue(self, known: Mapping[str, Any], team: Mapping[str, Any], alert: Alert) -> None:
        states = sorted(_read_nodes(team, "states"), key=lambda state: float(state["position"]))
        if known["state"]["type"] in _ENDED or not states:
            return
        # Completed first: a comment that is lost says less than an issue that stays open.
        self._send_query(_CLOSE, {"id": known["id"], "input": {"stateId": states[0]["id"]}})
        self._send_query(_COMMENT, {"input": {"issueId": known["id"], "body": quote_line(alert.summary)}})

    def _send_query(self, query: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the data of an answer.

        Raises:
            NotDelivered: no answer, or one with errors, which GraphQL has with status 200 too.
        """
        answer = self._http.post_json(self._url, {"query": query, "variables": variables})
        answer = answer if isinstance(answer, dict) else {}
        if errors := answer.get("errors"):
            code = str((errors[0].get("extensions") or {}).get("code", ""))
            raise NotDelivered(f"linear: {flatten_line(code, 80) or 'an error'}", refused=code not in _LATER)
        return answer.get("data") or {}


def _read_nodes(found: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return list((found.get(name) or {}).get("nodes") or ())


def _derive_issue_id(alert: Alert) -> str:
    """Return the alert's id in the form that Linear demands of ids, that of a UUID of version 4."""
    return str(uuid.UUID(bytes=sha256(alert.id.encode()).digest()[:16], version=4))

"""Webhooks: the JSON document, signed."""

from __future__ import annotations

import hashlib
import hmac
import time

import orjson

from spanproof.alerts.notification import Notification
from spanproof.alerts.notifiers.http import HttpTarget
from spanproof.config.targets import Webhook

SIGNATURE_HEADER = "X-Spanproof-Signature"
KEY_HEADER = "Idempotency-Key"


def build_signature(body: bytes, secret: str, unix_s: int) -> str:
    """Return the value of the signature's header: the time, and an HMAC-SHA256 of time and body."""
    signed = hmac.new(secret.encode(), f"{unix_s}.".encode() + body, hashlib.sha256)
    return f"t={unix_s},v1={signed.hexdigest()}"


class WebhookNotifier:
    """Posts JSON to a URL."""

    def __init__(self, target: Webhook) -> None:
        self._target = target
        headers = {name: value.get_secret_value() for name, value in target.headers.items()}
        self._http = HttpTarget(target.kind, target.timeout_s, headers)

    def send(self, notification: Notification) -> None:
        """Post it."""
        body = orjson.dumps(notification.to_json())
        headers = {KEY_HEADER: notification.id}
        if self._target.secret is not None:
            secret = self._target.secret.get_secret_value()
            headers[SIGNATURE_HEADER] = build_signature(body, secret, int(time.time()))
        self._http.send_request("POST", self._target.url, body, headers)

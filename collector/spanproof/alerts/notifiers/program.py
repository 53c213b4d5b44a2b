"""A program of the operator's own, which gets the JSON document on its standard input."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress

import orjson

from spanproof.alerts.notification import Notification
from spanproof.alerts.notifiers.base import NotDelivered
from spanproof.config.targets import Exec


class ExecNotifier:
    """Starts the program; exit code 0 is a delivery."""

    def __init__(self, target: Exec) -> None:
        self._target = target

    def send(self, notification: Notification) -> None:
        """Run it to its end; at the timeout it is killed with what it started."""
        target = self._target
        environment = {
            **os.environ,
            "SPANPROOF_ALERT_ID": notification.id,
            "SPANPROOF_ALERT_STATUS": notification.status.value,
        }
        name = target.label
        try:
            started = subprocess.Popen(
                target.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        except OSError as problem:
            raise NotDelivered(f"{name}: {problem.strerror}") from None
        try:
            started.communicate(orjson.dumps(notification.to_json()), timeout=target.timeout_s)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
            started.wait()
            raise NotDelivered(f"{name}: it took longer than {target.timeout_s:g} s") from None
        if started.returncode:
            raise NotDelivered(f"{name}: exit code {started.returncode}")

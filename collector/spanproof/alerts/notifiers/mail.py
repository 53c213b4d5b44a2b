"""Mail over SMTP. The notification's id is the message's id, so that one sent again is known for the same."""

from __future__ import annotations

import smtplib
import ssl
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime

from spanproof.alerts.notification import Notification, format_text
from spanproof.alerts.notifiers.base import NotDelivered
from spanproof.config.targets import Email


class EmailNotifier:
    """Sends one plain-text mail."""

    def __init__(self, target: Email) -> None:
        self._target = target

    def send(self, notification: Notification) -> None:
        """Send one mail to all addresses."""
        target = self._target
        receiver = f"email {target.host}:{target.port}"
        try:
            with self._open_connection() as server:
                if target.security == "starttls":
                    server.starttls(context=ssl.create_default_context())
                if target.user is not None and target.password is not None:
                    server.login(target.user, target.password.get_secret_value())
                refused = server.send_message(self._build_message(notification))
        except smtplib.SMTPResponseException as problem:
            raise NotDelivered(
                f"{receiver}: SMTP {problem.smtp_code}", refused=500 <= problem.smtp_code < 600
            ) from None
        except smtplib.SMTPRecipientsRefused as problem:
            codes = sorted({code for code, _ in problem.recipients.values()})
            raise NotDelivered(f"{receiver}: SMTP {codes[0]}", refused=codes[0] >= 500) from None
        except (OSError, smtplib.SMTPException) as problem:
            raise NotDelivered(f"{receiver}: {type(problem).__name__}") from None
        if refused:
            # The others have it: sending again would send it to them twice.
            return

    def _open_connection(self) -> smtplib.SMTP:
        target = self._target
        if target.security == "tls":
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(target.host, target.port, timeout=target.timeout_s, context=context)
        return smtplib.SMTP(target.host, target.port, timeout=target.timeout_s)

    def _build_message(self, notification: Notification) -> EmailMessage:
        message = EmailMessage()
        message["Subject"] = notification.title
        message["From"] = self._target.sender
        message["To"] = ", ".join(self._target.to)
        message["Date"] = format_datetime(datetime.fromtimestamp(notification.at_ns / 1e9, UTC))
        message["Message-ID"] = f"<{notification.id}@spanproof>"
        # Mails about one incident make one thread.
        message["References"] = f"<{notification.incident_id}@spanproof>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(f"{notification.title}\n\n{format_text(notification)}\n")
        return message

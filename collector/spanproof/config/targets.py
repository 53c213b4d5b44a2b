"""Targets of notifications: one section of settings for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Discriminator, Field, SecretStr, Tag, field_validator, model_validator

from spanproof.config.section import Seconds, Section
from spanproof.trace import digest

Url = Annotated[str, Field(pattern=r"^https?://[^\s/]")]


class _Target(Section):
    """What every target has."""

    name: str | None = Field(
        default=None,
        max_length=200,
        pattern=r"\S",
        description="Name in logs and in the delivery log. With a name, you can change the target's address"
        " while notifications wait for it.",
    )
    timeout_s: Seconds = Field(default=10.0, le=60, description="Longest time of one attempt.")
    retry_for_s: Seconds = Field(
        default=86400.0,
        description="How long to retry a notification, with growing pauses, before the server gives up on"
        " it.",
    )

    kind: str

    @property
    def id(self) -> str:
        """The target's id in the delivery log; holds no secret."""
        return self.name or f"{self.kind}:{digest(self._address)[:12]}"

    @property
    def label(self) -> str:
        """Name for people and log lines; holds no secret."""
        return self.name or f"{self.kind} {self._shown}".strip()

    @property
    def _address(self) -> str:
        """What differs between two targets of one kind."""
        raise NotImplementedError

    @property
    def _shown(self) -> str:
        """The part of the address that may be shown."""
        return urlsplit(self._address).netloc.rpartition("@")[2]


class _HookTarget(_Target):
    """A target behind a URL that is a secret by itself."""

    url: SecretStr = Field(description="The webhook's URL. It is a secret: any caller that has it can post.")

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: SecretStr) -> SecretStr:
        parts = urlsplit(url.get_secret_value())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("url is an http:// or https:// URL with a host")
        return url

    @property
    def _address(self) -> str:
        return self.url.get_secret_value()


class Webhook(_Target):
    """Notifications are posted as JSON; docs/alerts.md shows the document."""

    kind: Literal["webhook"] = Field(default="webhook", description="Kind of the target.")
    url: Url = Field(description="An `http://` or `https://` URL.")
    secret: SecretStr | None = Field(
        default=None, description="Key of the signature in `X-Spanproof-Signature`; null sends no signature."
    )
    headers: Mapping[str, SecretStr] = Field(
        default={}, description="Headers sent with every request, such as `Authorization`."
    )

    @property
    def _address(self) -> str:
        return self.url


class Slack(_HookTarget):
    """A Slack channel, by an incoming webhook."""

    kind: Literal["slack"] = Field(description="Kind of the target.")


class Teams(_HookTarget):
    """A Microsoft Teams channel, by a webhook of its Workflows app."""

    kind: Literal["teams"] = Field(description="Kind of the target.")


class Discord(_HookTarget):
    """A Discord channel, by its webhook."""

    kind: Literal["discord"] = Field(description="Kind of the target.")


class PagerDuty(_Target):
    """A service of PagerDuty, by Events API v2: an incident of a rule is one PagerDuty incident."""

    kind: Literal["pagerduty"] = Field(description="Kind of the target.")
    routing_key: SecretStr = Field(description="The integration key of the service.")
    url: Url = Field(default="https://events.pagerduty.com", description="Base URL.")

    @property
    def _address(self) -> str:
        return f"{self.url} {self.routing_key.get_secret_value()}"

    @property
    def _shown(self) -> str:
        return ""


class Opsgenie(_Target):
    """A team of Opsgenie, by its alert API."""

    kind: Literal["opsgenie"] = Field(description="Kind of the target.")
    api_key: SecretStr = Field(description="The API key of the integration.")
    url: Url = Field(
        default="https://api.opsgenie.com", description="Base URL; `https://api.eu.opsgenie.com` in the EU."
    )

    @property
    def _address(self) -> str:
        return f"{self.url} {self.api_key.get_secret_value()}"

    @property
    def _shown(self) -> str:
        return ""


class Alertmanager(_Target):
    """A Prometheus Alertmanager, by its API v2; firing alerts are sent again every `refresh_s`."""

    kind: Literal["alertmanager"] = Field(description="Kind of the target.")
    url: Url = Field(description="Base URL, such as `http://alertmanager:9093`.")
    headers: Mapping[str, SecretStr] = Field(
        default={}, description="Headers sent with every request, such as `Authorization`."
    )
    refresh_s: Seconds = Field(
        default=60.0,
        description="Interval at which firing alerts are posted again; Alertmanager ends an alert that is"
        " not refreshed for four times as long.",
    )

    @property
    def _address(self) -> str:
        return self.url


class Email(_Target):
    """Mail addresses, by an SMTP server."""

    kind: Literal["email"] = Field(description="Kind of the target.")
    host: str = Field(min_length=1, description="The SMTP server.")
    port: int = Field(default=587, gt=0, le=65535, description="Its port.")
    security: Literal["starttls", "tls", "none"] = Field(
        default="starttls",
        description="Encryption of the connection; `tls` from its start, usually on port 465.",
    )
    user: str | None = Field(default=None, description="User name for the login; null: no login.")
    password: SecretStr | None = Field(default=None, description="Password for the login.")
    sender: str = Field(pattern=r"^[^\s@]+@[^\s@]+$", description="Address in `From`.")
    to: tuple[Annotated[str, Field(pattern=r"^[^\s@]+@[^\s@]+$")], ...] = Field(
        min_length=1, description="Recipients' addresses."
    )

    @model_validator(mode="after")
    def _check_login(self) -> Email:
        if self.user is not None and self.password is None:
            raise ValueError("user is given and password is not")
        if self.user is not None and self.security == "none":
            raise ValueError("security: none would send the password in the clear; use starttls or tls")
        return self

    @property
    def _address(self) -> str:
        return f"{self.host}:{self.port} {' '.join(self.to)}"

    @property
    def _shown(self) -> str:
        return self.to[0]


class GitHubIssue(_Target):
    """Issues of a GitHub repository: an incident opens one, its end closes it."""

    kind: Literal["github"] = Field(description="Kind of the target.")
    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$", description="`owner/name`.")
    token: SecretStr = Field(description="A token that may read and write issues.")
    url: Url = Field(default="https://api.github.com", description="Base URL of the API.")
    labels: tuple[str, ...] = Field(default=(), description="Further labels in addition to `spanproof`.")

    @property
    def _address(self) -> str:
        return f"{self.url} {self.repository}"

    @property
    def _shown(self) -> str:
        return self.repository


class GitLabIssue(_Target):
    """Issues of a GitLab project: an incident opens one, its end closes it."""

    kind: Literal["gitlab"] = Field(description="Kind of the target.")
    project: str = Field(min_length=1, description="Number of the project, or its path `group/name`.")
    token: SecretStr = Field(description="A token with the scope `api`.")
    url: Url = Field(default="https://gitlab.com", description="Base URL of the server.")
    labels: tuple[str, ...] = Field(default=(), description="Further labels in addition to `spanproof`.")

    @property
    def _address(self) -> str:
        return f"{self.url} {self.project}"

    @property
    def _shown(self) -> str:
        return self.project


class LinearIssue(_Target):
    """Issues of a Linear team: an incident opens one, its end completes it."""

    kind: Literal["linear"] = Field(description="Kind of the target.")
    team: str = Field(pattern=r"^\w+$", description="The team's key, the prefix of its issues: `OPS`.")
    api_key: SecretStr = Field(description="An API key that may read and write issues.")
    label_ids: tuple[str, ...] = Field(default=(), description="Ids of labels of the issues.")
    url: Url = Field(default="https://api.linear.app", description="Base URL of the API.")

    @property
    def _address(self) -> str:
        return f"{self.url} {self.team}"

    @property
    def _shown(self) -> str:
        return self.team


class JiraIssue(_Target):
    """Issues of a Jira project: an incident opens one, its end moves it to a done status."""

    kind: Literal["jira"] = Field(description="Kind of the target.")
    url: Url = Field(description="Base URL, such as `https://acme.atlassian.net`.")
    project: str = Field(pattern=r"^[A-Za-z]\w*$", description="The project's key: `OPS`.")
    token: SecretStr = Field(description="An API token of the user, or a personal access token.")
    user: str | None = Field(
        default=None,
        description="The user's e-mail address, required by Jira Cloud; null sends only the token, for Data"
        " Center.",
    )
    deployment: Literal["cloud", "data_center"] = Field(
        default="cloud", description="The edition of Jira; the two have different search paths."
    )
    issue_type: str = Field(default="Task", min_length=1, description="Name of the type of its issues.")
    labels: tuple[Annotated[str, Field(pattern=r"^\S+$")], ...] = Field(
        default=(), description="Further labels in addition to `spanproof`; without spaces."
    )

    @model_validator(mode="after")
    def _check_user(self) -> JiraIssue:
        if self.deployment == "cloud" and self.user is None:
            raise ValueError("Jira Cloud takes a token with its user: set user, or deployment: data_center")
        return self

    @property
    def _address(self) -> str:
        return f"{self.url} {self.project}"

    @property
    def _shown(self) -> str:
        return self.project


class Exec(_Target):
    """Your own program: it gets the JSON document on its standard input, and must exit with 0."""

    kind: Literal["exec"] = Field(description="Kind of the target.")
    command: tuple[str, ...] = Field(
        min_length=1, description="The program and its arguments; it does not run in a shell."
    )

    @property
    def _address(self) -> str:
        return "\0".join(self.command)

    @property
    def _shown(self) -> str:
        return self.command[0].rpartition("/")[2]


def _read_kind(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value.get("kind", "webhook")
    return getattr(value, "kind", None)


Target: TypeAlias = Annotated[
    Annotated[Webhook, Tag("webhook")]
    | Annotated[Slack, Tag("slack")]
    | Annotated[Teams, Tag("teams")]
    | Annotated[Discord, Tag("discord")]
    | Annotated[PagerDuty, Tag("pagerduty")]
    | Annotated[Opsgenie, Tag("opsgenie")]
    | Annotated[Alertmanager, Tag("alertmanager")]
    | Annotated[Email, Tag("email")]
    | Annotated[GitHubIssue, Tag("github")]
    | Annotated[GitLabIssue, Tag("gitlab")]
    | Annotated[LinearIssue, Tag("linear")]
    | Annotated[JiraIssue, Tag("jira")]
    | Annotated[Exec, Tag("exec")],
    Discriminator(_read_kind),
]
"""Where notifications go; `kind` says which, and a target without one is a webhook."""

"""What an application of the console is given beside the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spanproof.config.alerts import AlertRule


def _no_readings() -> Sequence[tuple[str, str, float]]:
    return ()


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """Who may read and write, and what is shown beside the store.

    Attributes:
        tokens: readers' tokens, one of which each request of the API must carry as `authorization: Bearer …`.
        writers: writers' tokens, which read, too. Where there are neither, everybody may read and write.
        hosts: names under which it may be called, for a console on loopback: a request under the name of
            another site (DNS rebinding) is refused. Empty: no check.
        workspace: folder of suites, experiments and gate reports.
        configured: key, value and origin of each setting, secrets masked.
        rules: of alerts.
        policy: text of the policy file.
        otlp_http, otlp_grpc: where this process receives spans; empty where it receives none.
        read_health: returns name, meaning and value of each number of the collector.
    """

    tokens: Sequence[str] = ()
    writers: Sequence[str] = ()
    hosts: frozenset[str] = frozenset()
    workspace: Path | None = None
    configured: Sequence[tuple[str, str, str]] = ()
    rules: Sequence[AlertRule] = ()
    policy: str = ""
    otlp_http: str = ""
    otlp_grpc: str = ""
    read_health: Callable[[], Sequence[tuple[str, str, float]]] = _no_readings


READ_BY_ALL = ConsoleSettings()
"""No tokens and nothing beside the store."""

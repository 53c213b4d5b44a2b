"""What an application of the console is given beside the store."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from spanproof.collector.receive.auth import Grant
from spanproof.config.alerts import AlertRule
from spanproof.config.model import JudgeChoice, Role
from spanproof.sandbox import Sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline

if TYPE_CHECKING:
    from spanproof.evaluators.engine import Engine


def _build_default_engine(sandbox: Sandbox) -> Engine:
    # Here and not above: it loads every evaluator, which most requests do without.
    from spanproof.evaluators.engine import Engine

    return Engine(pipeline=Pipeline(), sandbox=sandbox)


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """Rights to read and write, and what the console shows in addition to the store.

    Attributes:
        tokens: readers' tokens, one of which each request of the API must carry as `authorization: Bearer …`.
        writers: writers' tokens, which read, too.
        accepts: returns what is granted to another token that has a role; None: no other is known. Where
            there are neither tokens nor this, every request may read and write.
        read_grants: returns what the holders of the collector's own tokens may do.
        hosts: names under which it may be called, for a console on loopback: a request under the name of
            another site (DNS rebinding) is refused. Empty: no check.
        workspace: folder of suites, experiments and gate reports.
        configured: key, value and origin of each setting, secrets masked.
        rules: of alerts.
        policy: text of the policy file.
        judge: the model that judges what rules leave open.
        otlp_http, otlp_grpc: where this process receives spans; empty where it receives none.
        open_sandbox: opens the sandbox in which edited code is run; None: nothing is run.
        make_engine: returns the engine that judges a run with edited code, over a sandbox.
        read_health: returns name, meaning and value of each number of the collector.
    """

    tokens: Sequence[str] = ()
    writers: Sequence[str] = ()
    accepts: Callable[[str, Role], Grant | None] | None = None
    read_grants: Callable[[], Sequence[Grant]] = tuple
    hosts: frozenset[str] = frozenset()
    workspace: Path | None = None
    configured: Sequence[tuple[str, str, str]] = ()
    rules: Sequence[AlertRule] = ()
    policy: str = ""
    judge: JudgeChoice = field(default_factory=JudgeChoice)
    otlp_http: str = ""
    otlp_grpc: str = ""
    open_sandbox: Callable[[], Sandbox] | None = None
    make_engine: Callable[[Sandbox], Engine] = _build_default_engine
    read_health: Callable[[], Sequence[tuple[str, str, float]]] = tuple

    @property
    def open_to_all(self) -> bool:
        """Whether no token is required."""
        return not self.tokens and not self.writers and self.accepts is None

    def find_reader(self, token: str) -> Grant | None:
        """Return what a reader's or a writer's token grants; None where it is neither's."""
        if self.open_to_all or self._is_one_of(token, (*self.tokens, *self.writers)):
            return Grant(frozenset(Role))
        return self._find_grant(token, Role.READ, Role.WRITE)

    def may_write(self, token: str, project: str | None = None) -> bool:
        """Return whether a token is a writer's, of all projects or of this one.

        What is of no project is for writers of all projects alone.
        """
        if self.open_to_all or self._is_one_of(token, self.writers):
            return True
        grant = self._find_grant(token, Role.WRITE)
        return grant is not None and grant.project in (None, project)

    def get_token_name(self, token: str) -> str:
        """Return what the audit calls the holder of a token that may write."""
        if self.open_to_all:
            return "(no token is required)"
        grant = self._find_grant(token, Role.WRITE)
        return (grant.name if grant else None) or "(a token without a name)"

    def _is_one_of(self, token: str, tokens: Sequence[str]) -> bool:
        # Each is compared, so that the time says nothing about which one was near.
        fits = [hmac.compare_digest(token.encode(), item.encode()) for item in tokens]
        return any(fits)

    def _find_grant(self, token: str, *roles: Role) -> Grant | None:
        if self.accepts is None:
            return None
        return next((grant for role in roles if (grant := self.accepts(token, role))), None)


READ_BY_ALL = ConsoleSettings()
"""No tokens and nothing beside the store."""

"""What happened to alerts, kept so that a restart forgets and repeats nothing.

Comes in: events of alerts, deliveries, silences, acknowledgements. Goes out: the same, the newest of each.
Events and deliveries are written by the process that evaluates the rules; silences and acknowledgements also
by others, through the process that holds an embedded store.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import orjson

from spanproof.store.cells import to_cell
from spanproof.store.connection import Connections
from spanproof.store.decision_tables import (
    ALERT_ACKNOWLEDGEMENTS,
    ALERT_DELIVERIES,
    ALERT_EVENTS,
    ALERT_RULES,
    ALERT_SILENCES,
)
from spanproof.store.single_rows import write_value
from spanproof.store.table import Table


@dataclass(frozen=True, slots=True)
class AlertEvent:
    """One thing that happened to an alert; the newest is its state.

    Attributes:
        fingerprint: of the values the rule groups by.
        episode_ns: when the alert began to be pending; Unix nanoseconds, as all times here.
        sequence: from 0 within the episode.
        status: `pending`, `firing` or `resolved`; `inactive` is pending that ended without firing.
        fired_ns: when it fired; 0: it did not.
        notified_ns: when it was last part of a notification; 0: never.
        notification: the id of the notification it is part of; empty for none.
        targets: ids of the targets that get the notification.
        repeated: whether it says what an earlier notification said.
        document: the alert as JSON.
    """

    rule: str
    fingerprint: str
    episode_ns: int
    sequence: int
    status: str
    at_ns: int
    fired_ns: int
    notified_ns: int
    notification: str
    targets: tuple[str, ...]
    repeated: bool
    document: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """How far a notification got at one target.

    Attributes:
        state: `trying` (or the process ended in the middle of it), `undelivered`, `delivered`, `superseded`
            (a later one says more) or `given_up`.
        attempts: so far.
        error: of the last attempt that failed, with the time of the next one.
    """

    notification: str
    target: str
    rule: str
    state: str
    attempts: int
    error: str
    at_ns: int

    @property
    def is_settled(self) -> bool:
        """Whether nothing more will be tried."""
        return self.state not in ("trying", "undelivered")


@dataclass(frozen=True, slots=True)
class Silence:
    """Alerts whose labels fit start no notification for a while.

    Attributes:
        matchers: label to a pattern with `*` and `?`; all must fit.
    """

    id: str
    matchers: Mapping[str, str]
    starts_ns: int
    ends_ns: int
    author: str
    comment: str


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """Somebody takes care: the alert is not sent again until it is resolved."""

    rule: str
    fingerprint: str
    episode_ns: int
    author: str
    comment: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class MadeRule:
    """A rule that a person made in the console.

    Attributes:
        name: unique among them.
        text: the rule in YAML, as in `alerts` of a configuration; `notify` names targets.
        author: who made it.
        saved_ns: when, Unix nanoseconds.
    """

    name: str
    text: str
    author: str
    saved_ns: int


class AlertLog:
    """The tables of alerts. Every method raises StoreUnavailable or StoreError where the store fails."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def write_events(self, events: Sequence[AlertEvent]) -> None:
        """Write events: all of them, or after a crash none."""
        self._write_rows(ALERT_EVENTS, events)

    def write_delivery(self, delivery: Delivery) -> None:
        """Write how far a notification got; it replaces what was written before."""
        self._write_rows(ALERT_DELIVERIES, [delivery])

    def states(self, limit: int = 10_000) -> list[AlertEvent]:
        """Return the newest event of each alert: of those that are pending or firing, then of the others."""
        # The newest event of an alert is that of its newest episode, and in it the last one.
        newest = (
            f"(rule, fingerprint, episode_ns, sequence) IN (SELECT rule, fingerprint,"  # noqa: S608
            f" max((episode_ns, sequence)).1, max((episode_ns, sequence)).2"
            f" FROM {self._connections.database}.{ALERT_EVENTS.name} GROUP BY rule, fingerprint)"
        )
        order = "status IN ('pending', 'firing') DESC, at_ns DESC, rule, fingerprint LIMIT {limit:UInt32}"
        return self._select_events(newest, {}, order, limit)

    def history(self, limit: int) -> list[AlertEvent]:
        """Return the newest events, the newest first."""
        return self._select_events("1", {}, "at_ns DESC, rule, fingerprint LIMIT {limit:UInt32}", limit)

    def firing_notifications(self, since_ns: int) -> list[AlertEvent]:
        """Return the events with which alerts were notified as firing, of this time or later."""
        return self._select_events(
            "notification != '' AND status = 'firing' AND at_ns >= {since:UInt64}",
            {"since": since_ns},
            "at_ns, rule, fingerprint LIMIT {limit:UInt32}",
            100_000,
        )

    def undelivered(self, since_ns: int) -> list[tuple[AlertEvent, Mapping[str, int]]]:
        """Return events of notifications that some target did not get, with attempts by that target.

        Args:
            since_ns: only notifications of this time or later.
        """
        events = self._select_events(
            "notification != '' AND at_ns >= {since:UInt64}",
            {"since": since_ns},
            "at_ns, rule, fingerprint LIMIT {limit:UInt32}",
            100_000,
        )
        deliveries: dict[tuple[str, str], Delivery] = {
            (delivery.notification, delivery.target): delivery
            for delivery in self.deliveries(since_ns=since_ns)
        }
        found: list[tuple[AlertEvent, Mapping[str, int]]] = []
        for event in events:
            open_ones: dict[str, int] = {}
            for target in event.targets:
                delivery = deliveries.get((event.notification, target))
                if delivery is None or not delivery.is_settled:
                    open_ones[target] = delivery.attempts if delivery else 0
            if open_ones:
                found.append((event, open_ones))
        return found

    def deliveries(
        self, notification: str | None = None, since_ns: int = 0, limit: int = 100_000
    ) -> list[Delivery]:
        """Return deliveries, newest first; of one notification, or of all."""
        rows = self._select(
            ALERT_DELIVERIES,
            Delivery,
            "({id:String} = '' OR notification = {id:String}) AND at_ns >= {since:UInt64}",
            {"id": notification or "", "since": since_ns},
            "at_ns DESC, target LIMIT {limit:UInt32}",
            limit,
        )
        return [Delivery(**row) for row in rows]

    def silences(self, at_ns: int | None = None) -> list[Silence]:
        """Return silences, the newest end first; those in force at a time, or all."""
        rows = self._select(
            ALERT_SILENCES,
            Silence,
            "1" if at_ns is None else "starts_ns <= {at:UInt64} AND ends_ns > {at:UInt64}",
            {} if at_ns is None else {"at": at_ns},
            "ends_ns DESC, id LIMIT {limit:UInt32}",
            10_000,
        )
        return [Silence(**{**row, "matchers": orjson.loads(row["matchers"])}) for row in rows]

    def acknowledgements(self, limit: int = 10_000) -> list[Acknowledgement]:
        """Return acknowledgements, newest first."""
        rows = self._select(
            ALERT_ACKNOWLEDGEMENTS, Acknowledgement, "1", {}, "at_ns DESC LIMIT {limit:UInt32}", limit
        )
        return [Acknowledgement(**row) for row in rows]

    def write_silence(self, silence: Silence) -> None:
        """Write a silence; one of the same id is replaced."""
        write_value(self._connections, ALERT_SILENCES, silence)

    def acknowledge(self, acknowledgement: Acknowledgement) -> None:
        """Write an acknowledgement."""
        write_value(self._connections, ALERT_ACKNOWLEDGEMENTS, acknowledgement)

    def made_rules(self, limit: int = 1_000) -> list[MadeRule]:
        """Return the rules that people made, by name."""
        rows = self._select(ALERT_RULES, MadeRule, "1", {}, "name LIMIT {limit:UInt32}", limit)
        return [MadeRule(**row) for row in rows]

    def save_rule(self, rule: MadeRule) -> None:
        """Keep a rule that a person made; one of the same name is replaced."""
        write_value(self._connections, ALERT_RULES, rule)

    def remove_rule(self, rule: MadeRule) -> None:
        """Remove a rule that a person made."""
        write_value(self._connections, ALERT_RULES, rule, removed=True)

    def _select_events(
        self, condition: str, bound: Mapping[str, Any], order: str, limit: int
    ) -> list[AlertEvent]:
        rows = self._select(ALERT_EVENTS, AlertEvent, condition, bound, order, limit)
        return [
            AlertEvent(**{**row, "targets": tuple(row["targets"]), "repeated": bool(row["repeated"])})
            for row in rows
        ]

    def _select(
        self, table: Table, kind: type, condition: str, bound: Mapping[str, Any], order: str, limit: int
    ) -> list[dict[str, Any]]:
        names = [column.name for column in fields(kind)]
        with self._connections.lease() as client:
            rows = client.query(
                f"SELECT {', '.join(names)} FROM {self._connections.database}.{table.name} FINAL"  # noqa: S608
                f" WHERE {condition} ORDER BY {order}",
                parameters={**bound, "limit": limit},
            ).result_rows
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _write_rows(self, table: Table, values: Sequence[AlertEvent] | Sequence[Delivery]) -> None:
        if not values:
            return
        from spanproof.store.inserting import write_rows  # loads Arrow

        names = [column.name for column in fields(values[0])]
        rows = [
            {**{name: to_cell(getattr(value, name)) for name in names}, "evaluated_ns": time.time_ns()}
            for value in values
        ]
        with self._connections.lease() as client:
            write_rows(client, self._connections.database, table, rows)

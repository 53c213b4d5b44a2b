"""The tables of alerts, and of what people decide: rules, silences, triage, views, reviews, and the audit."""

from __future__ import annotations

from spanproof.store.table import TEXT, VERSIONED, WORD, Table

ALERT_EVENTS = Table(
    # What happened to each alert, in order: the newest event is its state. The rows of one insert are one
    # part, as there are no partitions: all of them are there after a crash, or none.
    "alert_events",
    (
        ("rule", WORD),
        # Of the values it is grouped by: one rule has an alert for each.
        ("fingerprint", "String"),
        # From pending to resolved is an episode, known by its start.
        ("episode_ns", "UInt64"),
        ("sequence", "UInt32"),
        ("status", WORD),
        ("at_ns", "UInt64"),
        ("fired_ns", "UInt64"),
        ("notified_ns", "UInt64"),
        # The notification it is part of, and the targets that get it; empty for none.
        ("notification", "String"),
        ("targets", "Array(LowCardinality(String))"),
        ("repeated", "UInt8"),
        ("document", TEXT),
        *VERSIONED,
    ),
    key=("rule", "fingerprint", "episode_ns", "sequence"),
    partition="",
    shard="rule",
)

ALERT_DELIVERIES = Table(
    # How far each notification got at each target.
    "alert_deliveries",
    (
        ("notification", "String"),
        ("target", WORD),
        ("rule", WORD),
        ("state", WORD),
        ("attempts", "UInt32"),
        ("error", TEXT),
        ("at_ns", "UInt64"),
        *VERSIONED,
    ),
    key=("notification", "target"),
    partition="",
    shard="notification",
)

ALERT_SILENCES = Table(
    "alert_silences",
    (
        ("id", "String"),
        # A JSON object: label to a pattern with `*` and `?`; all must fit.
        ("matchers", TEXT),
        ("starts_ns", "UInt64"),
        ("ends_ns", "UInt64"),
        ("author", "String"),
        ("comment", TEXT),
        *VERSIONED,
    ),
    key=("id",),
    partition="",
    shard="id",
)

ALERT_ACKNOWLEDGEMENTS = Table(
    "alert_acknowledgements",
    (
        ("rule", WORD),
        ("fingerprint", "String"),
        ("episode_ns", "UInt64"),
        ("author", "String"),
        ("comment", TEXT),
        ("at_ns", "UInt64"),
        *VERSIONED,
    ),
    key=("rule", "fingerprint", "episode_ns"),
    partition="",
    shard="rule",
)

ALERT_RULES = Table(
    # Rules that people made in the console, as the YAML of a configuration.
    "alert_rules",
    (
        ("name", "String"),
        ("text", TEXT),
        ("author", "String"),
        ("saved_ns", "UInt64"),
        *VERSIONED,
    ),
    key=("name",),
    partition="",
    shard="name",
)

ALERT_TABLES = (ALERT_EVENTS, ALERT_DELIVERIES, ALERT_SILENCES, ALERT_ACKNOWLEDGEMENTS)

FAILURE_TRIAGE = Table(
    # What people decided about clusters of failures: the latest decision of each action counts.
    "failure_triage",
    (
        ("subject", "String"),
        ("action", WORD),
        ("value", TEXT),
        ("note", TEXT),
        ("changed_ns", "UInt64"),
    ),
    key=("subject", "action"),
    partition="",
    version=("changed_ns",),
    shard="subject",
)

TRIAGE_INSERT = (
    f"INSERT INTO {{database}}.{FAILURE_TRIAGE.name} (subject, action, value, note, changed_ns)"
    " SELECT {subject:String}, {action:String}, {value:String}, {note:String}, {changed:UInt64}"
)
"""How a decision is written; `{database}` is replaced by its name."""

SAVED_VIEWS = Table(
    # Query lines that people keep for all readers of a project; an empty project is every one.
    "saved_views",
    (
        ("project", WORD),
        ("name", "String"),
        ("query", TEXT),
        ("author", "String"),
        ("saved_ns", "UInt64"),
        *VERSIONED,
    ),
    key=("project", "name"),
    partition="",
    shard="name",
)

REVIEW_ASSIGNMENTS = Table(
    # Who reviews a verdict, and by when; an empty assignee takes it back.
    "review_assignments",
    (
        ("project", WORD),
        ("trace_id", "String"),
        ("run_span_id", "String"),
        ("layer", WORD),
        ("assignee", "String"),
        ("due_ns", "UInt64"),
        ("author", "String"),
        ("assigned_ns", "UInt64"),
        *VERSIONED,
    ),
    key=("project", "trace_id", "run_span_id", "layer"),
    partition="",
    shard="trace_id",
)

AUDIT_EVENTS = Table(
    # Who had code run by hand, and of which trace.
    "audit_events",
    (
        ("id", "String"),
        ("at_ns", "UInt64"),
        ("project", WORD),
        ("actor", "String"),
        ("action", WORD),
        ("subject", "String"),
        ("detail", TEXT),
        *VERSIONED,
    ),
    key=("at_ns", "id"),
    partition="",
    shard="id",
)

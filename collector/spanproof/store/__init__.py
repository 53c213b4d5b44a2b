"""The store of evaluations in ClickHouse, in this process or on a server."""

from spanproof.store.alerts import Acknowledgement, AlertEvent, AlertLog, Delivery, MadeRule, Silence
from spanproof.store.dead_letters import DeadLetter
from spanproof.store.errors import (
    AmbiguousTrace,
    QueryRefused,
    SchemaTooNew,
    StoreBusy,
    StoreError,
    StoreUnavailable,
)
from spanproof.store.external import ExternalScore
from spanproof.store.failures import CohortShare, FailingRun, FailureCluster, TriageAction
from spanproof.store.feedback import Feedback, with_feedback
from spanproof.store.leases import Lease
from spanproof.store.store import Store, open_store
from spanproof.store.values import CauseCount, FailRate, FailsWhen, Group, RunRow, TraceRow
from spanproof.store.waiting import Waiting, WaitingTrace

__all__ = [
    "Acknowledgement",
    "AlertEvent",
    "AlertLog",
    "AmbiguousTrace",
    "CauseCount",
    "CohortShare",
    "DeadLetter",
    "Delivery",
    "ExternalScore",
    "FailRate",
    "FailingRun",
    "FailsWhen",
    "FailureCluster",
    "Feedback",
    "Group",
    "Lease",
    "MadeRule",
    "QueryRefused",
    "RunRow",
    "SchemaTooNew",
    "Silence",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoreUnavailable",
    "TraceRow",
    "TriageAction",
    "Waiting",
    "WaitingTrace",
    "open_store",
    "with_feedback",
]

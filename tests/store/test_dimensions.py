"""Dimensions that spans carry: sessions, users and any attribute, beside the columns of a cohort."""

from __future__ import annotations

import json
import time

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.cli.app import run
from spanproof.store import StoreError
from spanproof.store.dimensions import OTHERS
from spanproof.store.queries import MOST_VALUES
from spanproof.trace import Label, Layer, Scored

NOW_NS = time.time_ns()
HOSTILE = "x'] OR 1 = 1 -- {x:String} \\ `"


@pytest.fixture
def stored(evaluation):
    """Return what writes the spans of a run, with attributes, and makes its evaluation."""

    def write(store, number, *, passed, run=(), step=(), resource=()):
        outcome = Scored(1.0, Label.PASS, "fine") if passed else Scored(0.0, Label.FAIL, "wrong")
        made = evaluation(
            number << 100,
            verdicts={Layer.GROUNDEDNESS: outcome},
            start_ns=NOW_NS - 10**9,
            sub_score="compiles",
        )
        request = ExportTraceServiceRequest()
        sent = request.resource_spans.add()
        add_attributes(sent.resource, resource)
        for span, attributes in zip(made.trace.spans, (run, step), strict=True):
            encoded = sent.scope_spans.add().spans.add(
                trace_id=bytes.fromhex(span.trace_id),
                span_id=bytes.fromhex(span.span_id),
                parent_span_id=bytes.fromhex(span.parent_id or ""),
                name=span.name,
                start_time_unix_nano=span.start_ns,
                end_time_unix_nano=span.end_ns,
            )
            add_attributes(encoded, attributes)
        store.write_spans([request], "shop")
        return made

    return write


def add_attributes(message, attributes):
    for key, value in dict(attributes).items():
        message.attributes.add(key=key).value.string_value = value


# Queries over attributes: the ways to reach a store are those of test_store.
pytestmark = pytest.mark.parametrize("shared_store", ["embedded"], indirect=True, scope="module")


@pytest.fixture
def opened(emptied):
    return emptied


def rates(store, by, cohort=(), name="groundedness", layer=Layer.GROUNDEDNESS):
    found = store.groups(layer, name, by, start_ns=0, end_ns=NOW_NS + 10**9, cohort=dict(cohort))
    return {group.values: (group.verdicts.failed, group.verdicts.judged) for group in found}


def test_scores_are_grouped_by_any_attribute_of_spans_or_resources(opened, stored):
    opened.write(
        [
            stored(opened, 1, passed=True, run={"tenant.id": "acme"}),
            stored(opened, 2, passed=False, run={"tenant.id": "acme"}, resource={"tenant.id": "other"}),
            stored(opened, 3, passed=False, resource={"tenant.id": "globex"}),
            stored(opened, 4, passed=True),
        ]
    )
    expected = {("acme",): (1, 2), ("globex",): (1, 1), ("",): (0, 1)}
    assert rates(opened, ["attribute:tenant.id"]) == expected
    both = rates(opened, ["agent", "attribute:tenant.id"])
    assert both == {("pricer", *values): counts for values, counts in expected.items()}
    assert rates(opened, ["agent"], {"attribute:tenant.id": "acme"}) == {("pricer",): (1, 2)}
    assert ("pricer",) not in rates(opened, ["agent"], {"attribute:tenant.id": "acme", "agent": "other"})


def test_the_judged_span_speaks_before_its_run(opened, stored):
    opened.write([stored(opened, 1, passed=True, run={"variant": "a"}, step={"variant": "b"})])
    assert rates(opened, ["attribute:variant"]) == {("a",): (0, 1)}
    assert rates(opened, ["attribute:variant"], name="compiles", layer=Layer.CORRECTNESS) == {("b",): (0, 1)}


def test_sessions_and_users_are_found_in_every_convention(opened, stored):
    opened.write(
        [
            stored(opened, 1, passed=True, run={"session.id": "s1", "enduser.id": "ada"}),
            stored(opened, 2, passed=False, run={"gen_ai.conversation.id": "s1", "user.id": "ben"}),
        ]
    )
    assert rates(opened, ["session"]) == {("s1",): (1, 2)}
    assert rates(opened, ["user"]) == {("ben",): (1, 1), ("ada",): (0, 1)}


def test_values_without_a_bound_become_one_group(opened, stored):
    several = MOST_VALUES + 20
    opened.write(
        [stored(opened, n, passed=n % 2 == 0, run={"user.id": f"u{n}"}) for n in range(1, several + 1)]
    )
    found = rates(opened, ["user"])
    assert len(found) == MOST_VALUES + 1
    assert found[OTHERS,][1] == several - MOST_VALUES
    assert sum(judged for _, judged in found.values()) == several


def test_hostile_keys_and_values_are_only_looked_up(opened, stored):
    opened.write([stored(opened, 1, passed=False, run={HOSTILE: HOSTILE})])
    assert rates(opened, [f"attribute:{HOSTILE}"]) == {(HOSTILE,): (1, 1)}
    assert rates(opened, ["agent"], {f"attribute:{HOSTILE}": HOSTILE}) == {("pricer",): (1, 1)}


def test_the_measures_of_alerts_and_other_reads_take_them_too(opened, stored):
    opened.write(
        [
            stored(opened, 1, passed=True, run={"tenant.id": "acme"}),
            stored(opened, 2, passed=False, run={"tenant.id": "globex"}),
        ]
    )
    cohort = {"attribute:tenant.id": "globex"}
    window = {"start_ns": 0, "end_ns": NOW_NS + 10**9}
    assert opened.fail_rate(Layer.GROUNDEDNESS, cohort=cohort, **window).rate == 1.0
    assert [row.trace_id for row in opened.traces(cohort=cohort)] == [f"{2 << 100:032x}"]
    assert {score.trace_id for score in opened.scores(cohort=cohort)} == {f"{2 << 100:032x}"}
    (cluster,) = opened.failure_clusters(cohort=cohort, **window)
    (share,) = opened.failure_shares(cluster, "attribute:tenant.id", **window)
    assert (share.value, share.failing, share.runs) == ("globex", 1, 1)


@pytest.mark.parametrize("name", ["colour", "attribute:", "attributes:x"])
def test_an_unknown_dimension_is_refused(opened, name):
    with pytest.raises(StoreError, match="attribute:KEY"):
        rates(opened, [name])
    with pytest.raises(StoreError, match="attribute:KEY"):
        rates(opened, [], {name: "x"})


def test_the_command_takes_them(opened, stored, capfd):
    opened.write([stored(opened, 1, passed=False, run={"tenant.id": "acme"})])
    arguments = ["query", "groundedness.score", "--by", "attribute:tenant.id", "--where", "user=", "--json"]
    assert run([*arguments, "--store", opened.name]) == 0
    row = json.loads(capfd.readouterr().out)
    assert (row["attribute:tenant.id"], row["failed"]) == ("acme", 1)

"""Many groups of one rule are one incident, with few updates."""

from __future__ import annotations

from itertools import pairwise

import pytest

from spanproof.alerts import AlertRule, Status
from spanproof.alerts.outage import OutageResult, run_outage_simulation
from spanproof.alerts.replay import count_pages
from spanproof.cli.app import run

TENANTS = 120


@pytest.fixture(scope="module")
def outage() -> OutageResult:
    """120 tenants that fail by one database, which reaches the last of them after a quarter of an hour."""
    settings = {"name": "misquotes", "layer": "groundedness", "group_by": ["user"], "threshold": 0.1}
    return run_outage_simulation(AlertRule.model_validate(settings), TENANTS, 120)


def test_120_tenants_that_fail_by_one_database_are_one_incident(outage):
    assert outage.incidents == 1
    assert outage.most_members == TENANTS
    assert outage.has_ended
    assert outage.pages_by_group >= TENANTS


def test_an_incident_with_its_updates_is_one_page(outage):
    assert count_pages(outage.notifications) == 1


def test_its_updates_pause_twice_as_long_each_time(outage):
    first, *updates, last = outage.notifications
    assert (first.is_update, first.status, last.status) == (False, Status.FIRING, Status.RESOLVED)
    pauses_min = [(later.at_ns - earlier.at_ns) / 60e9 for earlier, later in pairwise((first, *updates))]
    assert len(pauses_min) <= 5
    assert all(pause >= 5 * 2**number for number, pause in enumerate(pauses_min))


def test_every_member_that_was_reported_is_reported_to_end(outage):
    reported = {alert.id for made in outage.notifications for alert in made.firing}
    ended = {
        alert.id for made in outage.notifications for alert in made.alerts if alert.status is Status.RESOLVED
    }
    assert len(reported) == TENANTS
    assert ended == reported


def test_the_cause_is_named_first(outage):
    failing = [made for made in outage.notifications if made.firing and made.firing[0].failures]
    assert max(len(made.firing) for made in failing) == TENANTS
    for made in failing:
        assert len(made.firing) == 1 or made.summary.startswith("misquotes: database is locked, in ")


def test_an_outage_is_simulated_by_a_command(capfd):
    assert run(["alerts", "simulate", "--groups", "6"]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "6 groups: 1 incident," in out

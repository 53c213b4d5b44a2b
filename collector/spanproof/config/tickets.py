"""The section of the configuration that sends clusters of failures to trackers."""

from __future__ import annotations

from pydantic import Field

from spanproof.config.section import Seconds, Section
from spanproof.config.targets import Target


class Tickets(Section):
    """Clusters of failures as tickets of a tracker; see docs/failures.md."""

    notify: tuple[Target, ...] = Field(
        default=(), description="The trackers: `github`, `gitlab`, `linear`, `jira`, `pagerduty`."
    )
    window_s: Seconds = Field(default=30 * 86400.0, description="How far back runs count.")
    min_runs: int = Field(
        default=3, ge=1, description="Number of runs from which a cluster becomes a ticket."
    )
    min_release_runs: int = Field(
        default=20,
        ge=1,
        description="Number of runs of a release without a cluster's failure from which the cluster's ticket"
        " is closed.",
    )
    every_s: Seconds = Field(default=900.0, description="How often the server updates tickets.")

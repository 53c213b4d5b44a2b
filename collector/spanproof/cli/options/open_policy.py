"""The options on what has no verdict: `--open`, and how much must be judged, `--least-judged`."""

from __future__ import annotations

import click

from spanproof.gate import LEAST_JUDGED_SHARE, OpenPolicy


def get_open_policy(chosen: str | None, of_file: OpenPolicy | None) -> OpenPolicy:
    """Return the policy of the option, else that of a file, else the default."""
    if chosen is not None:
        return OpenPolicy(chosen)
    return of_file or OpenPolicy.NOT_PASSED


open_policy_option = click.option(
    "--open",
    "open_as",
    type=click.Choice([policy.value for policy in OpenPolicy]),
    help=(
        "What an open verdict counts as. A file of assertions and suite.yaml may set it as `open`."
        f"  [default: {OpenPolicy.NOT_PASSED.value}]"
    ),
)

least_judged_option = click.option(
    "--least-judged",
    type=click.FloatRange(0, 1),
    help=(
        "Share of the judgeable verdicts that must be judged. Below it the result is inconclusive, and the"
        f" exit code is 1.  [default: {LEAST_JUDGED_SHARE}]"
    ),
)

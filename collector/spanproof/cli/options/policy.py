"""The option `--policy`, and the scan pipeline for it."""

from __future__ import annotations

from pathlib import Path

import click

from spanproof.cli.problems import build_page_url
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.scanners.pipeline import Pipeline

policy_option = click.option(
    "--policy",
    "policy_file",
    metavar="NAME|FILE",
    type=click.Path(path_type=Path),
    help="What agents may do: a preset of `spanproof policy list`, or a YAML file; see"
    f" {build_page_url('policy')}",
)


def load_pipeline(file: Path | None) -> Pipeline:
    """Return the scan pipeline for the policy in a file, for the default policy where there is none.

    Raises:
        PolicyError: it cannot be read or is no policy, or a scanner that it names cannot be loaded.
    """
    return Pipeline(Policy() if file is None else load_policy(file))

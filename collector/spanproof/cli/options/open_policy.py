"""The option `--open`: what an open verdict counts as."""

from __future__ import annotations

import click

from spanproof.gate import OpenPolicy


def choose_open_policy(given: str | None, of_file: OpenPolicy | None) -> OpenPolicy:
    """Return the policy of the option, else that of a file, else the default."""
    if given is not None:
        return OpenPolicy(given)
    return of_file or OpenPolicy.NOT_PASSED


open_policy_option = click.option(
    "--open",
    "open_as",
    type=click.Choice([each.value for each in OpenPolicy]),
    help=(
        "What an open verdict counts as; a file of assertions and suite.yaml may say it under `open`."
        f"  [default: {OpenPolicy.NOT_PASSED.value}]"
    ),
)

"""What commands that scan share: the option `--policy` and the policy that it names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from spanproof.cli.console import UsageProblem
from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.policy import Policy, load_policy

F = TypeVar("F", bound=Callable[..., Any])


def policy_option(command: F) -> F:
    """The option `--policy`; `policy_in` reads it."""
    return click.option(
        "--policy",
        "policy_file",
        type=click.Path(path_type=Path),
        help="A YAML policy of the scanners; see docs/policy.md.",
    )(command)


def policy_in(file: Path | None) -> Policy:
    """The policy of a file, the default one where none is named.

    Raises:
        UsageProblem: it cannot be read or is no policy.
    """
    if file is None:
        return Policy()
    try:
        return load_policy(file)
    except PolicyError as problem:
        raise UsageProblem(str(problem), "docs/policy.md lists every key") from problem

"""What commands that scan share: the option `--policy` and the pipeline that it asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from spanproof.cli.console import UsageProblem
from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.scanners.pipeline import Pipeline

F = TypeVar("F", bound=Callable[..., Any])


def policy_option(command: F) -> F:
    """The option `--policy`; `pipeline_in` reads it."""
    return click.option(
        "--policy",
        "policy_file",
        type=click.Path(path_type=Path),
        help="A YAML policy of the scanners; see docs/policy.md.",
    )(command)


def pipeline_in(file: Path | None) -> Pipeline:
    """The pipeline for the policy of a file, for the default one where none is named.

    Raises:
        UsageProblem: it cannot be read or is no policy, or a scanner that it names cannot be loaded.
    """
    try:
        return Pipeline(Policy() if file is None else load_policy(file))
    except PolicyError as problem:
        raise UsageProblem(str(problem), "docs/policy.md lists every key") from problem

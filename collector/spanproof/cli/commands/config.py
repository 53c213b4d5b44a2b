"""`spanproof config`: check a configuration, show it, print the reference.

A wrong configuration exits with 2 and lists every mistake with its place and the nearest known key.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import yaml

from spanproof.cli.exit_codes import EXIT_MISUSE, EXIT_PASS
from spanproof.cli.options.config import build_mistakes_problem, load_checked, with_config_options
from spanproof.cli.output.console import console, select_attributes, write_json, write_warning
from spanproof.config.model import Config, ConfigError, Problem


@click.group()
def command() -> None:
    """Check a configuration, show it, print the reference."""


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def check(file: Path, as_json: bool) -> int:
    """Check a configuration file and the files it names.

    These are the policy, fixtures, evaluators and rubrics. Exit code 2 where something is wrong; the
    message lists every mistake.
    """
    try:
        config = load_checked(file, {}, {})
        _check_files(config, file)
    except ConfigError as wrong:
        if not as_json:
            raise build_mistakes_problem(wrong) from wrong
        problems = [select_attributes(problem, "place key message") for problem in wrong.problems]
        write_json({"file": str(file), "valid": False, "problems": problems})
        return EXIT_MISUSE
    if as_json:
        write_json({"file": str(file), "valid": True, "warnings": list(config.warnings)})
        return EXIT_PASS
    for warning in config.warnings:
        write_warning(warning)
    console.print(f"{file}: valid")
    return EXIT_PASS


@command.command()
@with_config_options
@click.option("--json", "as_json", is_flag=True, help="JSON instead of YAML.")
def show(config: Config, as_json: bool) -> None:
    """Show the configuration in effect.

    Defaults, file, environment and flags together; secrets are masked.
    """
    shown = config.model_dump(mode="json")
    if as_json:
        write_json(shown)
    else:
        click.echo(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True), nl=False)


@command.command(name="reference")
@click.option("--json", "as_json", is_flag=True, help="The JSON schema instead of Markdown.")
def reference_command(as_json: bool) -> None:
    """Print every key with its type, default and meaning."""
    if as_json:
        write_json(Config.model_json_schema())
    else:
        from spanproof.config.reference import build_reference

        click.echo(build_reference(Config), nl=False)


def _check_files(config: Config, file: Path) -> None:
    """Check that the files which the configuration names can be used.

    Raises:
        ConfigError: names each that cannot.
    """
    from spanproof.config.added_evaluators import load_functions
    from spanproof.evaluators.custom import EvaluatorError
    from spanproof.evaluators.judge import JudgeError, load_rubrics
    from spanproof.evaluators.replay import load_fixtures
    from spanproof.sandbox import BadFixture, PolicyError
    from spanproof.sandbox.policy_file import load_policy

    checks: dict[str, Callable[[], object]] = {"evaluators": lambda: load_functions(config)}
    if (policy := config.policy) is not None:
        checks["policy"] = lambda: load_policy(policy)
    if (fixtures := config.evaluation.fixtures) is not None:
        checks["evaluation.fixtures"] = lambda: load_fixtures(fixtures)
    if (rubrics := config.judge.rubrics) is not None:
        checks["judge.rubrics"] = lambda: load_rubrics(rubrics)
    problems = []
    for key, check_file in checks.items():
        try:
            check_file()
        except (EvaluatorError, PolicyError, BadFixture, JudgeError) as wrong:
            problems.append(Problem(str(file), key, str(wrong)))
    if problems:
        raise ConfigError(problems)

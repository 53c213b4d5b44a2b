"""`spanproof config`: check a configuration, show what holds, print the reference.

A wrong configuration exits with 2 and lists every mistake with its place and the nearest known key.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import click
import yaml

from spanproof.alerts.rules import AlertRule
from spanproof.cli.console import UsageProblem, console, error_console, print_json
from spanproof.config.engine import own_functions
from spanproof.config.model import Config, ConfigError, Problem, load_config
from spanproof.config.reference import reference
from spanproof.evaluators.custom import EvaluatorError
from spanproof.evaluators.judge import JudgeError, load_rubrics
from spanproof.evaluators.replay import load_fixtures
from spanproof.sandbox import BadFixture, PolicyError
from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.registry import backend_names

config_option = click.option(
    "--config",
    "file",
    envvar="SPANPROOF_CONFIG",
    type=click.Path(path_type=Path),
    help="A YAML file; see docs/configuration.md. SPANPROOF_CONFIG names one too.",
)

set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set one key, as in --set assembly.quiet_s=2; beats file and environment.",
)


@click.group()
def command() -> None:
    """Check a configuration, show what holds, print the reference."""


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def check(file: Path, as_json: bool) -> int:
    """Check a configuration file and the files it names.

    These are the policy, fixtures, evaluators and rubrics. Exit code 2 where something is wrong; all of it is
    told at once.
    """
    try:
        config = _load(file, {}, {})
        _check_files(config, file)
    except ConfigError as wrong:
        if not as_json:
            raise _problem(wrong) from wrong
        print_json(
            {
                "file": str(file),
                "valid": False,
                "problems": [
                    {"place": problem.place, "key": problem.key, "message": problem.message}
                    for problem in wrong.problems
                ],
            }
        )
        return 2
    if as_json:
        print_json({"file": str(file), "valid": True, "warnings": list(config.warnings)})
        return 0
    for warning in config.warnings:
        error_console.print(f"[yellow]warning:[/] {warning}")
    console.print(f"{file}: valid")
    return 0


@command.command()
@config_option
@set_option
@click.option("--json", "as_json", is_flag=True, help="JSON instead of YAML.")
def show(file: Path | None, settings: tuple[str, ...], as_json: bool) -> None:
    """Show the configuration that holds.

    Defaults, file, environment and flags together; secrets are masked.
    """
    shown = read_config(file, settings).model_dump(mode="json")
    if as_json:
        print_json(shown)
    else:
        click.echo(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True), nl=False)


@command.command(name="reference")
@click.option("--json", "as_json", is_flag=True, help="The JSON schema instead of Markdown.")
def reference_command(as_json: bool) -> None:
    """Print every key with its type, default and meaning."""
    if as_json:
        print_json(Config.model_json_schema())
    else:
        click.echo(reference(Config), nl=False)


def read_config(
    file: Path | None, settings: tuple[str, ...], environ: Mapping[str, str] | None = None
) -> Config:
    """The configuration of this process.

    Raises:
        UsageProblem: something is wrong with it.
    """
    overrides = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise UsageProblem(f"--set {setting!r} is not KEY=VALUE", "write --set assembly.quiet_s=2")
        overrides[key.strip()] = value
    try:
        return _load(file, _with_store(os.environ if environ is None else environ), overrides)
    except ConfigError as wrong:
        raise _problem(wrong) from wrong


def _with_store(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The environment, with `SPANPROOF_STORE`, which is `--store` of other commands, as the key it means."""
    location = environ.get("SPANPROOF_STORE", "")
    if not location or location.lstrip().startswith("{"):
        return environ
    others = {name: value for name, value in environ.items() if name != "SPANPROOF_STORE"}
    return {"SPANPROOF_STORE__LOCATION": location, **others}


def _load(file: Path | None, environ: Mapping[str, str], overrides: Mapping[str, str]) -> Config:
    config = load_config(file, environ, overrides, alert_rule=AlertRule)
    names = [rule["name"] for rule in config.alerts]
    twice = [
        Problem(str(file or ""), f"alerts.{position}.name", f"{name!r} is the name of an earlier rule too")
        for position, name in enumerate(names)
        if name in names[:position]
    ]
    if twice:
        raise ConfigError(twice)
    if config.sandbox.backend not in backend_names():
        known = ", ".join(backend_names())
        what = f"no backend is named {config.sandbox.backend!r}; known: {known}"
        raise ConfigError([Problem(str(file or ""), "sandbox.backend", what)])
    return config


def _check_files(config: Config, file: Path) -> None:
    """See that the files which the configuration names can be used.

    Raises:
        ConfigError: names each that cannot.
    """
    checks: dict[str, Callable[[], object]] = {"evaluators": lambda: own_functions(config)}
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


def _problem(wrong: ConfigError) -> UsageProblem:
    lines = [str(problem) for problem in wrong.problems]
    what = lines[0] if len(lines) == 1 else "the configuration is not valid:\n    " + "\n    ".join(lines)
    if not any(problem.key for problem in wrong.problems):
        return UsageProblem(what, "give a YAML file of settings; `spanproof config reference` explains them")
    return UsageProblem(what, "`spanproof config reference` lists every key")

"""`spanproof config`: check a configuration, show what holds, print the reference.

A wrong configuration exits with 2 and lists every mistake with its place and the nearest known key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click
import yaml

from spanproof.alerts.rules import AlertRule
from spanproof.cli.console import UsageProblem, console, error_console, print_json
from spanproof.collector.config import Config, ConfigError, Problem, load_config
from spanproof.collector.config_reference import reference

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
    """Check a configuration file; exit 2 where something in it is wrong."""
    try:
        config = _load(file, {}, {})
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
@click.option("--config", "file", type=click.Path(path_type=Path), help="A YAML file.")
@set_option
@click.option("--json", "as_json", is_flag=True, help="JSON instead of YAML.")
def show(file: Path | None, settings: tuple[str, ...], as_json: bool) -> None:
    """Show what holds: defaults, file, environment and flags together. Secrets are masked."""
    shown = read_config(file, settings).model_dump(mode="json")
    if as_json:
        print_json(shown)
    else:
        click.echo(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True), nl=False)


@command.command(name="reference")
def reference_command() -> None:
    """Print every key with its type, default and meaning, as Markdown."""
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
        return _load(file, os.environ if environ is None else environ, overrides)
    except ConfigError as wrong:
        raise _problem(wrong) from wrong


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
    return config


def _problem(wrong: ConfigError) -> UsageProblem:
    lines = [str(problem) for problem in wrong.problems]
    what = lines[0] if len(lines) == 1 else "the configuration is not valid:\n    " + "\n    ".join(lines)
    return UsageProblem(what, "`spanproof config reference` lists every key")

"""The options `--config` and `--set`, and the configuration they give."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from spanproof.cli.documentation import page_url
from spanproof.cli.problems import UsageProblem
from spanproof.config.model import Config, ConfigError, Problem, load_config
from spanproof.sandbox.registry import backend_names

config_option = click.option(
    "--config",
    "file",
    envvar="SPANPROOF_CONFIG",
    show_envvar=True,
    type=click.Path(path_type=Path),
    help=f"A YAML file; see {page_url('configuration')}",
)

set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set one key, as in --set assembly.quiet_s=2; overrides file and environment.",
)


def read_config(
    file: Path | None, settings: tuple[str, ...], environ: Mapping[str, str] | None = None
) -> Config:
    """Return the configuration of this process.

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
        return load_checked(file, _with_store(os.environ if environ is None else environ), overrides)
    except ConfigError as wrong:
        raise describe_mistakes(wrong) from wrong


def _with_store(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment with `SPANPROOF_STORE`, the `--store` of other commands, as the key it means."""
    location = environ.get("SPANPROOF_STORE", "")
    if not location or location.lstrip().startswith("{"):
        return environ
    others = {name: value for name, value in environ.items() if name != "SPANPROOF_STORE"}
    return {"SPANPROOF_STORE__LOCATION": location, **others}


def load_checked(file: Path | None, environ: Mapping[str, str], overrides: Mapping[str, str]) -> Config:
    """Return the configuration from a file, the environment and overrides.

    Raises:
        ConfigError: something is wrong with it; all of it is in the message.
    """
    config = load_config(file, environ, overrides)
    if config.sandbox.backend not in backend_names():
        known = ", ".join(backend_names())
        what = f"no backend is named {config.sandbox.backend!r}; known: {known}"
        raise ConfigError([Problem(str(file or ""), "sandbox.backend", what)])
    return config


def describe_mistakes(wrong: ConfigError) -> UsageProblem:
    """Return every mistake of a configuration in one message."""
    lines = [str(problem) for problem in wrong.problems]
    what = lines[0] if len(lines) == 1 else "the configuration is not valid:\n    " + "\n    ".join(lines)
    if not any(problem.key for problem in wrong.problems):
        return UsageProblem(what, "give a YAML file of settings; `spanproof config reference` lists them")
    return UsageProblem(what, "`spanproof config reference` lists every key")

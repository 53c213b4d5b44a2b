"""The options `--config` and `--set`, and the configuration they give."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click

from spanproof.cli.options.backend import settings_option
from spanproof.cli.options.limits import with_limit_options
from spanproof.cli.problems import UsageProblem, build_page_url
from spanproof.config.model import Config, ConfigError, Problem, load_config
from spanproof.sandbox.registry import list_backends

_config_option = click.option(
    "--config",
    "file",
    envvar="SPANPROOF_CONFIG",
    show_envvar=True,
    type=click.Path(path_type=Path),
    help=f"A YAML file; see {build_page_url('configuration')}",
)


def with_config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--config` and `--set KEY=VALUE`; it is called with `config`."""

    @_config_option
    @click.option(
        "--set",
        "keys",
        multiple=True,
        metavar="KEY=VALUE",
        help="Set one key, as in --set assembly.quiet_s=2; overrides file and environment.",
    )
    @wraps(command)
    def wrapped(*args: Any, file: Path | None, keys: tuple[str, ...], **kwargs: Any) -> Any:
        return command(*args, config=read_config(file, keys), **kwargs)

    return wrapped


def with_sandbox_config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--config`, and options over its sandbox and its limits; it is called with `config`."""

    @click.option(
        "--backend",
        help="Sandbox to run in, instead of the configured one; see `spanproof doctor`.",
    )
    @settings_option
    @_config_option
    @click.option(
        "--step-timeout",
        "step_s",
        type=click.FloatRange(0.01, 3600),
        help="Seconds that a step may take in the replay.",
    )
    @with_limit_options
    @wraps(command)
    def wrapped(
        *args: Any,
        backend: str | None,
        settings: Mapping[str, str],
        file: Path | None,
        step_s: float | None,
        given_limits: Mapping[str, int],
        **kwargs: Any,
    ) -> Any:
        config = read_config(file)
        choice = config.sandbox
        limits = choice.limits.model_copy(update=given_limits)
        if step_s is not None:
            limits = limits.model_copy(update={"wall_s": step_s})
        # Settings of another backend do not carry over.
        kept = choice.settings if backend in (None, choice.backend) else {}
        chosen = {"backend": backend or choice.backend, "settings": {**kept, **settings}, "limits": limits}
        overridden = config.model_copy(update={"sandbox": choice.model_copy(update=chosen)})
        return command(*args, config=overridden, **kwargs)

    return wrapped


def read_config(file: Path | None, settings: tuple[str, ...] = ()) -> Config:
    """Return the configuration of this process, from a file, the environment and `KEY=VALUE` settings.

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
        return load_checked(file, _with_store(os.environ), overrides)
    except ConfigError as wrong:
        raise build_mistakes_problem(wrong) from wrong


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
    if config.sandbox.backend not in list_backends():
        backends = ", ".join(list_backends())
        what = f"no backend is named {config.sandbox.backend!r}; known: {backends}"
        raise ConfigError([Problem(str(file or ""), "sandbox.backend", what)])
    return config


def build_mistakes_problem(wrong: ConfigError) -> UsageProblem:
    """Return every mistake of a configuration in one message."""
    lines = [str(problem) for problem in wrong.problems]
    if len(lines) == 1:
        what = lines[0]
    else:
        what = "the configuration is not valid:\n    " + "\n    ".join(lines)
    if not any(problem.key for problem in wrong.problems):
        return UsageProblem(what, "give a YAML file of settings; `spanproof config reference` lists them")
    return UsageProblem(what, "`spanproof config reference` lists every key")

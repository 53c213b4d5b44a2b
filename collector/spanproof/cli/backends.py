"""Which sandbox a command runs in: the options it takes, and the sandbox they open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from spanproof.cli.builds import show_builds
from spanproof.cli.console import UsageProblem
from spanproof.config.model import Config
from spanproof.sandbox import BadSetting, Sandbox, SandboxUnavailable
from spanproof.sandbox.registry import backend_names, open_sandbox

DEFAULT_BACKEND = "jail"

Command = TypeVar("Command", bound=Callable[..., Any])


def _settings(_context: click.Context, _option: click.Parameter, pairs: tuple[str, ...]) -> dict[str, str]:
    split = [pair.partition("=") for pair in pairs]
    for name, sign, _value in split:
        if not (name and sign):
            raise UsageProblem(f"--set {name!r} is no NAME=VALUE", "for example: --set tier=full")
    return {name: value for name, _sign, value in split}


def settings_option(command: Command) -> Command:
    """Give a command `--set`."""
    return click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_settings,
        help="A setting of the backend; may be given several times.",
    )(command)


def backend_options(command: Command) -> Command:
    """Give a command `--backend` and `--set`."""
    return click.option(
        "--backend",
        default=DEFAULT_BACKEND,
        show_default=True,
        help="Which sandbox to run in; see `spanproof doctor`.",
    )(settings_option(command))


def configured_backend_options(command: Command) -> Command:
    """Give a command that has a configuration `--backend` and `--set`, which `in_backend` lays over it."""
    return click.option(
        "--backend",
        help="Which sandbox to run in, instead of the configuration's; see `spanproof doctor`.",
    )(settings_option(command))


def in_backend(config: Config, backend: str | None, settings: Mapping[str, str]) -> Config:
    """The configuration with the sandbox asked for; settings of another backend do not carry over."""
    choice = config.sandbox
    kept = choice.settings if backend in (None, choice.backend) else {}
    asked = {"backend": backend or choice.backend, "settings": {**kept, **settings}}
    return config.model_copy(update={"sandbox": choice.model_copy(update=asked)})


def opened(backend: str, settings: Mapping[str, str], workers: int = 1) -> Sandbox:
    """The sandbox asked for; nothing is started yet.

    Raises:
        UsageProblem: there is none of this name, or it does not take the settings.
    """
    show_builds()
    try:
        return open_sandbox(backend, workers=workers, settings=settings)
    except SandboxUnavailable as problem:
        raise UsageProblem(str(problem), f"name one of: {', '.join(backend_names())}") from problem
    except BadSetting as problem:
        raise UsageProblem(str(problem), "docs/sandbox.md lists the settings of each backend") from problem

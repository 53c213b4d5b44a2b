"""The options `--backend`, `--set` and `--workers`, and the sandbox they open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from spanproof.cli.output.builds import show_builds
from spanproof.cli.problems import UsageProblem
from spanproof.config.model import Config
from spanproof.sandbox import Sandbox, SandboxUnavailable
from spanproof.sandbox.registry import backend_names, open_sandbox

DEFAULT_BACKEND = "jail"

Command = TypeVar("Command", bound=Callable[..., Any])


def _parse_settings(
    _context: click.Context, _option: click.Parameter, pairs: tuple[str, ...]
) -> dict[str, str]:
    split = [pair.partition("=") for pair in pairs]
    for name, sign, _value in split:
        if not (name and sign):
            raise UsageProblem(f"--set {name!r} is not NAME=VALUE", "for example: --set tier=full")
    return {name: value for name, _sign, value in split}


settings_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_parse_settings,
    help="A setting of the backend; may be given several times.",
)
workers_option = click.option(
    "--workers", default=1, show_default=True, type=click.IntRange(1, 256), help="How many run at once."
)


def backend_options(command: Command) -> Command:
    """Give a command `--backend` and `--set`."""
    help_ = "Which sandbox to run in; see `spanproof doctor`."
    option = click.option("--backend", default=DEFAULT_BACKEND, show_default=True, help=help_)
    return option(settings_option(command))


def configured_backend_options(command: Command) -> Command:
    """Give a command with a configuration `--backend` and `--set`, which `override_backend` applies."""
    help_ = "Which sandbox to run in, instead of the configuration's; see `spanproof doctor`."
    return click.option("--backend", help=help_)(settings_option(command))


def override_backend(config: Config, backend: str | None, settings: Mapping[str, str]) -> Config:
    """Return the configuration with the given sandbox; settings of another backend do not carry over."""
    choice = config.sandbox
    kept = choice.settings if backend in (None, choice.backend) else {}
    chosen = {"backend": backend or choice.backend, "settings": {**kept, **settings}}
    return config.model_copy(update={"sandbox": choice.model_copy(update=chosen)})


def open_backend(backend: str, settings: Mapping[str, str], workers: int = 1) -> Sandbox:
    """Return the sandbox of this name; nothing is started yet.

    Raises:
        UsageProblem: there is none of this name.
        BadSetting: it does not take the settings.
    """
    show_builds()
    try:
        return open_sandbox(backend, workers=workers, settings=settings)
    except SandboxUnavailable as problem:
        raise UsageProblem(str(problem), f"name one of: {', '.join(backend_names())}") from problem

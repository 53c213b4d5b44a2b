"""The options `--backend`, `--set` and `--workers`, and the sandbox they open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from spanproof.cli.output.console import start_build_log
from spanproof.cli.problems import UsageProblem
from spanproof.sandbox import Sandbox, SandboxUnavailable
from spanproof.sandbox.registry import list_backends, open_sandbox

DEFAULT_BACKEND = "jail"


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
    help="Set one setting of the backend; may be given several times.",
)
workers_option = click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1, 256),
    help="How many programs run at once.",
)


def with_backend_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--backend` and `--set`; it is called with `backend` and `settings`."""
    help_ = "Sandbox to run in; see `spanproof doctor`."
    option = click.option("--backend", default=DEFAULT_BACKEND, show_default=True, help=help_)
    return option(settings_option(command))


def open_backend(backend: str, settings: Mapping[str, str], workers: int = 1) -> Sandbox:
    """Return the sandbox of this name; nothing is started yet.

    Raises:
        UsageProblem: there is none of this name.
        BadSetting: it does not take the settings.
    """
    start_build_log()
    try:
        return open_sandbox(backend, workers=workers, settings=settings)
    except SandboxUnavailable as problem:
        raise UsageProblem(str(problem), f"name one of: {', '.join(list_backends())}") from problem

"""Progress of an environment's build.

The builder logs its steps; they are one changing line on a terminal, and a line for each step elsewhere.
"""

from __future__ import annotations

import logging

from rich.status import Status
from rich.text import Text

from spanproof.cli.output.console import error_console
from spanproof.cli.output.hostile import visible


def show_builds() -> None:
    """Print the steps of builds on stderr from now on."""
    logger = logging.getLogger("spanproof.sandbox.environments")
    if not any(isinstance(handler, _Shown) for handler in logger.handlers):
        logger.addHandler(_Shown())
        logger.setLevel(logging.INFO)
        logger.propagate = False


class _Shown(logging.Handler):
    """Steps of a build, on stderr."""

    _status: Status | None = None

    def emit(self, record: logging.LogRecord) -> None:
        text = visible(record.getMessage())
        if not error_console.is_terminal:
            error_console.print(f"spanproof: {text}", markup=False, soft_wrap=True)
        elif getattr(record, "done", False):
            if self._status is not None:
                self._status.stop()
            self._status = None
        elif self._status is None:
            self._status = error_console.status(Text(text))
            self._status.start()
        else:
            self._status.update(Text(text))

"""The HTTP API over a store, and the console that reads it.

Comes in: an open store. Goes out: an application with `/api/v1/…`, its description in OpenAPI 3.1, and the
pages. What people decide is written: labels, silences, cases. Nothing of a trace is run.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spanproof.api.app import build_app
    from spanproof.api.readers import TokenHolders
    from spanproof.api.server import ConsoleServer
    from spanproof.api.settings import READ_BY_ALL, ConsoleSettings

__all__ = ["READ_BY_ALL", "ConsoleServer", "ConsoleSettings", "TokenHolders", "build_app"]

_MODULES = {
    "READ_BY_ALL": "settings",
    "ConsoleServer": "server",
    "ConsoleSettings": "settings",
    "TokenHolders": "readers",
    "build_app": "app",
}


def __getattr__(name: str) -> Any:
    """Return a public name: the server is loaded with it, and not for a report or the client."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)

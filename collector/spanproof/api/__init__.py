"""What Spanproof knows, as JSON over HTTP and as the console that reads it.

Comes in: an open store. Goes out: an application with `/api/v1/…`, its description in OpenAPI 3.1, and the
pages. What people decide is written: labels, silences, cases. Nothing of a trace is run.
"""

from typing import TYPE_CHECKING, Any

from spanproof.api.readers import TokenHolders
from spanproof.api.server import ConsoleServer
from spanproof.api.settings import READ_BY_ALL, ConsoleSettings

if TYPE_CHECKING:
    from spanproof.api.app import make_app

__all__ = ["READ_BY_ALL", "ConsoleServer", "ConsoleSettings", "TokenHolders", "make_app"]


def __getattr__(name: str) -> Any:
    """Load the application when it is named: it loads most of the evaluators and of the experiments."""
    if name != "make_app":
        raise AttributeError(name)
    from spanproof.api.app import make_app

    return make_app

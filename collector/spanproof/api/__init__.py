"""What Spanproof knows, as JSON over HTTP and as the console that reads it.

Comes in: an open store. Goes out: an application with `/api/v1/…`, its description in OpenAPI 3.1, and the
pages. Everything here reads; nothing of a trace is run.
"""

from spanproof.api.app import ConsoleSettings, make_app
from spanproof.api.readers import Readers
from spanproof.api.server import ConsoleServer

__all__ = ["ConsoleServer", "ConsoleSettings", "Readers", "make_app"]

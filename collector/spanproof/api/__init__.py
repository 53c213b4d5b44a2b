"""What Spanproof knows, as JSON over HTTP and as the console that reads it.

Comes in: an open store. Goes out: an application with `/api/v1/…`, its description in OpenAPI 3.1, and the
pages. What people decide is written: labels, silences, cases. Nothing of a trace is run.
"""

from spanproof.api.app import make_app
from spanproof.api.readers import TokenHolders
from spanproof.api.server import ConsoleServer
from spanproof.api.settings import READ_BY_ALL, ConsoleSettings

__all__ = ["READ_BY_ALL", "ConsoleServer", "ConsoleSettings", "TokenHolders", "make_app"]

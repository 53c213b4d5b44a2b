"""A client of the API, for programs and notebooks.

    from spanproof.client import Client

    with Client("http://127.0.0.1:4319") as client:
        failing = client.traces(failing=True, hours=24, agent="refund clerk")
        failing.to_pandas()
        client.trace(failing[0].trace_id).runs[0].sentence

`AsyncClient` has the same methods, to be awaited. Answers are the models that the API validates with.
`spanproof[client]` brings what it needs: httpx and pydantic, and nothing of the server.
"""

try:
    from spanproof.client.client import AsyncClient, Client
except ModuleNotFoundError as missing:
    if missing.name not in ("httpx", "pydantic"):
        raise
    raise ImportError(
        f"the client needs the package {missing.name}: pip install 'spanproof[client]'"
    ) from missing
from spanproof.client.errors import ClientError
from spanproof.client.rows import Rows

__all__ = ["AsyncClient", "Client", "ClientError", "Rows"]

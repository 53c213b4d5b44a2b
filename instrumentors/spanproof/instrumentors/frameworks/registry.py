"""The frameworks that can be instrumented or guarded, by name; their modules load on first use.

The one table that links a name to a framework's modules, so that `registration` and `guard` import none.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, Protocol

from spanproof.instrumentors.spans.tracing import Tracing

_PACKAGES: Final = {
    "smolagents": "smolagents",
    "langchain": "langchain",
    "openai-agents": "openai_agents",
    "mcp": "mcp",
}
FRAMEWORKS: Final = tuple(_PACKAGES)
"""Names of all frameworks, each also the name of the extra that installs it."""


class Instrumentor(Protocol):
    """What every framework's `instrumentor.Instrumentor` offers; its constructor takes the `Tracing`."""

    def instrument(self) -> None:
        """Patch the framework, or patch what a reload has replaced."""

    def uninstrument(self) -> None:
        """Restore every original."""


def load_instrumentor(framework: str, tracing: Tracing) -> Instrumentor:
    """Return a new instrumentor of the framework.

    Raises:
        ImportError: the framework is not installed.
    """
    made: Instrumentor = _load(framework, "instrumentor").Instrumentor(tracing)
    return made


def load_guard(framework: str) -> Any:
    """Return the framework's `guarding.apply_guard`, which guards an agent or a tool.

    Raises:
        ImportError: the framework is not installed.
    """
    return _load(framework, "guarding").apply_guard


def _load(framework: str, module: str) -> Any:
    return import_module(f"spanproof.instrumentors.frameworks.{_PACKAGES[framework]}.{module}")

"""Instrumentors as `opentelemetry-instrument` loads them: by entry point, without a line in the program.

The loader calls each, and `instrument()` of what it returns; whatever raises but ImportError would abort the
instrumentors after it, so nothing does. Their names are unique: a name shared with another vendor's is
switched off with theirs.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from spanproof.instrumentors.registration import instrument_if_installed, uninstrument


class _EntryPoint:
    def __init__(self, framework: str) -> None:
        self._framework = framework

    def instrument(self, **_options: object) -> None:
        """Instrument the framework with the global provider, if the framework is installed."""
        instrument_if_installed(self._framework)

    def uninstrument(self, **_options: object) -> None:
        """Restore every original."""
        uninstrument()


Smolagents: Final = partial(_EntryPoint, "smolagents")
LangChain: Final = partial(_EntryPoint, "langchain")
OpenAIAgents: Final = partial(_EntryPoint, "openai-agents")

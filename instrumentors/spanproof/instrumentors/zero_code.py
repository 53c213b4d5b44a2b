"""Instrumentors as `opentelemetry-instrument` loads them: by entry point, without a line in the program.

The loader calls `instrument()` on each; whatever raises but ImportError would abort the instrumentors after
it, so nothing does. Their names are unique: a name shared with another vendor's is switched off with theirs.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from typing import ClassVar

from spanproof.instrumentors.provider.releases import check_release
from spanproof.instrumentors.registration import (
    instrument_langchain,
    instrument_openai_agents,
    instrument_smolagents,
    report_failure,
    uninstrument,
)


class _EntryPoint:
    extra: ClassVar[str] = "smolagents"
    instrument_framework: ClassVar = staticmethod(instrument_smolagents)

    def instrument(self, **_options: object) -> None:
        """Instrument the framework with the global provider, if the framework is installed."""
        try:
            check_release(self.extra)
            type(self).instrument_framework()
        except (PackageNotFoundError, ModuleNotFoundError):
            return
        except Exception as error:  # noqa: BLE001 - the instrumentors after this one must go on
            report_failure(self.extra, error)

    def uninstrument(self, **_options: object) -> None:
        """Restore every original."""
        uninstrument()


class Smolagents(_EntryPoint):
    """Entry point `spanproof_smolagents`."""


class LangChain(_EntryPoint):
    """Entry point `spanproof_langchain`."""

    extra: ClassVar[str] = "langchain"
    instrument_framework: ClassVar = staticmethod(instrument_langchain)


class OpenAIAgents(_EntryPoint):
    """Entry point `spanproof_openai_agents`."""

    extra: ClassVar[str] = "openai-agents"
    instrument_framework: ClassVar = staticmethod(instrument_openai_agents)

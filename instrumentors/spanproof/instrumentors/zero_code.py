"""Instrumentors as `opentelemetry-instrument` loads them: by entry point, without a line in the program.

The loader calls `instrument()` on each; whatever raises but ImportError would abort the instrumentors after
it, so nothing does. Their names are unique: a name shared with another vendor's is switched off with theirs.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, requires, version
from typing import ClassVar

from spanproof.instrumentors.registration import (
    instrument_langchain,
    instrument_openai_agents,
    instrument_smolagents,
    told,
    uninstrument,
)


class VersionConflict(Exception):  # noqa: N818 - says what is the matter; it is told, never raised further
    """A framework is installed in a release that this instrumentor does not know."""


class _EntryPoint:
    extra: ClassVar[str] = "smolagents"
    instrument_framework: ClassVar = staticmethod(instrument_smolagents)

    def instrument(self, **_options: object) -> None:
        """Instrument the framework with the global provider, if the framework is installed."""
        try:
            _check_version(self.extra)
            type(self).instrument_framework()
        except (PackageNotFoundError, ModuleNotFoundError):
            return
        except Exception as error:  # noqa: BLE001 - the instrumentors after this one must go on
            told(self.extra, error)

    def uninstrument(self, **_options: object) -> None:
        """Put every original back."""
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


def _check_version(extra: str) -> None:
    """Compare the installed framework with what the extra of its name asks for.

    The loader's own check would be of no use: it knows requirements of a distribution, not of one
    instrumentor, and one framework's conflict would switch off all of ours.

    Raises:
        PackageNotFoundError: the framework is not installed.
        VersionConflict: it is, in a release out of range.
    """
    from packaging.requirements import Requirement  # the loader brings it along

    for text in requires("spanproof") or ():
        wanted = Requirement(text)
        if wanted.marker is None or not wanted.marker.evaluate({"extra": extra}):
            continue
        found = version(wanted.name)
        if not wanted.specifier.contains(found, prereleases=True):
            raise VersionConflict(
                f"{wanted.name} {found} is installed, {wanted.name}{wanted.specifier} is needed"
            )

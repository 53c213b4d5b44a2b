"""The parts that nothing else needs: what loads each, and what it needs that is not installed here.

In: nothing. Out: `Plugin` values, our own first, then those that other distributions bring. No plug-in is
imported for it. A contract of import-linter keeps all other code from importing our own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec

from spanproof.evaluators.evaluator import GROUP as EVALUATORS
from spanproof.sandbox.scanners.plugins import GROUP as SCANNERS


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plug-in.

    Attributes:
        loaded_by: the command or the key of the configuration that loads it.
        modules: what it imports that Spanproof alone does not bring.
        extra: the extra of the distribution that brings these modules.
    """

    name: str
    loaded_by: str
    modules: tuple[str, ...] = ()
    extra: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """Its modules that are not installed here."""
        return tuple(module for module in self.modules if find_spec(module) is None)


# Cloud sandboxes are backends, which the doctor lists with their features.
_OURS = (
    Plugin("benchmarks", "spanproof bench"),
    Plugin("prompt optimisers", "spanproof optimise", ("openai",), "judge"),
    Plugin("structural metrics", "evaluation.structure", ("griffe", "lizard", "vulture"), "structure"),
)


def list_plugins() -> tuple[Plugin, ...]:
    """Return all plug-ins of this installation."""
    return (*_OURS, *_iter_installed())


def _iter_installed() -> Iterator[Plugin]:
    for group, loaded_by in ((EVALUATORS, "every evaluation"), (SCANNERS, "every scan")):
        for point in sorted(entry_points(group=group), key=lambda point: point.name):
            yield Plugin(f"{point.name} ({point.dist.name if point.dist else group})", loaded_by)

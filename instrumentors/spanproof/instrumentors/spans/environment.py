"""What this process runs on: the packages it has imported, its interpreter, platform and image.

The outermost span of ours carries it, and so a trace names the environment in which its code can be run
again. It is taken when that span ends, not put onto the resource: a resource is fixed before the program
has imported anything, and agents import lazily. Of one trace's spans a later one repeats it only where
more has been imported by then.

A package counts where one of its modules is in `sys.modules`; no module is touched. The first time costs
about 0.5 ms for each package installed, a later time what comparing the names takes, and nothing where the
number of modules is the same.

A container does not know its image by itself. It is taken from, in this order: `SPANPROOF_IMAGE`; what the
platform puts into the environment; what Podman writes into the container. The resource attributes of
OpenTelemetry (`container.image.name`, `oci.manifest.digest`) go with every span and are not repeated here.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import sysconfig
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Final

from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.content.serialise import encode_json
from spanproof.instrumentors.frameworks.diagnostics import build_lock
from spanproof.semconv import spanproof as ours

_IMAGE_VARIABLES: Final = ("SPANPROOF_IMAGE", "FLY_IMAGE_REF")
_PODMAN: Final = Path("/run/.containerenv")
_DIGEST: Final = re.compile(r"(?:^|@)(?P<digest>sha(?:256|384|512):[0-9a-f]{32,128})$", re.ASCII)
_FIELD: Final = re.compile(r'^(image|imageid)="?([^"\n]{1,1000})"?$', re.MULTILINE)
_LONGEST: Final = 1_000


@dataclass(frozen=True, slots=True)
class Image:
    """A container image; empty where it is not known."""

    name: str = ""
    digest: str = ""


def get_image(environ: Mapping[str, str], podman_file: Path) -> Image:
    """Return the image that an environment or Podman's file names."""
    for variable in _IMAGE_VARIABLES:
        reference = environ.get(variable, "").strip()
        if reference:
            return parse_reference(reference)
    try:
        fields = dict(_FIELD.findall(podman_file.read_text("utf-8", "replace")[:10_000]))
    except OSError:
        return Image()
    identity = fields.get("imageid", "")
    return Image(fields.get("image", ""), f"sha256:{identity}" if identity else "")


def parse_reference(reference: str) -> Image:
    """Return name and digest of an image's reference: `name:tag@sha256:…`, the name or the digest alone."""
    reference = reference[:_LONGEST]
    found = _DIGEST.search(reference)
    if found is None:
        return Image(reference)
    return Image(reference[: found.start()], found["digest"])


# The outermost package or module of a path in a wheel's RECORD.
_ROOT: Final = re.compile(r'^"?(\w+)(?:/|(?:\.[\w-]+)?\.(?:py|so|pyd),)', re.MULTILINE)
# A module's path there, without the ABI's tag.
_MODULE: Final = re.compile(r'^"?([\w/]+)(?:\.[\w-]+)?\.(?:py|so|pyd),', re.MULTILINE)

_MAX_PACKAGES: Final = 1_000
# Traces that are remembered as having the environment.
_MAX_TRACES: Final = 1_000


class _Imports:
    """The packages that the process has imported so far."""

    def __init__(self) -> None:
        self._lock = build_lock()
        self._counted = 0
        self._known: set[str] = set()
        self._packages: dict[str, str] = {}
        self._not_imported: list[tuple[Distribution, frozenset[str]]] | None = None
        self._facts: Mapping[str, AttributeValue] = {}

    def facts(self) -> Mapping[str, AttributeValue]:
        """Return the attributes; the same object as before where no other package has been imported."""
        if len(sys.modules) == self._counted:
            return self._facts
        with self._lock:
            modules = set(sys.modules)
            if self._add_packages(modules, modules - self._known) or not self._facts:
                found = sorted(self._packages.items())[:_MAX_PACKAGES]
                self._facts = {
                    ours.ENVIRONMENT_PACKAGES: encode_json(dict(found)),
                    ours.ENVIRONMENT_PYTHON: f"{sys.implementation.name} {platform.python_version()}",
                    ours.ENVIRONMENT_PLATFORM: sysconfig.get_platform(),
                    **read_image_facts(),
                }
            self._known, self._counted = modules, len(modules)
            return self._facts

    def _add_packages(self, modules: Collection[str], new: Collection[str]) -> bool:
        """Add what has been imported since; returns whether there was anything."""
        before = len(self._packages)
        roots = {name.partition(".")[0] for name in new}
        left = []
        if self._not_imported is None:
            self._not_imported = [
                (distribution, _read_roots(distribution)) for distribution in distributions()
            ]
        for installed, own_roots in self._not_imported:
            if roots.isdisjoint(own_roots) or not _is_imported(installed, modules):
                left.append((installed, own_roots))
                continue
            metadata = installed.metadata
            if metadata["Name"] and metadata["Version"]:
                # The first of two is the one that is imported.
                self._packages.setdefault(metadata["Name"], metadata["Version"])
        self._not_imported = left
        return len(self._packages) > before


def _read_roots(installed: Distribution) -> frozenset[str]:
    """Return the first parts of the names of a distribution's modules."""
    record = installed.read_text("RECORD")
    if record is None:  # it was not installed from a wheel
        return frozenset((installed.read_text("top_level.txt") or "").split())
    return frozenset(_ROOT.findall(record))


def _is_imported(installed: Distribution, modules: Collection[str]) -> bool:
    """Return whether one of its modules is imported; a root may be a namespace of several distributions."""
    record = installed.read_text("RECORD")
    if record is None:
        return True
    paths = (found[1] for found in _MODULE.finditer(record))
    return any(path.removesuffix("/__init__").replace("/", ".") in modules for path in paths)


@cache
def read_image_facts() -> Mapping[str, AttributeValue]:
    """Return the attributes that name the image of this process; none where it is not known."""
    image = get_image(os.environ, _PODMAN)
    named = {ours.ENVIRONMENT_IMAGE_NAME: image.name, ours.ENVIRONMENT_IMAGE_DIGEST: image.digest}
    return {key: value for key, value in named.items() if value}


_imports = _Imports()
_recorded: dict[int, Mapping[str, AttributeValue]] = {}


def get_environment_facts(trace_id: int, max_chars: int) -> Mapping[str, AttributeValue]:
    """Return the attributes that name the environment; none where a span of this trace has them already.

    Args:
        trace_id: of the trace.
        max_chars: of a value; packages that take more would be cut and are left out.
    """
    facts = _imports.facts()
    if _recorded.get(trace_id) is facts or len(str(facts[ours.ENVIRONMENT_PACKAGES])) > max_chars:
        return {}
    if len(_recorded) >= _MAX_TRACES:
        _recorded.clear()
    _recorded[trace_id] = facts
    return facts

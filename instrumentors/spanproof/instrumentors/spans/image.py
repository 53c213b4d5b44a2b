"""The container image that this process runs in, where that can be known from within.

A container does not know its image by itself. It is taken from, in this order: `SPANPROOF_IMAGE`; what the
platform puts into the environment; what Podman writes into the container. The resource attributes of
OpenTelemetry (`container.image.name`, `oci.manifest.digest`) go with every span and are not repeated here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

IMAGE_VARIABLE: Final = "SPANPROOF_IMAGE"
_VARIABLES: Final = (IMAGE_VARIABLE, "FLY_IMAGE_REF")
_PODMAN: Final = Path("/run/.containerenv")
_DIGEST: Final = re.compile(r"(?:^|@)(?P<digest>sha(?:256|384|512):[0-9a-f]{32,128})$", re.ASCII)
_FIELD: Final = re.compile(r'^(image|imageid)="?([^"\n]{1,1000})"?$', re.MULTILINE)
_LONGEST: Final = 1_000


@dataclass(frozen=True, slots=True)
class Image:
    """A container image; empty where it is not known."""

    name: str = ""
    digest: str = ""


@cache
def image_of_process() -> Image:
    """Return the image of this process; it does not change while the process runs."""
    return find_image(os.environ, _PODMAN)


def find_image(environ: Mapping[str, str], podman_file: Path) -> Image:
    """Return the image that an environment or Podman's file names."""
    for variable in _VARIABLES:
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

"""A job as the file that the guest on a machine is given, and what cannot be fixed over there."""

from __future__ import annotations

import json
from typing import Final

from spanproof.sandbox.errors import UnsupportedFixtures
from spanproof.sandbox.guest.wire import Header, encode_frame
from spanproof.sandbox.model import Database, Fixtures

_OF_HEAD: Final = ("language", "limits", "seed", "clock", "tape")


def encode_job(header: Header, parts: list[bytes], token: str) -> bytes:
    """Return the file that the guest is given: a line for it, then the job as a frame."""
    head = {key: header[key] for key in _OF_HEAD}
    head |= {"token": token, "has_tests": header.get("has_tests", False)}
    return json.dumps(head).encode("ascii") + b"\n" + encode_frame(header, parts)


def check_fixtures(fixtures: Fixtures, language: str, service: str) -> None:
    """Refuse what cannot be fixed over there.

    Raises:
        UnsupportedFixtures: names the first such.
    """
    clock, python = fixtures.clock, language == "python"
    required = {
        "a package set": fixtures.packages is not None,
        "a database": fixtures.database != Database(),
        f"a seed to {language}": fixtures.seed is not None and not python,
        f"a clock to {language}": clock is not None and not python,
        "a clock of another rate": clock is not None and clock.rate != 1,
    }
    for name, wanted in required.items():
        if wanted:
            raise UnsupportedFixtures(f"the {service} backend cannot give {name}; use the jail")

"""What a container of this backend cannot do for a program, refused before it is run."""

from __future__ import annotations

from spanproof.sandbox.backends.docker.build_sandbox import check_fits
from spanproof.sandbox.backends.docker.container import Container
from spanproof.sandbox.errors import UnsupportedFixtures
from spanproof.sandbox.model import Fixtures

# It is held several times while it is unpacked, of the memory that a container has beside its programs'.
_TAPE_BYTES = 16 * 1024 * 1024


def check_fixtures(fixtures: Fixtures, container: Container) -> None:
    """Refuse what cannot be given.

    Raises:
        UnsupportedFixtures: names the one, and a backend that can.
    """
    if fixtures.http:
        _check_tape(fixtures)
    if fixtures.packages is not None:
        check_fits(container, fixtures.packages.ecosystem)
    if container.watched:
        return
    needed = {
        "fixtures.seed": fixtures.seed is not None,
        "fixtures.clock": fixtures.clock is not None,
        "fixtures.http": bool(fixtures.http) and not container.serves_calls,
    }
    for name, wanted in needed.items():
        if wanted:
            raise UnsupportedFixtures(_format_refusal(f"{name} under a runtime that does not notify"))


def _check_tape(fixtures: Fixtures) -> None:
    length = sum(len(one.body) + len(one.request_body or b"") for one in fixtures.http)
    if length > _TAPE_BYTES:
        raise UnsupportedFixtures(_format_refusal(f"recorded HTTP calls (fixtures.http) of {length} bytes"))


def _format_refusal(what: str) -> str:
    return f"the docker backend cannot give {what}; the jail backend can"

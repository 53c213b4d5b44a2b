"""What a container of this backend cannot do for a program, refused before it is run."""

from __future__ import annotations

from spanproof.sandbox.backends.docker.container import Container
from spanproof.sandbox.backends.docker.workshop import check_fits
from spanproof.sandbox.errors import UnsupportedFixtures
from spanproof.sandbox.model import Fixtures


def check_fixtures(fixtures: Fixtures, container: Container) -> None:
    """Refuse what cannot be given.

    Raises:
        UnsupportedFixtures: names the one, and a backend that can.
    """
    if fixtures.http:
        raise UnsupportedFixtures(_refusal("recorded HTTP calls (fixtures.http)"))
    if fixtures.packages is not None:
        check_fits(container, fixtures.packages.ecosystem)
    if container.watched:
        return
    for name, value in (("fixtures.seed", fixtures.seed), ("fixtures.clock", fixtures.clock)):
        if value is not None:
            raise UnsupportedFixtures(_refusal(f"{name} under a runtime that does not notify"))


def _refusal(what: str) -> str:
    return f"the docker backend cannot give {what}; the jail backend can"

"""The Modal service on the loopback, for as long as a module's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .loopback import Loopback, Trouble, on_loopback


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Loopback, dict[str, str]]]:
    """The service, and the settings that lead to it."""
    with on_loopback() as found:
        yield found


@pytest.fixture
def service(served: tuple[Loopback, dict[str, str]]) -> Loopback:
    """The service, behaving well, and with nothing made yet."""
    served[0].trouble = Trouble()
    served[0].created.clear()
    return served[0]


@pytest.fixture
def settings(served: tuple[Loopback, dict[str, str]]) -> dict[str, str]:
    """What leads to the service."""
    return dict(served[1])

"""The service of a remote backend on the loopback, for as long as a module's tests.

A test module imports `on_loopback` of the service that it tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .server import RemoteService


@pytest.fixture(scope="module")
def served(request: pytest.FixtureRequest) -> Iterator[tuple[RemoteService[Any], dict[str, str]]]:
    """The service, and the settings that lead to it."""
    with request.module.on_loopback() as found:
        yield found


@pytest.fixture
def service(served: tuple[RemoteService[Any], dict[str, str]]) -> RemoteService[Any]:
    """The service, behaving well, and with no request yet."""
    served[0].forget()
    return served[0]


@pytest.fixture
def settings(served: tuple[RemoteService[Any], dict[str, str]]) -> dict[str, str]:
    """What leads to the service."""
    return dict(served[1])

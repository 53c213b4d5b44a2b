"""The machine around hostile programs, as it must be left."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .machine import Machine, exposed


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with exposed(tmp_path_factory.mktemp("host")) as found:
        yield found

"""A cluster on the loopback, for as long as a module's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .loopback import Cluster, Trouble, on_loopback


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, dict[str, str]]]:
    """The cluster, and the settings that lead to it."""
    with on_loopback(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture
def cluster(served: tuple[Cluster, dict[str, str]]) -> Cluster:
    """The cluster, behaving well, and with nothing made yet."""
    found = served[0]
    found.trouble = Trouble()
    for made in (found.created, found.policies, found.patches):
        made.clear()
    return found


@pytest.fixture
def settings(served: tuple[Cluster, dict[str, str]]) -> dict[str, str]:
    """What leads to the cluster."""
    return dict(served[1])

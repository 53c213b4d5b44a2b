"""What backends need that this machine does not have by itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..sandbox.e2b.loopback import on_loopback


@pytest.fixture(scope="module")
def e2b_settings() -> Iterator[dict[str, str]]:
    """Settings that lead to an E2B service on the loopback."""
    with on_loopback() as (_, settings):
        yield settings

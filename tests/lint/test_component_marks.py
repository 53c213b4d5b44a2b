"""A test that starts a component without its mark fails: `make test` would need the component."""

from __future__ import annotations

import pytest
from component_marks import require_mark


def test_without_the_mark_it_fails_and_is_named() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"test_without_the_mark\w+ .*@pytest\.mark\.peers"):
        require_mark("peers")


@pytest.mark.timeout(600)
def test_with_the_mark_it_runs() -> None:
    require_mark("timeout")

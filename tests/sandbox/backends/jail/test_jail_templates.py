"""Which warm interpreter a program starts from: what its source or its tests import is loaded already."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spanproof.sandbox import Program, Sandbox
from spanproof.sandbox.backends.jail.backend import JailSandbox

SHOWS_WHAT_IS_LOADED = "import sys\nprint('numpy' in sys.modules)\n"


@pytest.fixture(scope="module")
def jail() -> Iterator[Sandbox]:
    with JailSandbox() as sandbox:
        yield sandbox


@pytest.mark.parametrize(
    ("source", "tests", "is_loaded"),
    [
        ("", "assert True", False),
        ("import numpy as np\n", "assert True", True),
        ("", "import numpy as np\nassert np.sum([1, 2]) == 3", True),
        ("", "def test_sum():\n    from scipy import stats", True),
        ("def fit():\n    import os, sklearn\n", "assert True", True),
        ("# import numpy\n", "assert 'import numpy'", False),
    ],
)
def test_a_program_starts_with_what_its_source_or_its_tests_import(
    jail: Sandbox, source: str, tests: str, is_loaded: bool
) -> None:
    execution = jail.run(Program("python", SHOWS_WHAT_IS_LOADED + source, tests=tests))
    assert execution.stdout.splitlines()[0] == str(is_loaded)

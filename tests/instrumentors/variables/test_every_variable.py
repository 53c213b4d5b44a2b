"""Every standard variable in docs/instrument.md has a test that shows what it does."""

import re
from pathlib import Path

from spanproof.instrumentors.provider.environment import _CHECKS

from . import test_exporters, test_malformed, test_recording, test_tracing, test_trust
from .programs import honoured


def test_every_variable_of_the_docs_has_a_test_and_the_other_way_round():
    page = (Path(__file__).parents[3] / "docs" / "instrument.md").read_text()
    rows = {name for line in page.splitlines() if line.startswith("| `OTEL_") for name in _names(line)}
    tested = honoured(test_exporters, test_recording, test_tracing, test_trust)
    assert not tested - rows, f"document in docs/instrument.md: {tested - rows}"
    assert not rows - tested, f"test: {rows - tested}"


def test_every_check_has_a_malformed_value():
    missing = set(_CHECKS) - set(test_malformed.MALFORMED)
    assert not missing, f"add a malformed value for {missing}"


def _names(row):
    """The variables in backticks in a row's first cell."""
    return re.findall(r"`(OTEL_[A-Z_]+)`", row.split(" | ")[0])

"""Every standard variable that has to do with traces has its reader, its test and its row in the docs."""

import re
from pathlib import Path

import opentelemetry.environment_variables
import opentelemetry.instrumentation.environment_variables
import opentelemetry.sdk.environment_variables

from spanproof.instrumentors.provider.variables import READERS

from . import test_exporters, test_recording, test_tracing, test_trust
from .programs import honoured
from .test_nonsense import MALFORMED


def test_every_variable_has_its_reader_its_test_and_its_row_in_the_docs():
    page = (Path(__file__).parents[3] / "docs" / "instrument.md").read_text()
    rows = {name for line in page.splitlines() if line.startswith("| `OTEL_") for name in _names(line)}
    assert rows == set(READERS)
    assert set(READERS) == honoured(test_exporters, test_recording, test_tracing, test_trust)
    assert set(READERS) == set(MALFORMED)
    assert _of_the_installed_packages() <= set(READERS) | _NOT_OURS


def _names(row):
    """The variables of a table's row: all that its first cell has in backticks."""
    return re.findall(r"`(OTEL_[A-Z_]+)`", row.split(" | ")[0])


_NOT_OURS = {
    "OTEL_PYTHON_DISTRO",
    "OTEL_PYTHON_CONFIGURATOR",
    "OTEL_PYTHON_AUTO_INSTRUMENTATION_EXPERIMENTAL_GEVENT_PATCH",
    "OTEL_EXPORTER_ZIPKIN_ENDPOINT",
    "OTEL_EXPORTER_ZIPKIN_TIMEOUT",
}
"""Of `opentelemetry-instrument` alone, before anything of ours runs, or of an exporter of old."""


def _of_the_installed_packages():
    modules = (
        opentelemetry.environment_variables,
        opentelemetry.sdk.environment_variables,
        opentelemetry.instrumentation.environment_variables,
    )
    other = re.compile("LOG(S|GER|GING|RECORD)_|METER_|METRICS?_|BLRP_|PROMETHEUS|LOGS$")
    found = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, str) and re.fullmatch("OTEL_[A-Z_]+", value)
    }
    return {name for name in found if not other.search(name.replace("SDK_INTERNAL_METRICS", ""))}

"""Spans leave the process over both protocols, and what could not leave it is reported."""

import json
import sys

import pytest

from .conftest import AGENT_PROGRAM, RUN_KINDS, run_program

_REGISTERED = """
import json
from spanproof.instrumentors import diagnostics, register
provider = register(endpoint={endpoint!r}, protocol={protocol!r}, instrument=("smolagents",))
assert answer() == 42
provider.shutdown()
print(json.dumps([dict(diagnostics().errors), dict(diagnostics().last)]))
"""


def run_registered(endpoint, protocol, **environment):
    code = AGENT_PROGRAM + _REGISTERED.format(endpoint=endpoint, protocol=protocol)
    ended = run_program(sys.executable, "-c", code, **environment)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_a_run_arrives_whole_at_a_real_receiver(receiving, protocol):
    endpoint = receiving.grpc if protocol == "grpc" else receiving.http
    assert run_registered(endpoint, protocol) == [{}, {}]
    assert receiving.kinds() == RUN_KINDS


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_spans_that_were_not_accepted_at_shutdown_are_in_the_diagnostics(protocol):
    nowhere = "http://127.0.0.1:9"
    errors, last = run_registered(nowhere, protocol, OTEL_EXPORTER_OTLP_TIMEOUT="1")
    assert errors == {"export": 1}
    assert last["export"] == f"ExportFailed: 4 spans were not accepted by {nowhere}"

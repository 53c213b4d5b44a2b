"""Programs that run under variables of OpenTelemetry, and which of them a test shows to mean something."""

import json
import sys

from ..conftest import run_program


def honours(*names):
    """Mark a test as the one that shows what these variables do."""

    def marked(test):
        test.honours = names
        return test

    return marked


def honoured(*modules):
    """The variables that a test of these modules shows to have their meaning."""
    return {
        name for module in modules for test in vars(module).values() for name in getattr(test, "honours", ())
    }


_PROGRAM = """
import json, logging
{before}
from spanproof.instrumentors import diagnostics, instrumented, register
from opentelemetry.trace import Link
provider = register({arguments})
def batch():
    return provider._active_span_processor._span_processors[1]._batch_processor
def exporter():
    wrapped = batch()._exporter.wrapped
    return wrapped if hasattr(wrapped, "_timeout") else wrapped._client
tracer = provider.get_tracer("application")
linked = tracer.start_span("linked")
linked.end()
link = Link(linked.get_span_context(), {{"a": 1, "b": 2}})
span = tracer.start_span("work", attributes={{"a": "x" * 90, "b": 1, "c": 2}}, links=[link, link, link])
for _ in range(3):
    span.add_event("event", {{"a": "y" * 90, "b": 1}})
span.end()
provider.force_flush()
print(json.dumps([{said}, dict(diagnostics().errors)]))
"""


def ran(said="None", *, before="", arguments="instrument=()", **environment):
    """Run a program with these variables: what it said of itself, and what it wrote to its console."""
    program = _PROGRAM.format(said=said, before=before, arguments=arguments)
    ended = run_program(sys.executable, "-c", program, **environment)
    assert ended.returncode == 0, ended.stderr
    *others, last = ended.stdout.splitlines()
    reported, errors = json.loads(last)
    return reported, errors, "\n".join(others), ended.stderr


def said_quietly(*arguments, **environment):
    """The same of a program that nothing is wrong with."""
    reported, errors, _, console = ran(*arguments, **environment)
    assert (errors, console) == ({}, "")
    return reported

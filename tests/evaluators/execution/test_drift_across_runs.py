"""The same code on another executor, over runs: when that is drift, and when it proves nothing."""

from __future__ import annotations

import pytest

from spanproof.evaluators.drift import list_drifts
from spanproof.sandbox import FailureClass
from spanproof.trace import Executor

OLD = Executor("docker", "python 3.11.9", "agents", "sha256:aa11")
NEW = Executor("docker", "python 3.12.4", "agents", "sha256:bb22")
DONE = "Execution logs:\nLast output from code snippet:\n1"


@pytest.fixture
def ran(build):
    """A run of these sources on one executor; the last raises where an error is named."""

    def make(*sources, executor, error=None, tape=()):
        last = len(sources) - 1
        snippets = [
            build.snippet(
                source,
                executor=executor,
                observation=DONE if at < last or error is None else None,
                error=build.error(error) if at == last and error else None,
                tape=tape if at == last else (),
            )
            for at, source in enumerate(sources)
        ]
        return build.run(snippets)

    return make


def test_a_class_that_follows_the_image_is_drift_with_both_digests(ran):
    runs = [
        ran("import torch", executor=OLD),
        ran("import torch\n", executor=NEW, error="ModuleNotFoundError"),
    ]
    (found,) = list_drifts(runs)
    assert [(one.failure_class, one.executor.image_digest) for one in found.endings] == [
        (FailureClass.OK, "sha256:aa11"),
        (FailureClass.MISSING_DEPENDENCY, "sha256:bb22"),
    ]
    assert found.source == "import torch"


def test_code_that_ends_both_ways_in_one_place_wavers_and_is_no_drift(ran):
    failed = ran("take()", executor=NEW, error="KeyError")
    assert list_drifts([ran("take()", executor=OLD), ran("take()", executor=NEW), failed]) == []


@pytest.mark.parametrize("executor", [OLD, Executor()])
def test_one_executor_or_an_unknown_one_says_nothing_of_an_environment(ran, executor):
    runs = [ran("take()", executor=executor), ran("take()", executor=executor, error="KeyError")]
    assert list_drifts(runs) == []


def test_code_that_uses_what_other_code_left_is_held_against_the_same_code_before_it_alone(ran):
    same = [
        ran("rows = [1]", "rows[0]", executor=OLD),
        ran("rows = [1]", "rows[0]", executor=NEW, error="KeyError"),
    ]
    other = [same[0], ran("rows = []", "rows[0]", executor=NEW, error="IndexError")]
    assert [each.source for each in list_drifts(same)] == ["rows[0]"]
    assert list_drifts(other) == []


def test_another_answer_of_a_tool_may_well_end_otherwise(build, ran):
    runs = [
        ran("1 / count()", executor=OLD, tape=(build.call("count", 1),)),
        ran("1 / count()", executor=NEW, error="ZeroDivisionError", tape=(build.call("count", 0),)),
    ]
    assert list_drifts(runs) == []

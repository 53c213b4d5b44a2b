"""The pytest plug-in: `@pytest.mark.spanproof(…)` and the fixture `spanproof`.

    @pytest.mark.spanproof(suite="suites/refunds", agent="support.agents:make_agent", trials=5,
                           assert_="groundedness.score == pass for at_least 90% of cases")
    def test_refunds():
        pass

    @pytest.mark.spanproof(assert_=["groundedness.score == pass", "trajectory.steps <= 6"])
    def test_one_refund(spanproof):
        spanproof.run(make_agent, "How much was refunded for order A-17?")

What is asserted is checked after the body of the test, as part of it: a test that does not hold is failed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from spanproof.testing.session import AgentSession

_SESSION = pytest.StashKey["AgentSession"]()
_MARKER = (
    "spanproof(suite=None, agent=None, assert_=(), open='not-passed', trials=1, tools='live', jobs=2,"
    " timeout_s=120, backend='jail'): run an agent on a suite, or judge what the test runs, and check"
    " assertions over the scores."
)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture
def spanproof(request: pytest.FixtureRequest) -> Iterator[AgentSession]:
    """Trace the agents that the test runs, of every framework; their runs are judged when the test ends."""
    session = _get_session(request.node)
    with session.tracing():
        yield session


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Check what a test asserts of its agent, once its body has passed."""
    outcome = yield
    if item.get_closest_marker("spanproof") is not None or _SESSION in item.stash:
        session = _get_session(item)
        failure = session.describe_problem()
        item.add_report_section("call", "spanproof", session.describe_runs())
        if failure:
            pytest.fail(failure, pytrace=False)
    return outcome


def _get_session(item: pytest.Item) -> AgentSession:
    """Return the session of a test; the first call makes it."""
    if _SESSION not in item.stash:
        from spanproof.testing.session import AgentSession, read_marker

        marker = item.get_closest_marker("spanproof")
        arguments = marker.kwargs if marker else {}
        if marker and marker.args:
            pytest.fail("the marker spanproof takes names only, as in suite=…", pytrace=False)
        wrong = ""
        try:
            item.stash[_SESSION] = AgentSession(read_marker(arguments))
        except ValueError as problem:
            wrong = str(problem)
        if wrong:
            pytest.fail(f"the marker spanproof: {wrong}", pytrace=False)
    return item.stash[_SESSION]

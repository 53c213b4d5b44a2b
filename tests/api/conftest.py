"""A store with one failing run and many small ones, and the application over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from spanproof.api import build_app
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import TraceEvaluation
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import Store, open_store
from spanproof.trace import trace_of

from ..suites.conftest import misquote


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with (
        open_sandbox("jail") as sandbox,
        open_store(tmp_path_factory.mktemp("api") / "store") as opened,
    ):
        engine = Engine(pipeline=Pipeline(), sandbox=sandbox)
        opened.write([engine.evaluate(misquote())])
        yield opened


@pytest.fixture
def client(store: Store) -> TestClient:
    return TestClient(build_app(lambda: store))


@pytest.fixture
def location(store: Store) -> Path:
    return Path(store.name)


@pytest.fixture(scope="module")
def evaluation_of() -> Callable[[int], TraceEvaluation]:
    """Return a function that makes the evaluation of a small trace without findings."""

    def make(number: int) -> TraceEvaluation:
        trace_id = f"{0xA0 + number:032x}"
        spans = [replace(span, trace_id=trace_id) for span in misquote("I do not know.").spans]
        return Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="not in this test").evaluate(
            trace_of(spans)
        )

    return make

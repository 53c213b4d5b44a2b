"""A real browser in front of a real console, over a store that real evaluations filled.

Fixtures end with their module: an embedded store is one per process, and so is a loop of Playwright's.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from node_programs import install_packages
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from spanproof.api import ConsoleServer, ConsoleSettings
from spanproof.evaluators.engine import Engine
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import Store, open_store
from spanproof.suites import promote
from spanproof.trace import Trace, trace_of

from ..suites.conftest import misquote

CONSOLE = Path(__file__).parents[2] / "collector" / "console"
PATIENCE_MS = 120_000
HOSTILE = (
    "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=2</script>"
    "\"><svg onload=window.hacked=3>\u202egnp.exe\x1b[31m javascript:window.hacked=4"
)  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with (
        open_sandbox("jail") as sandbox,
        open_store(tmp_path_factory.mktemp("console") / "store") as opened,
    ):
        engine = Engine(pipeline=Pipeline(), sandbox=sandbox)
        recorded = Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="not in this test")
        opened.write([engine.evaluate(misquote()), recorded.evaluate(hostile(misquote()))])
        opened.write_spans([conversation()])
        opened.write(
            [recorded.evaluate(with_id(misquote("I do not know."), number)) for number in range(300)]
        )
        yield opened


TENANT = 'acme "north" \\ co'
"""The value of an attribute, with all that a query line must quote."""


def conversation() -> ExportTraceServiceRequest:
    """Roots of traces that make two sessions of them: the failing trace has hostile text as the session's id,
    three others are one session of a user and a tenant."""
    roots = [_root("5" * 32, 0, {"session.id": HOSTILE[:60]})]
    for number in range(3):
        named = {"session.id": "chat/17", "user.id": "ada", "tenant.id": TENANT}
        roots.append(_root(f"{0xA000 + number:032x}", number + 1, named))
    scope = ScopeSpans(spans=roots)
    return ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[scope])])


def _root(trace_id: str, number: int, attributes: dict[str, str]) -> Span:
    return Span(
        trace_id=bytes.fromhex(trace_id),
        span_id=f"session{number}".encode(),
        name="turn",
        start_time_unix_nano=time.time_ns(),
        end_time_unix_nano=time.time_ns(),
        attributes=[
            KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in attributes.items()
        ],
    )


def is_complaint(line: ConsoleMessage) -> bool:
    """Whether the browser found a fault; that a server is gone is none of the page."""
    return line.type == "error" and not line.text.startswith("Failed to load resource")


def with_id(trace: Trace, number: int) -> Trace:
    return trace_of([replace(span, trace_id=f"{0xA000 + number:032x}") for span in trace.spans])


def hostile(trace: Trace) -> Trace:
    """The trace with hostile text in every field that a page shows."""

    def spoil(span):
        changed = {"name": HOSTILE, "trace_id": "6" * 32, "attributes": {HOSTILE: HOSTILE}}
        if span.agent:
            changed["agent"] = HOSTILE
        if span.code:
            changed["code"] = replace(span.code, source=f"x = {HOSTILE!r}\nprint(x)", logs=HOSTILE)
            changed["observation"] = HOSTILE
        if span.tool:
            changed["tool"] = replace(span.tool, name=HOSTILE)
        if span.input:
            changed["input"] = replace(span.input, text=HOSTILE, value=HOSTILE)
        if span.output:
            changed["output"] = replace(span.output, text=f"$54.00 {HOSTILE}", value=HOSTILE)
        return replace(span, **changed)

    return trace_of([spoil(span) for span in trace.spans])


@pytest.fixture(scope="module")
def workspace(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of the failing run."""
    root = tmp_path_factory.mktemp("workspace")
    evaluation = store.evaluation("5" * 32)
    assert evaluation is not None, "the store has the failing run"
    promote(evaluation, "a" * 16, root / "prices")
    return root


@pytest.fixture(scope="module")
def url(store: Store, workspace: Path) -> Iterator[str]:
    settings = ConsoleSettings(workspace=workspace)
    with ConsoleServer(lambda: store, "127.0.0.1", 0, settings) as server:
        yield server.url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium") or pytest.fail(
        "the console's tests need chromium (apt-get install chromium)"
    )
    with sync_playwright() as playwright:
        # As root chromium has no sandbox of its own; it loads nothing but our pages.
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: Browser, url: str) -> Iterator[Callable[..., Page]]:
    """Open a page of the console; whatever the browser complains of fails the test."""
    complaints: list[str] = []
    contexts = []

    def open_one(path: str, *, width: int = 1440, scheme: str = "light") -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: complaints.append(line.text) if is_complaint(line) else None)
        page.goto(url + path)
        page.wait_for_selector("main :not([aria-busy])")
        page.wait_for_selector("[aria-busy=true]", state="detached")
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """The console's development packages, as its lock file names them."""
    return install_packages(CONSOLE)


@pytest.fixture(scope="module")
def axe(node_modules: Path) -> str:
    """The accessibility checker's script."""
    return (node_modules / "axe-core" / "axe.min.js").read_text(encoding="utf-8")

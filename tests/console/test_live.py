"""New runs come into a view that is open, and a view outlives its server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spanproof.api import ConsoleServer
from spanproof.store import Store, open_store

from ..suites.conftest import misquote
from .filled_store import recorded_engine, with_id


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of this module's own, which it writes into."""
    with open_store(tmp_path_factory.mktemp("live") / "store") as opened:
        yield opened


@pytest.fixture
def server(store: Store) -> Iterator[ConsoleServer]:
    with ConsoleServer(lambda: store, "127.0.0.1", 0) as started:
        yield started


@pytest.fixture
def url(server: ConsoleServer) -> str:
    return server.url


def test_an_empty_store_shows_what_to_paste_and_opens_the_first_trace(open_page, store, url):
    page = open_page("/")
    page.get_by_role("heading", name="No trace was received yet").wait_for()
    assert "register(" in page.locator("pre.why").inner_text()
    page.get_by_role("status").get_by_text("Waiting for it").wait_for()
    store.write([recorded_engine().evaluate(misquote())])
    page.wait_for_url(f"{url}/traces/{'5' * 32}")


def test_new_traces_come_in_while_the_tail_is_live(open_page, store):
    page = open_page("/traces")
    page.get_by_role("button", name="live tail").click()
    page.get_by_role("status").get_by_text("live", exact=True).wait_for()
    store.write([recorded_engine().evaluate(with_id(misquote("I do not know."), 0x5000))])
    page.locator(f".row .link[href$='{0xF000:032x}']").wait_for()


def test_a_view_goes_on_once_the_server_is_back(open_page, server, store):
    store.write([recorded_engine().evaluate(misquote())])
    page = open_page("/failures?hours=8784")
    page.get_by_role("region", name="Clusters of failures").wait_for()
    server.close()
    page.get_by_role("link", name="Sessions").click()
    page.get_by_role("alert").get_by_text("does not answer").wait_for()
    port = int(server.url.rpartition(":")[2])
    with ConsoleServer(lambda: store, "127.0.0.1", port, fall_back=False):
        page.get_by_role("alert").wait_for(state="detached")
        page.get_by_role("heading", name="Sessions").wait_for()

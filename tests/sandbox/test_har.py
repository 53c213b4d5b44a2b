"""HAR as a tape: what tools record is read whole, and what cannot be served is an error with a place."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.sandbox import BadFixture, Exchange
from spanproof.sandbox.har import ENTRIES, load_har, read_exchanges


def entry(url: str = "https://a.example/", **changes: Any) -> dict[str, Any]:
    request = {"method": "GET", "url": url, "headers": [], **changes.pop("request", {})}
    content = {"size": 2, "mimeType": "text/plain", "text": "ok", **changes.pop("content", {})}
    response = {"status": 200, "headers": [], "content": content, **changes.pop("response", {})}
    return {"startedDateTime": "2025-01-01T00:00:00Z", "request": request, "response": response, **changes}


def har(*entries: Any) -> dict[str, Any]:
    return {"log": {"version": "1.2", "creator": {"name": "a browser"}, "entries": list(entries)}}


def read(*entries: Any) -> tuple[Exchange, ...]:
    return read_exchanges(har(*entries), "tape.har")


def test_calls_come_in_order_with_what_they_answered(tmp_path: Path) -> None:
    path = tmp_path / "tape.har"
    path.write_text(
        json.dumps(har(entry(), entry("http://b.example/x?q=1", response={"status": 404}))), "utf-8"
    )
    assert load_har(path) == (
        Exchange("GET", "https://a.example/", 200, (), b"ok"),
        Exchange("GET", "http://b.example/x?q=1", 404, (), b"ok"),
    )


def test_bodies_are_as_they_were_before_any_coding() -> None:
    coded = [{"name": "Content-Encoding", "value": "br"}, {"name": "content-length", "value": "1"}]
    kept = [{"name": ":status", "value": "200"}, {"name": "Set-Cookie", "value": "a=1\nb=2"}]
    content = {"encoding": "base64", "text": "/wA="}
    (call,) = read(entry(response={"headers": coded + kept}, content=content))
    assert call.body == b"\xff\x00"
    assert call.headers == (("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"))


def test_a_text_is_sent_in_its_own_charset() -> None:
    (call,) = read(entry(content={"mimeType": "text/html; charset=ISO-8859-1", "text": "é"}))
    assert call.body == b"\xe9"


@pytest.mark.parametrize("charset", ["nonsense", "hex", "idna", "undefined"])
def test_a_charset_that_python_does_not_know_is_one_clear_error(charset: str) -> None:
    content = {"mimeType": f"text/html; charset={charset}", "text": "a..é"}
    with pytest.raises(BadFixture, match=r"content.mimeType: must be a charset .*charset=utf-8") as caught:
        read(entry(content=content))
    assert "\n" not in str(caught.value)


def test_what_was_sent_must_be_sent_again_but_for_multipart() -> None:
    posted = {"mimeType": "application/json", "text": '{"q": 1}'}
    upload = {"mimeType": "multipart/form-data; boundary=x", "text": "--x"}
    calls = read(*(entry(request={"method": "post", "postData": one}) for one in (posted, upload, None)))
    assert [(call.method, call.request_body) for call in calls] == [
        ("POST", b'{"q": 1}'),
        ("POST", None),
        ("POST", None),
    ]


def test_what_is_no_finished_call_of_http_is_left_out() -> None:
    assert read(entry("wss://a.example/"), entry("data:text/plain,x"), entry(response={"status": 0})) == ()


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ([], "the document: must be an object"),
        ({"log": {}}, "log.entries: must be there"),
        ({"log": {"entries": {}}}, "log.entries: must be a list"),
        (har(entry(), "x"), r"log.entries\[1\]: must be an object"),
        (har(entry(request={"url": 7})), r"log.entries\[0\].request.url: must be a text"),
        (har(entry(response={"status": "200"})), r"log.entries\[0\].response.status: must be a whole number"),
        (har(entry(response={"headers": [{"name": "x"}]})), r"headers\[0\].value: must be there"),
        (har(entry(content={"text": None, "size": 512})), "response.content: must be saved with its text"),
        (har(entry(content={"encoding": "base64", "text": "%%"})), "content.text: must be base64"),
        (har(*[entry()] * (ENTRIES + 1)), "at most 10000 entries, not 10001"),
    ],
)
def test_an_error_names_the_file_the_entry_and_the_field(document: Any, place: str) -> None:
    with pytest.raises(BadFixture, match=f"^tape.har: .*{place}"):
        read_exchanges(document, "tape.har")


def test_a_file_that_is_none_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadFixture, match="cannot be read"):
        load_har(tmp_path / "absent.har")
    (tmp_path / "torn.har").write_text('{"log": ')
    with pytest.raises(BadFixture, match=r"torn.har: not JSON.*HAR 1.2"):
        load_har(tmp_path / "torn.har")
    (tmp_path / "deep.har").write_text("[" * 100_000)
    with pytest.raises(BadFixture, match="not JSON"):
        load_har(tmp_path / "deep.har")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(part=st.sampled_from(["request", "response", "content"]), value=anything, name=st.text(max_size=8))
def test_whatever_is_in_an_entry_it_is_read_or_refused(part: str, value: Any, name: str) -> None:
    fields = ["url", "method", "status", "headers", "content", "text", "encoding", "postData", "size", name]
    for field in fields:
        with contextlib.suppress(BadFixture):
            read_exchanges(har(entry(**{part: {field: value}})), "tape.har")

"""Each row of the tables of envelopes is read as the table says, and so are others of the same kinds."""

from __future__ import annotations

import json

import pytest

from spanproof.reading.envelopes.forms import load_document_table, load_text_rows
from spanproof.reading.envelopes.model import EnvelopeStatus
from spanproof.reading.envelopes.read import read_envelope
from spanproof.reading.envelopes.texts import find_refusal
from spanproof.reading.tool_kinds import ToolKind

TEXTS = load_text_rows()
DOCUMENTS = load_document_table()["document"]


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{row['section']}: {row['producer']}") for row in TEXTS]
)
def test_the_example_of_a_text_is_read_as_its_row_says(row):
    if row["section"] == "refusal":
        assert find_refusal(row["example"]) is not None
        return
    found = read_envelope(row["example"], ToolKind(row.get("tools", "other")))
    assert found.status == row.get("status", "failed")


@pytest.mark.parametrize(
    "stamp", ["2031-08-19T08:00:00.137Z ", "[2031-08-19 08:00] ", "2031/08/19 08:00:00,137: "]
)
def test_a_time_before_a_message_of_one_line_changes_nothing(stamp):
    changed = []
    for row in TEXTS:
        example, kind = row["example"].strip(), ToolKind(row.get("tools", "other"))
        is_entry = example.startswith(("ERROR", "FATAL"))
        if is_entry or "\n" in example or kind is ToolKind.DOCUMENTS:
            continue
        if row["section"] == "refusal":
            is_same = (find_refusal(stamp + example) is None) is (find_refusal(example) is None)
        else:
            is_same = read_envelope(stamp + example, kind).status == read_envelope(example, kind).status
        changed += [] if is_same else [example]
    assert not changed


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2031-08-19T08:00:00Z ERROR: worker 3 failed", ToolKind.OTHER),
        ("2031-08-19 08:00:00,137 [WARN] Error: 503", ToolKind.OTHER),
        ("2031-08-19T08:00:00Z level=error msg=failed", ToolKind.OTHER),
        ("2031-08-19T08:00:00Z ConnectionError: database is down", ToolKind.DOCUMENTS),
        ("2031-08-19T08:00:00Z Error: 503\n2031-08-19T08:01:00Z up again", ToolKind.OTHER),
    ],
)
def test_an_entry_of_a_log_is_no_failure(text, kind):
    assert read_envelope(text, kind).status is EnvelopeStatus.WORKED


@pytest.mark.parametrize("row", [pytest.param(row, id=row["producer"]) for row in DOCUMENTS])
def test_the_example_of_a_document_is_read_as_its_row_says(row):
    found = read_envelope(row["example"], ToolKind.OTHER)
    assert found.status == row["status"]
    assert found.status is EnvelopeStatus.WORKED or found.status is EnvelopeStatus.EMPTY or found.quote


def test_the_tables_name_at_least_sixty_shapes():
    assert len(TEXTS) + len(DOCUMENTS) >= 60
    assert len({row["producer"] for row in DOCUMENTS}) == len(DOCUMENTS)


FAILED = [
    {"status": "error", "error_message": "The city is not covered."},
    {"errorCode": "SEAT_TAKEN", "errorMessage": "Seat 4A is taken"},
    {"error_code": "E17", "error_msg": "no such table"},
    {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    {"statusCode": 404, "body": "missing"},
    {"success": False, "booking_id": "B-9", "reason": "the flight is full"},
    {"ok": False, "description": "Bad Request: chat not found", "error_code": 400},
    {"isError": True, "content": [{"type": "text", "text": "boom"}]},
    {"errors": [{"message": "Field 'x' doesn't exist", "extensions": {"code": "UNDEFINED"}}]},
    {"error": {"message": "The model does not exist", "type": "invalid_request_error", "param": None}},
    {"detail": "Not authenticated"},
    {"message": "Validation Failed", "errors": [{"code": "missing_field"}], "documentation_url": "https://d"},
    {"code": 7, "message": "caller is not allowed", "details": []},
    {"success": False, "errors": [{"code": 7003, "message": "no route"}], "messages": [], "result": None},
    {"errcode": 40001, "errmsg": "invalid credential"},
    {"status": "FAILED", "reason": "quota"},
    {"fault": {"faultstring": "Invalid ApiKey", "detail": {"errorcode": "oauth.v2.InvalidApiKey"}}},
    {"status": 401, "message": "Authenticate", "code": 20003, "more_info": "https://t"},
    {"error": "invalid_grant", "error_description": "Token has been revoked."},
    {"code": "rest_no_route", "message": "No route was found", "data": {"status": 404}},
    [{"message": "bad field", "errorCode": "INVALID_FIELD"}],
    {"returncode": 1, "stdout": "", "stderr": "boom"},
]


@pytest.mark.parametrize("document", [pytest.param(each, id=json.dumps(each)[:60]) for each in FAILED])
def test_an_envelope_of_a_failure_is_one(document):
    found = read_envelope(json.dumps(document), ToolKind.OTHER)
    assert found.status is EnvelopeStatus.FAILED, found
    assert found.quote
    assert read_envelope(str(document), ToolKind.OTHER).status is EnvelopeStatus.FAILED


WORKED = [
    {"error": None, "total": 4},
    {"error": None},
    {"errors": [], "ok": True, "id": 3},
    {"status": "success", "message": "booked"},
    {"errcode": 0, "errmsg": "ok"},
    {"order_id": 4, "status": "failed", "amount": 12.5},
    {"build": 7, "errors": 3, "warnings": 1},
    {"error_rate": 0.02, "requests": 1200},
    {"code": 200, "data": {"x": 1}, "message": "OK"},
    {"name": "Ada", "state": "NY", "reason": "moved"},
    {"exit_code": 0, "stdout": "error: handled", "stderr": ""},
    {"statusCode": 200, "body": "{}"},
    {"incident": "I-4", "status": "error", "service": "mail", "since": "10:00"},
    {"available": False, "room": 204},
    [{"id": 1, "status": "open"}, {"id": 2, "status": "closed"}],
]


@pytest.mark.parametrize("document", [pytest.param(each, id=json.dumps(each)[:60]) for each in WORKED])
def test_a_result_with_data_of_its_own_worked(document):
    assert read_envelope(json.dumps(document), ToolKind.OTHER).status is EnvelopeStatus.WORKED


@pytest.mark.parametrize(
    ("document", "done", "failed"),
    [
        ({"succeeded": 3, "failed": 1}, 3, 1),
        ({"successful": ["a", "b"], "failed": [{"id": "c", "error": "bounced"}]}, 2, 1),
        ({"results": [{"id": "a", "status": "ok"}, {"id": "b", "status": "error", "error": "taken"}]}, 1, 1),
        ([{"email": "a@b.example", "sent": True}, {"email": "c@d.example", "sent": False}], 1, 1),
        (
            {"took": 3, "errors": True, "items": [{"index": {"status": 201}}, {"index": {"status": 400}}]},
            1,
            1,
        ),
        ({"Successful": [{"Id": "1"}], "Failed": [{"Id": "2", "Code": "X", "Message": "no"}]}, 1, 1),
        ({"results": {"a@b.example": "sent", "c@d.example": "bounced"}}, 1, 1),
        ({"total": 4, "success_count": 2, "failed_count": 2}, 2, 2),
    ],
)
def test_a_batch_says_how_much_of_it_was_done(document, done, failed):
    found = read_envelope(json.dumps(document), ToolKind.OTHER)
    assert (found.status, found.done_count, found.failed_count) == (EnvelopeStatus.PARTIAL, done, failed)


@pytest.mark.parametrize(
    "text", ["Sent 2 of 3 messages.", "2/3 invoices were sent", "4 records updated, 1 failed (locked)"]
)
def test_a_batch_in_words_says_so_too(text):
    assert read_envelope(text, ToolKind.OTHER).status is EnvelopeStatus.PARTIAL


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("exit code 1", ToolKind.SHELL),
        ("3 files checked\nExit status: 2", ToolKind.SHELL),
        ("Command failed with exit code 127: tidez", ToolKind.SHELL),
        ("429 Too Many Requests", ToolKind.OTHER),
        ("HTTP 429: slow down", ToolKind.OTHER),
        ("Rate limit reached for requests", ToolKind.OTHER),
        ("5 NOT_FOUND: berth 4", ToolKind.OTHER),
        ("ERROR 1045 (28000): Access denied for user 'clerk'", ToolKind.SQL),
        ('ERROR:  duplicate key value violates unique constraint "pk"', ToolKind.SQL),
        ("org.apache.kafka.common.errors.TimeoutException: no metadata", ToolKind.OTHER),
        ("== 2 failed, 1 error in 3.40s ==", ToolKind.SHELL),
        ("! [rejected]        main -> main (fetch first)", ToolKind.SHELL),
        ("fatal: not a git repository", ToolKind.SHELL),
        ("'tidez' is not recognized as an internal or external command,", ToolKind.SHELL),
    ],
)
def test_a_text_of_a_failure_is_one(text, kind):
    assert read_envelope(text, kind).status is EnvelopeStatus.FAILED


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("exit code 0", ToolKind.SHELL),
        ("0 failed, 456 passed", ToolKind.OTHER),
        ("3 of 3 messages sent", ToolKind.OTHER),
        ("Berth 429 is free from Monday", ToolKind.OTHER),
        ("Apply complete! Resources: 3 added, 0 changed, 0 destroyed.", ToolKind.SHELL),
        ("12 passed in 0.31s", ToolKind.SHELL),
    ],
)
def test_a_text_of_a_success_is_one(text, kind):
    assert read_envelope(text, kind).status is EnvelopeStatus.WORKED

"""Batches: which items of an operation on several were done, and which were not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from spanproof.reading.envelopes.documents import (
    find_document_envelope,
    find_whole_number,
    get_message,
    has_error,
    normalise_name,
)
from spanproof.reading.envelopes.forms import load_envelope_fields
from spanproof.reading.envelopes.model import (
    HTTP_ERRORS,
    MAX_BARE_CHARS,
    Envelope,
    EnvelopeForm,
    EnvelopeStatus,
    ItemOutcome,
)
from spanproof.trace import JsonValue

_MAX_ITEMS: Final = 500
_ITEM_LISTS = ("results", "items", "responses", "records", "entries", "outcomes", "data", "operations")
_DONE_COUNTS = frozenset(
    str.split(
        "succeeded success successful successes succeededcount successcount successfulcount processed created"
        " sent delivered updated imported done completed inserted written uploaded accepted applied ok added"
    )
)
_FAILED_COUNTS = frozenset(
    str.split(
        "failed failures failure failedcount failurecount errorcount errors unprocessed unprocesseditems"
        " rejected skipped bounced undelivered notsent unsuccessful failedids failedrecords conflicts"
    )
)
_STATE_FIELDS = (
    "status",
    "state",
    "result",
    "outcome",
    "success",
    "ok",
    "done",
    "sent",
    "updated",
    "accepted",
)
_FAILED_STATES = frozenset(
    str.split(
        "error failed failure fail rejected declined denied refused bounced undelivered undeliverable skipped"
        " timeout timed_out aborted cancelled canceled not_found notfound invalid conflict forbidden"
        " unauthorized false blocked out_of_stock unavailable not_sent unprocessed"
    )
)
_NAMING_FIELD = re.compile(
    r"(?:id|name|email|key|address|to|sku|number|code|item|ref|reference|title|path|file|user|target"
    r"|recipient|order|host|node)\Z",
    re.IGNORECASE,
)
_COUNTED_TEXT = re.compile(
    r"\b(?P<done>\d+) ?(?:of|out of|/) ?(?P<total>\d+)\b[^.;\n]{0,60}?\b(?:succeeded|successful\w*|sent|done|"
    r"processed|updated|created|delivered|completed|imported|cancelled|canceled|deleted|booked|applied)\b"
    r"|\b(?:sent|processed|updated|created|delivered|completed|imported|deleted|booked|applied)\b[^.;\n]{0,40}?"
    r"\b(?P<done2>\d+) ?(?:of|out of|/) ?(?P<total2>\d+)\b"
    r"|\b(?P<done3>\d+) [\w ]{0,30}?(?:succeeded|successful\w*|sent|done|processed|updated|created"
    r"|delivered)\b[^\n]{0,40}?\b(?P<failed3>\d+) [\w ]{0,20}?(?:failed|errors?|rejected|skipped|bounced"
    r"|undelivered)\b",
    re.IGNORECASE,
)


def find_partial_result(document: JsonValue, text: str = "") -> Envelope | None:
    """Return what a batch did and did not do; None where nothing of it failed, or it is no batch.

    The rows of a table of records look the same: only the result of an operation is a batch.
    """
    if isinstance(document, dict):
        found = find_document_envelope(document)
        if found is not None and found.status is EnvelopeStatus.PARTIAL:
            partial = found
        else:
            partial = None
        return _find_listed_items(document) or _find_counted_items(document) or partial
    if isinstance(document, list):
        return _find_partial_batch(_list_item_outcomes(document))
    return _find_counts_in_text(text)


def _find_listed_items(document: Mapping[str, JsonValue]) -> Envelope | None:
    for name, item in document.items():
        if normalise_name(name) in _ITEM_LISTS and isinstance(item, list):
            found = _find_partial_batch(_list_item_outcomes(item))
            if found is not None:
                return found
        if isinstance(item, dict) and normalise_name(name) in {"data", "result", "results", "summary"}:
            by_name = _list_named_outcomes(item) if normalise_name(name) == "results" else ()
            found = _find_partial_batch(by_name) or _find_listed_items(item) or _find_counted_items(item)
            if found is not None:
                return found
    return None


def _list_item_outcomes(items: Sequence[JsonValue]) -> tuple[ItemOutcome, ...]:
    """Return the outcome of each item of a list; none where an item says nothing of its own."""
    found = []
    for at, item in enumerate(items[:_MAX_ITEMS], 1):
        if isinstance(item, dict) and len(item) == 1:
            inner = next(iter(item.values()))
        else:
            inner = item
        outcome = _find_item_outcome(inner, str(at)) if isinstance(inner, dict) else None
        if outcome is None:
            return ()
        found.append(outcome)
    return tuple(found)


def _list_named_outcomes(items: Mapping[str, JsonValue]) -> tuple[ItemOutcome, ...]:
    """Return the outcome of each item of an object: `{"a@b.example": "sent", "c@d.example": "bounced"}`."""
    states = {name: item for name, item in items.items() if isinstance(item, str | bool)}
    if len(states) != len(items) or not states:
        return ()
    return tuple(ItemOutcome(name, not _is_failed_state(item), str(item)) for name, item in states.items())


def _find_item_outcome(item: Mapping[str, JsonValue], position: str) -> ItemOutcome | None:
    fields = {normalise_name(name): value for name, value in item.items()}
    names = [str(value) for name, value in item.items() if _NAMING_FIELD.search(name) and _is_plain(value)]
    name = next(iter(names or _list_texts(fields)), position)
    states = [fields[key] for key in _STATE_FIELDS if isinstance(fields.get(key), str | bool | int)]
    error = next(
        (fields[key] for key in ("error", "errors", "errorcode", "errormessage") if key in fields), None
    )
    if has_error(error) or any(map(_is_failed_state, states)):
        return ItemOutcome(name, done=False, reason=get_message(fields))
    return ItemOutcome(name, done=True) if states or names else None


def _list_texts(fields: Mapping[str, JsonValue]) -> list[str]:
    """Return the texts of an item that say nothing of how it ended: the first one is its name."""
    names = fields.keys() - load_envelope_fields().union(_STATE_FIELDS)
    return [text for name, text in fields.items() if name in names and isinstance(text, str) and text]


def _is_plain(item: JsonValue) -> bool:
    return isinstance(item, str | int) and not isinstance(item, bool)


def _is_failed_state(item: JsonValue) -> bool:
    if isinstance(item, str):
        state = item.strip().lower().replace(" ", "_").replace("-", "_")
        return state in _FAILED_STATES or state.startswith(("failed", "error", "rejected"))
    number = find_whole_number(item)
    return item is False or (number is not None and number in HTTP_ERRORS)


def _find_partial_batch(items: Sequence[ItemOutcome]) -> Envelope | None:
    failed = [item for item in items if not item.done]
    if not failed:
        return None
    return _build_partial(len(items) - len(failed), len(failed), tuple(items))


def _find_counted_items(document: Mapping[str, JsonValue]) -> Envelope | None:
    """Return the batch that a document counts, or lists: `{"succeeded": 3, "failed": 1}`."""
    counts = {True: 0, False: 0}
    items: list[ItemOutcome] = []
    counts_done = False
    for name, value in document.items():
        field_name = normalise_name(name)
        is_done = field_name in _DONE_COUNTS
        if not is_done and field_name not in _FAILED_COUNTS:
            continue
        if isinstance(value, list):
            counts[is_done] += len(value)
            items += [_build_item(item, str(at), is_done=is_done) for at, item in enumerate(value, 1)]
        elif isinstance(value, int) and not isinstance(value, bool):
            counts[is_done] += value
        else:
            continue
        counts_done = counts_done or is_done
    if counts[False] == 0 or not counts_done:
        return None
    return _build_partial(counts[True], counts[False], tuple(items))


def _build_item(item: JsonValue, position: str, *, is_done: bool) -> ItemOutcome:
    """Return an item of a list of what was done, or of what was not, by its name."""
    outcome = _find_item_outcome(item, position) if isinstance(item, dict) else None
    if outcome is None:
        return ItemOutcome(str(item), is_done, "")
    return ItemOutcome(outcome.name, is_done, outcome.reason)


def _find_counts_in_text(text: str) -> Envelope | None:
    found = _COUNTED_TEXT.search(text) if len(text) <= MAX_BARE_CHARS else None
    if found is None:
        return None
    groups = found.groupdict()
    done = int(groups["done"] or groups["done2"] or groups["done3"])
    total = groups["total"] or groups["total2"]
    failed = int(total) - done if total else int(groups["failed3"])
    if failed <= 0:
        return None
    return replace(_build_partial(done, failed, ()), form=EnvelopeForm.TEXT, quote=found[0])


def _build_partial(done: int, failed: int, items: tuple[ItemOutcome, ...]) -> Envelope:
    reason = next((item.reason for item in items if not item.done and item.reason), "")
    quote = f"{failed} of {done + failed} failed" + (f": {reason}" if reason else "")
    return Envelope(
        EnvelopeStatus.PARTIAL,
        EnvelopeForm.STRUCTURED,
        quote,
        items=items,
        done_count=done,
        failed_count=failed,
    )

"""The queue of people: what is open first, each card whole, and a label that settles a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from emptied_store import empty
from starlette.testclient import TestClient

from spanproof.api import build_app
from spanproof.api.routes import review
from spanproof.store import Store, open_store
from spanproof.trace import (
    Cause,
    ClaimMark,
    ClaimVerdict,
    Evidence,
    Label,
    Layer,
    Scored,
    SentenceMark,
    SentenceState,
    Skipped,
)

from ..store.conftest import ANSWER, QUESTION, RUN, START_NS, make_evaluation

YEARS = 24 * 366
OURS = {"host": "testserver", "origin": "http://testserver", "sec-fetch-site": "same-origin"}
OPEN = Scored(
    0.5,
    None,
    "54.00 is in no output",
    (Evidence("54.00 is not found"),),
    cause=Cause.VALUE_NOT_FOUND,
    detail="54.00",
)
FAIL, PASS = Scored(0.0, Label.FAIL, "it is 45.00"), Scored(1.0, Label.PASS, "it holds")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("review") / "store") as store:
        yield store


@pytest.fixture
def store(opened: Store) -> Store:
    empty(opened)
    return opened


@pytest.fixture
def app(store: Store) -> TestClient:
    return TestClient(build_app(lambda: store))


def write(store: Store, *verdicts: dict) -> None:
    store.write(
        [
            make_evaluation(number, verdicts=layers, start_ns=START_NS + number * 10**9)
            for number, layers in enumerate(verdicts, start=1)
        ]
    )


def ask(app: TestClient, more: str = "") -> list[dict]:
    return app.get(f"/api/v1/review?hours={YEARS}{more}").json()["waiting"]


def test_what_is_open_waits_first_over_all_layers(store, app):
    write(
        store,
        {Layer.GROUNDEDNESS: FAIL, Layer.TRAJECTORY: Skipped("no action", Cause.NO_ACTION)},
        {Layer.GROUNDEDNESS: OPEN},
        {Layer.CORRECTNESS: OPEN},
    )
    waiting = ask(app)
    assert [(each["state"], each["layer"], int(each["trace_id"], 16)) for each in waiting] == [
        ("open", "correctness", 3),
        ("open", "groundedness", 2),
        ("fail", "groundedness", 1),
    ]
    assert [int(each["trace_id"], 16) for each in ask(app, "&layer=groundedness")] == [2, 1]


def test_a_card_has_task_answer_evidence_and_cause(store, app):
    write(store, {Layer.GROUNDEDNESS: OPEN})
    (card,) = ask(app)
    assert (card["task"], card["answer"]) == (QUESTION.text, ANSWER.text)
    assert (card["cause"], card["cause_words"]) == (
        "value-not-found",
        "answer holds a value that no source has: 54.00",
    )
    assert [fact["what"] for fact in card["evidence"]] == ["54.00 is not found"]


@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_a_label_settles_the_run_at_once(store, app, verdict):
    write(store, {Layer.CORRECTNESS: PASS, Layer.GROUNDEDNESS: OPEN})
    (row,) = store.traces()
    assert row.state == "open"
    label = {"trace_id": row.trace_id, "run_span_id": RUN, "layer": "groundedness", "verdict": verdict}
    assert app.post("/api/v1/labels", json=label, headers=OURS).status_code == 201
    assert [card for card in ask(app) if card["layer"] == "groundedness"] == []
    (row,) = store.traces()
    assert row.state == store.evaluation(row.trace_id).state == verdict
    assert [each.trace_id for each in store.traces(failing=Layer.GROUNDEDNESS)] == (
        [row.trace_id] if verdict == "fail" else []
    )
    (written,) = app.get("/api/v1/labels").json()["labels"]
    assert (written["verdict"], written["ours"]) == (verdict, None)


def test_a_person_is_shown_the_open_sentences_and_rules_on_them(store, app):
    claim = ClaimMark(0, 6, ClaimVerdict.UNCERTAIN, "45.00")
    mark = SentenceMark(0, len(ANSWER.text), SentenceState.OPEN)
    facts = (Evidence("not certain", claim=claim), Evidence("open", sentence=mark))
    write(store, {Layer.GROUNDEDNESS: replace(OPEN, evidence=facts)}, {Layer.CORRECTNESS: OPEN})
    code, answer = ask(app)
    assert code["sentences"] == []
    (sentence,) = answer["sentences"]
    assert (sentence["text"], sentence["start"], sentence["end"]) == (ANSWER.text, 0, 6)
    assert sentence["bindings"] == ["'$54.00' may be '45.00'"]
    label = {
        "trace_id": answer["trace_id"],
        "run_span_id": RUN,
        "layer": "groundedness",
        "verdict": "fail",
        "sentences": [{"start": 0, "end": 6, "ruling": "false"}],
    }
    assert app.post("/api/v1/labels", json=label, headers=OURS).status_code == 201
    (kept,) = list(store.scores(name="sentence_0_6"))
    assert (kept.evaluator, kept.outcome.value, kept.outcome.label) == ("external.human", 0.0, None)
    assert kept.outcome.explanation == ANSWER.text
    # It is advice beside the verdict, and changes no state.
    (row,) = store.traces(failing=Layer.GROUNDEDNESS)
    assert row.trace_id == answer["trace_id"]


def test_the_overview_has_rates_and_causes_with_their_counts(store, app):
    write(
        store,
        {Layer.GROUNDEDNESS: OPEN},
        {Layer.GROUNDEDNESS: OPEN},
        {Layer.GROUNDEDNESS: FAIL},
        {Layer.GROUNDEDNESS: PASS},
    )
    found = app.get(f"/api/v1/overview?hours={YEARS}").json()
    rate = found["layers"]["groundedness"]
    assert (rate["failed"], rate["passed"], rate["open"], rate["open_rate"]) == (1, 1, 2, 0.5)
    assert rate["words"] == "fails 1 of 2, 2 open"
    (reason,) = found["not_judged"]
    assert (reason["outcome"], reason["cause"], reason["times"]) == ("open", "value-not-found", 2)
    assert reason["cause_words"] == "2 answers hold a value that no source has"
    assert (reason["detail"], int(reason["trace_id"], 16)) == ("54.00", 2)


def test_a_verdict_is_assigned_with_a_date_and_given_back(store, app):
    write(store, {Layer.GROUNDEDNESS: OPEN})
    (card,) = ask(app)
    assert (card["assignee"], card["due_ns"]) == ("", 0)
    body = {name: card[name] for name in ("trace_id", "run_span_id", "layer")} | {"author": "bob"}

    def assign(**more: object):
        return app.post("/api/v1/review/assignments", json={**body, **more}, headers=OURS)

    given = assign(assignee="ann", due_ns=7)
    assert (given.status_code, given.json()["assignee"]) == (201, "ann")
    (own,) = ask(app, "&assignee=ann")
    assert (own["assignee"], own["due_ns"], own["trace_id"]) == ("ann", 7, card["trace_id"])
    assert ask(app, "&assignee=bob") == []
    assign(assignee="")
    assert ask(app, "&assignee=ann") == []
    assert assign(assignee="ann", trace_id="f" * 32).status_code == 404


def test_what_is_assigned_is_found_however_much_waits(store, app):
    """A pass that the queue does not sample is reviewed as well once a person is to."""
    write(store, *({Layer.GROUNDEDNESS: PASS} for _ in range(40)))
    sampled = {card["trace_id"] for card in ask(app, "&limit=200")}
    other = next(row.trace_id for row in store.traces(limit=40) if row.trace_id not in sampled)
    body = {"trace_id": other, "run_span_id": RUN, "layer": "groundedness", "assignee": "ann"}
    assert app.post("/api/v1/review/assignments", json=body, headers=OURS).status_code == 201
    assert [card["trace_id"] for card in ask(app, "&assignee=ann")] == [other]


def test_the_queue_is_counted_up_to_a_bound(store, app, monkeypatch):
    write(store, *({Layer.GROUNDEDNESS: OPEN} for _ in range(3)))
    path = f"/api/v1/review?hours={YEARS}&limit=0"
    assert app.get(path).json() == {"layer": None, "total": 3, "more": False, "waiting": []}
    monkeypatch.setattr(review, "_MOST_COUNTED", 2)
    assert app.get(path).json() == {"layer": None, "total": 2, "more": True, "waiting": []}

"""A judge suggests a fix where no rule explains a cluster: once, within its budget, marked as the judge's."""

from __future__ import annotations

import json
import shutil
import time

import pytest

from spanproof.api.pages import build_failure_cluster
from spanproof.cli.app import run
from spanproof.collector.cluster_advice import ClusterAdvising
from spanproof.config import added_evaluators
from spanproof.evaluators.judge import Judge, JudgeFailed, JudgeSettings, OverBudget
from spanproof.failures import build_signature
from spanproof.failures.advice_prompt import MAX_FIX, AdvicePrompt
from spanproof.store import FailureCluster, Store, open_store
from spanproof.trace import Layer

MODEL = "gpt-4.1-mini-2025-04-14"
FIX = "Have the tool of orders say which status unlocks an order."
MINUTE_NS = 60 * 10**9


def make_reply(fix: str = FIX, change: str = "tool") -> str:
    return json.dumps({"change": change, "fix": fix})


class ScriptedJudge(Judge):
    """A judge whose model gives these replies, each for 1,000 tokens in and 100 out."""

    def __init__(self, *replies: str, **settings: float) -> None:
        super().__init__(JudgeSettings(MODEL, **settings))
        self.replies = list(replies)
        self.prompts: list[str] = []

    def _fetch_text(self, prompt):
        self.prompts.append(prompt.messages[1]["content"])
        return self.replies.pop(0), 1000, 100


@pytest.fixture(scope="module")
def filled(tmp_path_factory, failing):
    """Three clusters of three runs: two that no rule explains, and one that a rule does."""
    now = time.time_ns()
    runs = []
    for n in range(3):
        runs += [
            failing((0xA00 + n) << 100, f"order {n} is locked", at=now - 30 * MINUTE_NS + n),
            failing((0xB00 + n) << 100, "the ledger is sealed", "LedgerError", at=now - 20 * MINUTE_NS + n),
            failing((0xC00 + n) << 100, "list index out of range", "IndexError", at=now - 9 * MINUTE_NS + n),
        ]
    directory = tmp_path_factory.mktemp("advice") / "store"
    with open_store(directory) as store:
        store.write(runs)
    return directory


@pytest.fixture
def location(filled, tmp_path):
    """A copy for each test: what a judge suggests is written."""
    return str(shutil.copytree(filled, tmp_path / "store", symlinks=True))


def list_clusters(store: Store) -> dict[str, FailureCluster]:
    return {each.name: each for each in store.failure_clusters(start_ns=0, end_ns=2**63 - 1)}


def test_a_judge_is_queried_once_about_each_cluster_without_a_rule(location):
    judge = ScriptedJudge(make_reply(), make_reply("", "nothing"))
    with open_store(location) as store:
        first = list(ClusterAdvising(store, judge).iter_advice(list_clusters(store).values()))
        # Another process, later: the store has what the judge suggested.
        again = list(ClusterAdvising(store, judge).iter_advice(list_clusters(store).values()))
        found = list_clusters(store)
    assert sorted(result.fix for result in first) == ["", FIX]
    assert again == []
    assert len(judge.prompts) == 2
    assert all(text.count("run ") == 3 for text in judge.prompts), judge.prompts
    assert not any("list index" in text for text in judge.prompts)
    advised = {result.name: result.fix for result in first}
    for name, fix in advised.items():
        page = build_failure_cluster(found[name], {})
        assert (page.fix, page.judge_fix, page.judge_model) == ("", fix, MODEL)
    ruled = build_failure_cluster(found["Index beyond the end"], {})
    assert ruled.fix
    assert (ruled.judge_fix, ruled.judge_model) == ("", "")


def test_a_budget_that_is_spent_ends_the_calls(location):
    # One call costs 0.00056 dollars, and the next one reserves more than is left.
    judge = ScriptedJudge(make_reply(), make_reply(), dollars_per_hour=0.0012)
    with open_store(location) as store:
        advising = ClusterAdvising(store, judge)
        results = advising.iter_advice(list_clusters(store).values())
        assert next(results).fix == FIX
        with pytest.raises(OverBudget):
            next(results)
        advising.run()  # logs it
    assert len(judge.prompts) == 1


def test_a_cluster_without_a_usable_reply_is_not_tried_again(location):
    judge = ScriptedJudge("no JSON", "no JSON", make_reply())
    with open_store(location) as store:
        advising = ClusterAdvising(store, judge)
        results = list(advising.iter_advice(list_clusters(store).values()))
        assert [bool(result.error) for result in results] == [True, False]
        assert list(advising.iter_advice(list_clusters(store).values())) == []


def test_the_command_shows_whose_fix_it_is(location, monkeypatch, capfd):
    monkeypatch.setattr(added_evaluators, "find_judge", lambda _: ScriptedJudge(make_reply(), make_reply()))
    assert run(["failures", "advise", "--store", location, "--json"]) == 0
    row, _ = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert (row["fix"], row["judge_model"], row["error"]) == (FIX, MODEL, "")
    assert run(["failures", "show", row["cluster"], "--store", location]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert f"suggested fix by the judge {MODEL}, not by a rule: Have the tool of orders" in out
    assert "no advice yet" not in out
    assert run(["failures", "show", row["cluster"], "--store", location, "--json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert (shown["fix"], shown["judge_fix"], shown["judge_model"]) == (None, FIX, MODEL)
    assert run(["failures", "advise", "--store", location]) == 0
    assert "waits for advice of the judge" in capfd.readouterr().err


def test_without_a_judge_the_command_says_how_to_have_one(location, capfd):
    assert run(["failures", "advise", "--store", location]) == 2
    assert "no judge is configured" in capfd.readouterr().err


@pytest.mark.parametrize(
    "reply",
    [
        make_reply("Allow api.example.com in the policy.", "policy"),
        make_reply(""),
        make_reply("x" * (MAX_FIX + 1)),
        json.dumps({"change": "tool", "fix": 7}),
        json.dumps({"change": ["tool"], "fix": FIX}),
        json.dumps({"fix": FIX}),
    ],
)
def test_a_fix_of_something_else_than_prompt_tool_or_data_is_refused(reply):
    prompt = AdvicePrompt(
        build_signature(Layer.EXECUTION, "call", error_type="ShopError", message="odd"), ["odd"]
    )
    with pytest.raises(JudgeFailed):
        prompt.parse_reply(reply)


def test_a_fix_is_one_line_of_text():
    prompt = AdvicePrompt(
        build_signature(Layer.EXECUTION, "call", error_type="ShopError", message="odd"), ["odd"]
    )
    assert prompt.parse_reply(make_reply("Say\n\tmore.")) == "Say more."

"""Prompts that a scripted model proposes through a loopback endpoint; the best one is known."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from spanproof.cli.app import run
from spanproof.experiments import ExperimentError, Settings, Tools, build_module_agent
from spanproof.experiments.optimise import STRATEGIES, ChatModel, Optimised, OptimiserSettings, run_search
from spanproof.experiments.optimise.folder import Proposals
from spanproof.experiments.optimise.model import (
    Candidate,
    Measured,
    build_split,
    compare_measured,
    select_front,
)

START, BEST = "Answer the question.", "Answer the question, in dollars."
MUST = {"must": [{"answer": {"contains": "45.00"}}]}


class ScriptedOptimiser:
    """An OpenAI-compatible endpoint that writes the best prompt once it reads what each strategy works by.

    That is why runs failed, that two prompts scored nothing, what tasks have in common, or its second try.
    """

    def __init__(self, *, good: bool = True) -> None:
        requests = self.requests = list[str]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                text = body["messages"][0]["content"]
                requests.append(text)
                found = ("Wrong:", "Critique:", "Task: What is the total refund in dollars")
                best = good and (
                    any(words in text for words in found)
                    or text.count("score 0.00") == 2
                    or ("a variation" in text and len(requests) == 2)
                )
                prompt = BEST if best else f"Answer the question, variation {len(requests)}."
                message = {"role": "assistant", "content": f"It fails.\n<prompt>{prompt}</prompt>"}
                reply = {
                    "id": "1", "object": "chat.completion", "created": 1, "model": body["model"],
                    "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                }  # fmt: skip
                content = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: object) -> None:
                """Keep the test's output clean."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture(params=[True], ids=["good"])
def endpoint(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedOptimiser]:
    scripted = ScriptedOptimiser(good=request.param)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{scripted.server.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    yield scripted
    scripted.close()


@pytest.fixture
def suite(write_suite) -> Path:
    """Eight cases, which only an answer in dollars passes."""
    return write_suite(**{f"case-{number}": MUST for number in range(8)})


def search(
    engine, suite: Path, folder: Path, *strategies: str, agent: str = "prompted", **more: object
) -> Optimised:
    settings = OptimiserSettings(
        "AGENT_PROMPT",
        strategies,
        trials=Settings(tools=Tools.RECORDED, jobs=1),
        few_cases=True,
        **{"rounds": 3, **more},
    )
    module = build_module_agent(f"plain_agents:{agent}")
    return run_search(module, suite, START, folder, engine, ChatModel("scripted"), settings)


@pytest.mark.parametrize("strategy", ["gepa", "protegi", "random", "meta", "mipro"])
def test_the_best_prompt_is_found_its_gain_is_of_held_out_cases_and_the_search_can_be_resumed(
    engine, suite, tmp_path, endpoint, strategy
):
    found = search(engine, suite, tmp_path / "out", strategy)
    assert found.best.text == BEST
    assert found.best.strategy == strategy
    assert (found.before.score, found.after.score) == (0.0, 1.0)
    assert found.gain is not None
    assert (found.gain.mean, found.gain.pairs) == (1.0, 2)
    assert not found.is_gain_shown, "two cases show nothing"
    assert found.stopped == "every validation case passes"
    split = build_split([f"case-{number}" for number in range(8)], 0, few_allowed=True)
    assert set(found.after.rates) == split.held_out
    written = found.to_json()
    assert written["change"] == ["@@ -1 +1 @@", f"-{START}", f"+{BEST}"]
    assert written["front"] == [found.best.id]
    assert written["held_out"]["layers"]["execution"] is not None
    sent = len(endpoint.requests)
    assert search(engine, suite, tmp_path / "out", strategy).to_json() == written
    assert len(endpoint.requests) == sent


def test_the_command_shows_what_changed_and_writes_the_best_prompt(suite, tmp_path, endpoint, capfd):
    start, out = tmp_path / "start.txt", tmp_path / "out"
    start.write_text(f"{START}\n")
    agent = ["--agent", "plain_agents:prompted", "--target", "AGENT_PROMPT", "--start", str(start)]
    how = ["--model", "scripted", "--strategy", "gepa", "--tools", "recorded", "--rounds", "2", "--few-cases"]
    assert run(["optimise", str(suite), *agent, *how, "--out", str(out)]) == 1
    shown = capfd.readouterr().out
    assert "nothing is promised: 2 held-out cases cannot show a gain" in shown
    assert f"-{START}\n+{BEST}\n" in shown
    assert "+1.00 (-1.00 to +1.00)" in shown
    assert (out / "best.txt").read_text() == f"{BEST}\n"


@pytest.mark.parametrize("endpoint", [False], ids=["useless"], indirect=True)
def test_without_a_better_prompt_the_start_stays_and_no_gain_is_reported(engine, suite, tmp_path, endpoint):
    found = search(engine, suite, tmp_path / "out", "random", "meta", rounds=9, patience=2)
    assert found.best.text == START
    assert found.gain is not None
    assert found.gain.mean == 0.0
    assert found.stopped == "2 rounds brought nothing better"
    assert len(found.validation) == 3


def test_a_budget_ends_the_search(engine, suite, tmp_path, endpoint):
    found = search(engine, suite, tmp_path / "out", "random", max_tokens=1)
    assert found.stopped.startswith("the budget of 1 tokens is spent")


def test_a_prompt_that_loses_on_the_regression_suite_is_rejected(
    engine, suite, tmp_path, endpoint, write_suite
):
    regression = tmp_path / "regression"
    (tmp_path / "suite").rename(tmp_path / "tuned")
    write_suite(cents={"must": [{"answer": {"contains": "cents"}}]}).rename(regression)
    found = search(engine, tmp_path / "tuned", tmp_path / "out", "gepa", regression=regression)
    assert found.best.text == START
    assert list(found.rejected.values()) == ["worse on the regression suite: cents"]
    assert [each.candidate.text for each in found.front] == [START]
    assert found.stopped == "3 rounds were made"


def test_examples_are_of_train_cases_that_passed(engine, write_suite, tmp_path, endpoint):
    some = {f"case-{number}": {"must": [{"answer": {"contains": "45"}}]} for number in range(8)}
    split = build_split(list(some), 0, few_allowed=True)
    for name in split.validation:
        some[name] = MUST
    found = search(engine, write_suite(**some), tmp_path / "out", "few_shot", "mipro", rounds=2)
    assert not endpoint.requests, "neither needs a model here"
    few_shot = found.validation[1].candidate
    assert few_shot.examples.count("Answer: 4500 cents") == 3
    assert few_shot.instruction == START


def test_examples_that_the_agent_imitates_are_the_best_prompt(engine, write_suite, tmp_path, endpoint):
    split = build_split([f"case-{number}" for number in range(8)], 0, few_allowed=True)
    plain = {**MUST, "task": "What is the total refund for order A-17?"}
    some = dict.fromkeys(split.train, MUST) | dict.fromkeys(split.validation | split.held_out, plain)
    found = search(engine, write_suite(**some), tmp_path / "out", "few_shot", agent="imitating")
    assert found.best.examples.count("Answer: $45.00") == 3
    assert (found.before.score, found.after.score) == (0.0, 1.0)


def test_a_folder_of_another_search_is_refused(engine, suite, tmp_path, endpoint):
    Proposals(tmp_path / "out", {"start": "another"})
    with pytest.raises(ExperimentError, match=r"holds another search: its start is 'another'"):
        search(engine, suite, tmp_path / "out", "gepa")


def test_a_round_that_came_to_nothing_is_not_repeated(engine, write_suite, tmp_path, endpoint):
    passing = {"must": [{"answer": {"contains": "cents"}}]}
    split = build_split([f"case-{number}" for number in range(8)], 0, few_allowed=True)
    some = dict.fromkeys(split.train, passing) | dict.fromkeys(split.validation | split.held_out, MUST)
    suite = write_suite(**some)
    for _ in range(2):
        found = search(engine, suite, tmp_path / "out", "gepa", rounds=2)
        assert len(found.validation) == 1, "no train case failed, so that there is nothing to reflect on"
    assert (tmp_path / "out" / "proposals.jsonl").read_text() == "null\nnull\n"


def test_too_few_cases_and_unknown_strategies_are_refused(engine, write_suite, tmp_path, endpoint):
    small = write_suite(one=MUST, two=MUST)
    with pytest.raises(ExperimentError, match="2 cases, and to show a gain takes 24"):
        search(engine, small, tmp_path / "out", *STRATEGIES)
    with pytest.raises(ExperimentError, match="there is no strategy 'luck'"):
        search(engine, small, tmp_path / "out", "luck")


def test_a_split_shares_no_case():
    for cases, few_allowed, sizes in (
        (21, True, [11, 5, 5]),
        (24, False, [6, 6, 12]),
        (60, False, [30, 15, 15]),
    ):
        split = build_split([f"case-{number}" for number in range(cases)], 3, few_allowed=few_allowed)
        parts = (split.train, split.validation, split.held_out)
        assert [len(part) for part in parts] == sizes
        assert len(frozenset().union(*parts)) == cases


def test_fewer_cases_than_can_show_a_gain_are_refused_unless_they_are_allowed():
    with pytest.raises(ExperimentError, match="23 cases, and to show a gain takes 24"):
        build_split([f"case-{number}" for number in range(23)], 0)


@pytest.mark.parametrize(("cases", "shown"), [(6, False), (11, False), (12, True)])
def test_a_gain_is_shown_on_enough_cases_only(cases, shown):
    names = [f"case-{number}" for number in range(cases)]
    before, after = (
        Measured(Candidate(f"{rate}"), dict.fromkeys(names, rate), {}, 1.0, 1.0, None) for rate in (0.0, 1.0)
    )
    assert Optimised(after.candidate, (), before, after, "", {}).is_gain_shown is shown


def test_the_front_holds_what_no_other_beats():
    def of(name: str, score: float, tokens: float) -> Measured:
        return Measured(Candidate(name), {"case": score}, {}, 1.0, tokens, None)

    front = select_front([of("cheap", 0.5, 10), of("good", 0.9, 90), of("beaten", 0.5, 20)])
    assert [each.candidate.text for each in front] == ["cheap", "good"]
    assert compare_measured({"a": 1.0}, {"b": 1.0}) is None

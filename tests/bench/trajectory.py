"""Measure the trajectory layer: does its value mark good runs, does its first mistake name the annotated one.

Usage: python tests/bench/trajectory.py [--rewarded RUNS.jsonl] [--mistakes LOGS.jsonl] [--judge MODEL]
       [--recordings DIRECTORY] [--most N] [--json]

RUNS: {"reward", "task_id", "traj": [chat messages with tool calls]} a line. Printed: AUC of each score
against a reward of 1, over all runs and over each half of the tasks, and in the same run of the naive
measures one would try first (few messages, few errors, nothing written). What one half does not show is
chance.
LOGS: {"log": {"history": [{"content", "name" or "role"}], "mistake_step"}} a line, of failed runs of several
agents. Printed: how often the blamed step is the annotated one, exactly and within one, beside always the
first, always the last, and a random choice. With --judge a model judges each step as well, in order,
and the first it calls a mistake is blamed: at OpenAI, or at OPENAI_BASE_URL; OPENAI_API_KEY is its key. That
is a question a step, so try it with --most 5 first. A judge that does not answer ends the bench. With
--recordings its replies are kept by the content of their question, and a question is sent once.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress, pairwise
from pathlib import Path
from typing import Any

from spanproof.evaluators.actions import Action, extract_thought, make_call_action, make_code_action
from spanproof.evaluators.detect import snippets_in
from spanproof.evaluators.judge import Judge, JudgeError, JudgeSettings, Rubric, question_of
from spanproof.evaluators.layers.trajectory.ending import Completion
from spanproof.evaluators.layers.trajectory.metrics import compute_metrics
from spanproof.evaluators.layers.trajectory.mistake import find_blame
from spanproof.evaluators.layers.trajectory.unsourced import Turn
from spanproof.evaluators.outcomes.recovery import list_recoveries
from spanproof.trace import Layer, Scored

WRITES = re.compile(r"(?:add|book|cancel|create|delete|exchange|modify|remove|return|send|set|update)_")
EXIT_CODE = re.compile(r"\Aexitcode: (\d+)")
OUTPUTS = {"Computer_terminal", "ComputerTerminal", "WebSurfer", "FileSurfer"}
"""Speakers of the logs whose messages are what a program or a browser showed."""

RUBRIC = Rubric(
    name="FirstMistake",
    layer=Layer.TRAJECTORY,
    score="first_mistake",
    pass_at=0.5,
    instructions="You read the log of a team of agents whose final answer was wrong, up to one step. Decide"
    " whether that last step makes the mistake that decides the failure: a wrong fact, a wrong reading, wrong"
    " code, a wrong plan. Score 0 when it does, 1 when it does not. Quote the words that decide.",
    version="bench",
)


def main() -> None:
    """Measure what is given, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rewarded", type=Path, help="JSON Lines with reward and traj")
    parser.add_argument("--mistakes", type=Path, help="JSON Lines with log.history and log.mistake_step")
    parser.add_argument("--judge", default="", help="a model to ask as well")
    parser.add_argument("--recordings", type=Path, help="a directory that keeps the model's replies")
    parser.add_argument("--most", type=int, default=None, help="how many logs, for a judge that costs")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    judge = judge_for(options.judge, options.recordings)
    found: dict[str, Any] = {}
    if options.rewarded:
        found["rewarded"] = measure_rewarded(rows_of(options.rewarded))
    if options.mistakes:
        found["mistakes"] = measure_mistakes(rows_of(options.mistakes)[: options.most], judge)
    print(json.dumps(found) if options.json else table(found))


def judge_for(model: str, recordings: Path | None = None) -> Judge | None:
    """The judge, None where none is requested."""
    if not model:
        return None
    if not os.environ.get("OPENAI_API_KEY"):
        sys.exit("--judge needs OPENAI_API_KEY, and OPENAI_BASE_URL for an endpoint of your own")
    return Judge(JudgeSettings(model=model, recordings=recordings))


def rows_of(file: Path) -> list[dict[str, Any]]:
    """The rows of a file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def measure_rewarded(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """AUC of every score and of the naive measures; scores that were skipped count as their mean."""
    rewarded = [float(row["reward"]) >= 1.0 for row in rows]
    tasks = sorted({row.get("task_id", place) for place, row in enumerate(rows)})
    first = [tasks.index(row.get("task_id", place)) % 2 == 0 for place, row in enumerate(rows)]
    values: dict[str, list[float | None]] = {}
    for place, row in enumerate(rows):
        actions, answer = list(chat_actions(row["traj"])), last_words(row["traj"])
        for name, outcome in compute_metrics(actions, Completion(bool(answer)), answer).items():
            kept = values.setdefault(name, [None] * len(rows))
            kept[place] = outcome.value if isinstance(outcome, Scored) else None
        values.setdefault("naive: few messages", [None] * len(rows))[place] = -float(len(row["traj"]))
        failed = sum(action.error is not None for action in actions)
        values.setdefault("naive: few errors", [None] * len(rows))[place] = -float(failed)
        wrote = any(WRITES.match(action.name) for action in actions)
        values.setdefault("naive: nothing written", [None] * len(rows))[place] = -float(wrote)
    return {
        "runs": len(rows),
        "rewarded": sum(rewarded),
        "auc": {
            name: by_half(filled(kept), rewarded, first) for name, kept in values.items() if any_of(kept)
        },
    }


def by_half(values: Sequence[float], good: Sequence[bool], first: Sequence[bool]) -> dict[str, float]:
    """AUC over all, over the first half and over the other."""
    halves = {"all": [True] * len(first), "one_half": first, "other_half": [not each for each in first]}
    return {
        name: round(auc(list(compress(values, chosen)), list(compress(good, chosen))), 3)
        for name, chosen in halves.items()
    }


def any_of(kept: Sequence[float | None]) -> bool:
    """Whether a score was measured at all."""
    return any(value is not None for value in kept)


def filled(kept: Sequence[float | None]) -> list[float]:
    """Values with the mean in place of those that were skipped."""
    known = [value for value in kept if value is not None]
    mean = sum(known) / len(known)
    return [mean if value is None else value for value in kept]


def auc(values: Sequence[float], good: Sequence[bool]) -> float:
    """The chance that a good run has the higher value; ties count half."""
    above = [value for value, is_good in zip(values, good, strict=True) if is_good]
    below = [value for value, is_good in zip(values, good, strict=True) if not is_good]
    won = sum((one > other) + (one == other) / 2 for one in above for other in below)
    return won / (len(above) * len(below)) if above and below else 0.5


def chat_actions(messages: Sequence[Mapping[str, Any]]) -> Iterator[Action]:
    """The tool calls of a chat; a result that begins with `Error` is how this benchmark raises."""
    results = {str(each.get("tool_call_id")): str(each.get("content") or "") for each in messages
               if each.get("role") == "tool"}  # fmt: skip
    for number, message in enumerate(messages, 1):
        for call in message.get("tool_calls") or []:
            result = results.get(str(call["id"]), "")
            failed = result.startswith("Error")
            yield make_call_action(
                number,
                str(number),
                call["function"]["name"],
                json_of(call["function"]["arguments"]),
                error=result if failed else None,
                result=None if failed else result,
                thought=extract_thought(message.get("content") or ""),
            )


def json_of(text: str) -> Any:
    """Arguments as the model wrote them."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def last_words(messages: Sequence[Mapping[str, Any]]) -> str:
    """What the agent said last."""
    said = (str(each["content"]) for each in reversed(messages)
            if each.get("role") == "assistant" and each.get("content"))  # fmt: skip
    return next(said, "")


def measure_mistakes(rows: Sequence[Mapping[str, Any]], judge: Judge | None) -> dict[str, Any]:
    """How often each way of blaming names the annotated step, exactly and within one."""
    logs = [(row["log"]["history"], int(row["log"]["mistake_step"])) for row in rows]
    ways: dict[str, Callable[[Sequence[Mapping[str, Any]]], int | None]] = {
        "first_mistake": lambda history: blame(history, failed=False),
        "first_mistake, told that the run failed": lambda history: blame(history, failed=True),
        "first_mistake, else the first step": lambda history: (
            found if (found := blame(history, failed=False)) is not None else 0
        ),
        "naive: always the first step": lambda history: 0,
        "naive: always the last step": lambda history: len(history) - 1,
    }
    if judge is not None:
        ways["judge, step by step"] = lambda history: judged(history, judge)
        ways["first_mistake, else the judge"] = lambda history: (
            found if (found := blame(history, failed=False)) is not None else judged(history, judge)
        )
    named = {name: [way(history) for history, _ in logs] for name, way in ways.items()}
    found = {name: hits(steps, logs) for name, steps in named.items()}
    found["naive: random"] = {
        "named": len(logs),
        "exact": round(sum(1 / len(history) for history, _ in logs) / len(logs), 3),
        "within_one": round(sum(near(history, step) for history, step in logs) / len(logs), 3),
    }
    halves = {
        name: [hits(steps[half::2], logs[half::2])["exact"] for half in (0, 1)]
        for name, steps in named.items()
    }
    return {"logs": len(logs), "ways": found, "exact_by_half": halves}


def near(history: Sequence[object], step: int) -> float:
    """The chance that a random step is within one of this one."""
    return sum(abs(place - step) <= 1 for place in range(len(history))) / len(history)


def hits(named: Sequence[int | None], logs: Sequence[tuple[Sequence[object], int]]) -> dict[str, float]:
    """Shares of all logs: a log in which no step was named is a miss."""
    steps = [step for _, step in logs]
    pairs = [(one, step) for one, step in zip(named, steps, strict=True) if one is not None]
    return {
        "named": len(pairs),
        "exact": round(sum(one == step for one, step in pairs) / max(1, len(steps)), 3),
        "within_one": round(sum(abs(one - step) <= 1 for one, step in pairs) / max(1, len(steps)), 3),
    }


def blame(history: Sequence[Mapping[str, Any]], *, failed: bool) -> int | None:
    """The message that `first_mistake` blames."""
    actions = list(log_actions(history))
    given = "\n".join(str(message.get("content") or "") for message in history[:1])
    found = find_blame(
        actions, Completion(answered=not failed), list_recoveries(actions), list(log_turns(history)), given
    )
    return found.step if found else None


def log_turns(history: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    """Each message after the task: said by an agent, or shown by one that only runs or fetches things."""
    for place, message in enumerate(history[1:], 1):
        text, speaker = str(message.get("content") or ""), str(message.get("name") or message.get("role"))
        if speaker in OUTPUTS:
            yield Turn(place, str(place), "", shown=text)
        else:
            code = "\n".join(found.source for found in snippets_in(text))
            yield Turn(place, str(place), extract_thought(text, code) or "", code)


def log_actions(history: Sequence[Mapping[str, Any]]) -> list[Action]:
    """Code in messages with what a terminal answered; they are actions only where none runs code."""
    return list(code_actions(history)) or list(spoken(history))


def code_actions(history: Sequence[Mapping[str, Any]]) -> Iterator[Action]:
    """Each message with code that a terminal answered."""
    for place, (message, answer) in enumerate(pairwise(history)):
        text, after = str(message.get("content") or ""), str(answer.get("content") or "")
        exit_code, sources = EXIT_CODE.match(after), [found.source for found in snippets_in(text)]
        if exit_code and sources:
            failed, shown = exit_code[1] != "0", after.partition("Code output:")[2] or after
            yield make_code_action(
                place,
                str(place),
                "\n".join(sources),
                error=after if failed else None,
                observation=None if failed else shown,
                scan=None,
                thought=extract_thought(text, sources[0]),
            )


def spoken(history: Sequence[Mapping[str, Any]]) -> Iterator[Action]:
    """Each message as a call to its speaker."""
    for place, message in enumerate(history):
        speaker, text = str(message.get("name") or message.get("role")), str(message.get("content") or "")
        yield make_call_action(place, str(place), speaker, text, error=None, result=text)


def judged(history: Sequence[Mapping[str, Any]], judge: Judge) -> int | None:
    """The first message that a model calls the mistake; None where it calls none so."""
    for place in range(len(history)):
        shown = history[: place + 1]
        parts = [(f"step {number}", str(each.get("content") or "")) for number, each in enumerate(shown)]
        try:
            if judge.ask(question_of(RUBRIC, parts)).score < RUBRIC.pass_at:
                return place
        except JudgeError as problem:
            sys.exit(f"the judge cannot be asked about step {place} of a log: {problem}")
    return None


def table(found: Mapping[str, Any]) -> str:
    """What was measured, for people."""
    lines: list[str] = []
    if "rewarded" in found:
        of = found["rewarded"]
        title = f"AUC against reward, {of['rewarded']} of {of['runs']} runs"
        lines.append(f"{title:46}{'all':>6}{'half':>8}{'other half':>12}")
        lines += [
            f"  {name:44}{each['all']:6.3f}{each['one_half']:8.3f}{each['other_half']:12.3f}"
            for name, each in of["auc"].items()
        ]
    if "mistakes" in found:
        title = f"the annotated step, {found['mistakes']['logs']} logs"
        lines.append(f"{title:46}{'named':>6}{'exact':>8}{'within 1':>10}{'one half':>10}{'other half':>12}")
        halves = found["mistakes"]["exact_by_half"]
        lines += [
            f"  {name:44}{each['named']:6}{each['exact']:8.1%}{each['within_one']:10.1%}"
            + "".join(
                f"{half:{width}.1%}" for half, width in zip(halves.get(name, ()), (10, 12), strict=False)
            )
            for name, each in found["mistakes"]["ways"].items()
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()

"""Completions of a model behind an OpenAI-compatible endpoint, all of them kept in a file.

In: tasks by id, a model, how many completions of each. Out: a file of JSON lines that `iter_samples` reads,
so that grades are made anew without another request. A run that was interrupted, or that spent its budget,
goes on with the same file.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from spanproof.benchmarks.errors import BenchmarkError
from spanproof.benchmarks.run import run_all
from spanproof.evaluators.prices import Price
from spanproof.experiments.seeds import compute_trial_seed
from spanproof.trace import digest

if TYPE_CHECKING:
    from openai import OpenAI

# A rate limit is waited for as the endpoint's Retry-After says, else for 0.5 to 8 s each time.
_RETRIES: Final = 8


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """How a model is requested.

    Attributes:
        endpoint: the base address of the API, with its version: `http://localhost:8000/v1`.
        temperature: None leaves it to the endpoint.
        seed: each completion gets one of its own, made from it.
        price: None where it is not known.
        max_cost_usd: no request starts once completions cost this; None is no limit.
        timeout_s: of one request.
    """

    model: str
    endpoint: str
    temperature: float | None = None
    seed: int = 0
    price: Price | None = None
    max_cost_usd: float | None = None
    timeout_s: float = 120.0


@dataclass(frozen=True, slots=True)
class Sampled:
    """What sampling came to.

    Attributes:
        kept: completions in the file that belong to these tasks.
        requested: those of them that were requested now.
        cost_usd: of all that are kept; None where no price is known.
        stopped: why it ended early; empty where it did not.
    """

    kept: int
    requested: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    stopped: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


class CompletionFile:
    """Completions as JSON lines, each with what it rests on.

    A line counts for a task while model, temperature, seed and the task's text are the same.
    """

    def __init__(self, path: Path, request: ModelRequest) -> None:
        self.path = path
        self._request = request
        self._lock = Lock()

    def read(self, tasks: Mapping[str, str], count: int) -> dict[tuple[str, int], dict[str, Any]]:
        """Return the lines that count, by id and number; a last line that an interrupt cut is removed.

        Raises:
            BenchmarkError: a line is no completion, or one of another request.
        """
        found: dict[tuple[str, int], dict[str, Any]] = {}
        if not self.path.exists():
            return found
        end = 0
        with self.path.open("r+b") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    break
                end += len(line)
                row = self._read_line(line, f"{self.path}, line {number}", tasks)
                if row["task_id"] in tasks and row["number"] <= count:
                    found[row["task_id"], row["number"]] = row
            lines.truncate(end)
        return found

    def write(self, row: Mapping[str, Any]) -> None:
        """Write one completion."""
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.write(json.dumps(row).encode() + b"\n")

    def build_identity(self, text: str) -> dict[str, Any]:
        """Return what a completion of this text rests on."""
        request = self._request
        return {
            "model": request.model,
            "temperature": request.temperature,
            "seed": request.seed,
            "task": digest("task", text),
        }

    def _read_line(self, line: bytes, location: str, tasks: Mapping[str, str]) -> dict[str, Any]:
        try:
            row: dict[str, Any] = json.loads(line)
            identity = row["task_id"]
            is_whole = isinstance(row["completion"], str) and isinstance(row["number"], int)
        except (ValueError, KeyError, TypeError) as problem:
            raise BenchmarkError(f"{location}: no completion of this version: {problem!r}") from problem
        if not is_whole:
            raise BenchmarkError(f"{location}: no completion of this version")
        for key, value in self.build_identity(tasks.get(identity, "")).items():
            if row.get(key) != value and identity in tasks:
                raise BenchmarkError(
                    f"{location}: it is of another request: its {key} is {row.get(key)!r}, not {value!r};"
                    " give another file, or the same arguments"
                )
        return row


def run_sampling(
    tasks: Mapping[str, str],
    request: ModelRequest,
    path: Path,
    count: int,
    jobs: int = 1,
    report: Callable[[int], None] = lambda _kept: None,
) -> Sampled:
    """Complete a file until it holds `count` completions of each task.

    Args:
        tasks: what the model is given, by id.
        request: how.
        path: of the file.
        count: completions of each task.
        jobs: requests at once.
        report: called with the number of completions that the file holds, as one is added.

    Raises:
        BenchmarkError: the file is of another request, or the endpoint gave no completion; those that came
            before are in the file.
    """
    file = CompletionFile(path, request)
    rows = file.read(tasks, count)
    had = len(rows)
    report(had)
    if request.max_cost_usd is not None and request.price is None:
        raise BenchmarkError(
            f"a limit of the cost needs a price, and none is known of {request.model!r}: give --price"
        )
    spent = [_compute_cost(rows.values(), request.price) or 0.0]
    stopped = ""

    def list_missing() -> Iterator[tuple[str, int]]:
        nonlocal stopped
        for number in range(1, count + 1):
            for identity in tasks:
                if (identity, number) in rows:
                    continue
                if request.max_cost_usd is not None and spent[0] >= request.max_cost_usd:
                    stopped = f"the budget of ${request.max_cost_usd:g} is spent"
                    return
                yield identity, number

    client = _open_client(request)

    def complete(identity: str, number: int) -> dict[str, Any]:
        row = _fetch_completion(client, request, identity, tasks[identity], number)
        row |= file.build_identity(tasks[identity])
        file.write(row)
        return row

    with ThreadPoolExecutor(jobs) as pool:
        for row in run_all(pool, complete, list_missing(), jobs):
            rows[row["task_id"], row["number"]] = row
            spent[0] += _compute_cost([row], request.price) or 0.0
            report(len(rows))
    return Sampled(
        kept=len(rows),
        requested=len(rows) - had,
        tokens_in=sum(row["tokens_in"] for row in rows.values()),
        tokens_out=sum(row["tokens_out"] for row in rows.values()),
        cost_usd=_compute_cost(rows.values(), request.price),
        stopped=stopped,
    )


def _compute_cost(rows: Iterable[Mapping[str, Any]], price: Price | None) -> float | None:
    if price is None:
        return None
    return fsum(price.compute_dollars(row["tokens_in"], row["tokens_out"]) for row in rows)


def _open_client(request: ModelRequest) -> OpenAI:
    try:
        from openai import OpenAI
    except ImportError as problem:
        raise BenchmarkError(
            "requests to a model need the package openai: pip install 'spanproof[judge]'"
        ) from problem
    # Local servers take any key, and the client refuses to have none.
    key = os.environ.get("OPENAI_API_KEY") or "none"
    return OpenAI(base_url=request.endpoint, api_key=key, timeout=request.timeout_s, max_retries=_RETRIES)


def _fetch_completion(
    client: OpenAI, request: ModelRequest, identity: str, text: str, number: int
) -> dict[str, Any]:
    import openai

    options: dict[str, Any] = {} if request.temperature is None else {"temperature": request.temperature}
    start = time.monotonic()
    try:
        reply = client.chat.completions.create(
            model=request.model,
            messages=[{"role": "user", "content": text}],
            seed=compute_trial_seed(request.seed, identity, number) % 2**31,
            **options,
        )
    except openai.OpenAIError as problem:
        raise BenchmarkError(
            f"{request.endpoint} gave no completion of {identity!r}: {problem};"
            " what came before is kept, and the same command goes on from it"
        ) from problem
    choice, usage = reply.choices[0], reply.usage
    return {
        "task_id": identity,
        "number": number,
        "completion": choice.message.content or "",
        "finish_reason": choice.finish_reason,
        "wall_s": round(time.monotonic() - start, 4),
        "tokens_in": usage.prompt_tokens if usage else 0,
        "tokens_out": usage.completion_tokens if usage else 0,
    }

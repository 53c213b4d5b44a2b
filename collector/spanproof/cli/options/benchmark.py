"""The options of `bench`: which problems, whose answers, and how they are tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from spanproof.benchmarks import Source
from spanproof.benchmarks.turns import MAX_TURNS

Command = TypeVar("Command", bound=Callable[..., Any])

_DAY = click.DateTime(["%Y-%m-%d"])
_FILE = click.Path(path_type=Path, exists=True)


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What the options say, by their names."""

    problems: Path
    samples: Path | None
    reference: bool
    agent: str | None
    command: str | None
    url: str | None
    turns: int
    trials: int
    k: tuple[int, ...]
    limit: int | None
    only: tuple[str, ...]
    since: date | None
    until: date | None
    cutoff: date | None
    other_split: Path | None
    answers: Path | None
    databases: Path | None
    image: str
    packages: Path | None
    timeout: float | None
    memory: int
    require_apart: bool
    jobs: int
    model: str
    temperature: float | None
    seed: int | None
    endpoint: str | None
    completions: Path | None
    max_cost: float | None
    price: tuple[float, float] | None
    prices: Path | None
    judge: str
    judge_endpoint: str | None
    judgements: Path | None

    def build_source(self, problems: Path) -> Source:
        """Return the local files that belong to these problems."""
        return Source(problems, self.answers, self.databases, self.image)


_OPTIONS = (
    click.option(
        "--problems",
        type=_FILE,
        required=True,
        help="The published file, or a folder of them: JSON, JSON lines, gzipped or not, Parquet.",
    ),
    click.option("--samples", type=_FILE, help="A model's answers."),
    click.option("--reference", is_flag=True, help="Take the published solutions as the answers."),
    click.option(
        "--agent", metavar="MODULE:NAME", help="Run this agent, or the agent that this function creates."
    ),
    click.option("--command", metavar="LINE", help="Run this program: task on stdin, answer on stdout."),
    click.option("--url", help="Call the agent behind this URL: POST {task}, the answer in the response."),
    click.option(
        "--turns",
        type=click.IntRange(1, MAX_TURNS),
        default=1,
        show_default=True,
        help="Attempts of an agent: after each it sees what the public tests say.",
    ),
    click.option(
        "-n",
        "--trials",
        type=click.IntRange(1, 1000),
        default=1,
        show_default=True,
        help="Answers of an agent or of --endpoint to each problem: the n of pass@k.",
    ),
    click.option(
        "--k", multiple=True, type=click.IntRange(1), help="The k of pass@k; may be given several times."
    ),
    click.option("--limit", type=click.IntRange(1), help="Only this many problems, from the first one."),
    click.option(
        "--only", multiple=True, metavar="ID", help="Only this problem; may be given several times."
    ),
    click.option("--since", type=_DAY, help="Problems published on this day or later."),
    click.option("--until", type=_DAY, help="Problems published before this day."),
    click.option(
        "--cutoff", type=_DAY, help="When the model's training ended: rates before and after are compared."
    ),
    click.option(
        "--other-split", type=_FILE, help="Problems the model may have seen: near-duplicates are listed."
    ),
    click.option("--answers", type=_FILE, help="bfcl: the acceptable calls, if not in possible_answer/."),
    click.option("--databases", type=_FILE, help="text-to-sql: the folder of NAME/NAME.sqlite."),
    click.option(
        "--image",
        default=Source(Path()).image,
        show_default=True,
        help="swe-bench: the local image of an instance; {instance} and {id} are filled in.",
    ),
    click.option(
        "--packages",
        type=_FILE,
        help="Packages for the answers: a requirements.txt with exact pins, or a package-lock.json.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0.1),
        help="Seconds for one program. By default those of the benchmark.",
    ),
    click.option(
        "--memory",
        type=click.IntRange(16),
        default=512,
        show_default=True,
        help="Megabytes for one program.",
    ),
    click.option(
        "--require-apart",
        is_flag=True,
        help="Leave answers unjudged whose tests must share their interpreter.",
    ),
    click.option(
        "--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Programs that run at once."
    ),
    click.option("--model", default="", help="The snapshot that answers, for the protocol and --endpoint."),
    click.option(
        "--temperature", type=float, help="Temperature of the model, for the protocol and --endpoint."
    ),
    click.option(
        "--seed", type=int, help="Seed of the model, for the protocol; an agent and --endpoint receive it."
    ),
    click.option("--endpoint", metavar="URL", help="Request completions of --model from this OpenAI API."),
    click.option(
        "--completions",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Where all completions of --endpoint are kept; those that are there are not requested again."
        "  [default: .spanproof/bench/NAME-MODEL.jsonl]",
    ),
    click.option(
        "--max-cost", type=click.FloatRange(min=0), help="US dollars after which no completion is requested."
    ),
    click.option(
        "--price",
        type=(float, float),
        metavar="IN OUT",
        help="US dollars per million tokens of --model, where the shipped list has none.",
    ),
    click.option(
        "--prices",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="YAML of prices by provider, which extends the shipped list.",
    ),
    click.option("--judge", default="", help="A model that judges each answer beside its tests."),
    click.option("--judge-endpoint", metavar="URL", help="API of --judge. By default that of --endpoint."),
    click.option(
        "--judgements",
        type=click.Path(path_type=Path, dir_okay=False),
        help="File of the replies of --judge. By default in .spanproof/bench.",
    ),
)


def with_bench_options(command: Command) -> Command:
    """Give a command the options; it gets them as one argument, `options`."""

    @wraps(command)
    def with_options(*args: Any, **values: Any) -> Any:
        named = {name: values.pop(name) for name in BenchOptions.__dataclass_fields__}
        days = {key: value.date() for key, value in named.items() if isinstance(value, datetime)}
        return command(*args, options=BenchOptions(**{**named, **days}), **values)

    decorated: Any = with_options
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]

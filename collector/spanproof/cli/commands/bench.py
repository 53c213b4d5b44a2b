"""`spanproof bench`: a public benchmark of code, by its published files and a model's answers or an agent."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import click

from spanproof.benchmarks import (
    BENCHMARKS,
    Answer,
    BenchmarkReport,
    GradedAnswer,
    Place,
    Problem,
    Protocol,
    find_signs,
    grade_answers,
    match_answers,
    read_problems,
    read_samples,
    write_graded,
)
from spanproof.benchmarks.turns import answer_all
from spanproof.cli.commands.bench_security import SECURITY, run_security
from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.options.backend import backend_options, open_backend
from spanproof.cli.options.benchmark import BenchOptions, bench_options
from spanproof.cli.output.benchmark import print_benchmark
from spanproof.cli.output.console import inform, json_line, print_json, progress
from spanproof.cli.problems import UsageProblem
from spanproof.experiments import AgentUnderTest, Settings, agent_in_module, agent_program, agent_service
from spanproof.sandbox import PackageSet, Sandbox
from spanproof.sandbox.environments import read_packages


@click.command("bench")
@click.argument("name", type=click.Choice([*BENCHMARKS, SECURITY]), metavar="NAME")
@bench_options
@click.option("--at-least", type=click.FloatRange(0, 1), help="Exit with 1 where pass@1 is below.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write each answer with its grades, as JSON lines.",
)
@click.option("--json", "as_json", is_flag=True, help="The report as JSON on stdout.")
@backend_options
def command(
    name: str,
    options: BenchOptions,
    at_least: float | None,
    out: Path | None,
    as_json: bool,
    backend: str,
    settings: dict[str, str],
) -> int:
    """Grade answers to a public benchmark of code, in the sandbox.

    NAME is humaneval, humaneval+, humaneval-x, mbpp, mbpp+, multipl-e, livecodebench, bigcodebench,
    swe-bench, text-to-sql, bfcl or tau. Files are those that the projects publish; nothing is downloaded.
    What the sandbox cannot try is unjudged, and counts as no failure. Exit code 1 where pass@1 is below
    --at-least. NAME security counts safe and unsafe completions of prompts by CWE.
    """
    if name == SECURITY:
        return run_security(options, backend, settings, out, as_json=as_json)
    agent = _agent(options)
    if sum((options.samples is not None, options.reference, agent is not None)) != 1:
        raise UsageProblem(
            "bench needs answers, of one kind",
            "Give --samples FILE, --reference, or an agent by --agent, --command or --url.",
        )
    benchmark = BENCHMARKS[name]
    published = read_problems(benchmark, options.source(options.problems))
    chosen, subset = _choose(published, options)
    timeout_s = options.timeout or benchmark.timeout_s
    packages = _packages(options.packages)
    with open_backend(backend, settings, options.jobs) as sandbox:
        place = Place(sandbox, timeout_s, options.memory * 1024**2, packages, _image_opener(settings))
        if agent is not None:
            how = Settings(trials=options.trials, jobs=options.jobs, seed=options.seed or 0)
            answers = answer_all(agent, chosen, place, how, options.turns)
        else:
            answers = _read_answers(chosen, options.samples)
        graded = _grade(chosen, answers, place, options.jobs, as_json=as_json)
    counts = Counter(each.problem for each in answers).values()
    protocol = Protocol(
        benchmark=name,
        problems=len(counts),
        published=len(published),
        digest=_digest(options.problems),
        subset=subset,
        n=(min(counts), max(counts)),
        k=tuple(sorted(set(options.k) or {1})),
        temperature=options.temperature,
        seed=options.seed,
        model=options.model,
        turns=options.turns,
        sandbox=backend,
        timeout_s=timeout_s,
        version=version("spanproof"),
    )
    other = read_problems(benchmark, options.source(options.other_split)) if options.other_split else ()
    report = BenchmarkReport(protocol, chosen, graded, find_signs(chosen, graded, other, options.cutoff))
    if out is not None:
        _write(out, graded)
    if as_json:
        print_json(report.to_json())
    else:
        print_benchmark(report)
    rate = report.headline.pass_at.get(1, 0.0)
    return EXIT_GATE_FAILED if at_least is not None and rate < at_least else EXIT_PASS


def _read_answers(problems: Sequence[Problem], samples: Path | None) -> list[Answer]:
    """Return the answers in a file; without one the published solutions."""
    if samples is not None:
        return match_answers(problems, read_samples(samples))
    found = [each.reference for each in problems if each.reference is not None]
    if not found:
        raise UsageProblem("the file holds no published solutions", "Give a model's answers with --samples.")
    return found


def _grade(
    problems: Sequence[Problem], answers: Sequence[Answer], place: Place, jobs: int, *, as_json: bool
) -> list[GradedAnswer]:
    with progress(as_json=as_json) as bar:
        task = bar.add_task("grading", total=len(answers))
        return grade_answers(problems, answers, place, jobs, lambda _graded: bar.advance(task))


def _write(path: Path, graded: Sequence[GradedAnswer]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json_line(write_graded(each)) for each in graded))
    inform(f"wrote {path}")


def _choose(problems: Sequence[Problem], options: BenchOptions) -> tuple[list[Problem], str]:
    """Return the problems that are meant, and which they are, in words."""
    chosen, words = list(problems), []
    if options.only:
        missing = set(options.only) - {each.id for each in problems}
        if missing:
            raise UsageProblem(f"--only: there is no problem {min(missing)!r}", f"One is {problems[0].id!r}.")
        chosen = [each for each in chosen if each.id in options.only]
        words.append(f"only {', '.join(options.only)}")
    if options.since:
        chosen = [each for each in chosen if each.published and each.published >= options.since]
        words.append(f"since {options.since}")
    if options.until:
        chosen = [each for each in chosen if each.published and each.published < options.until]
        words.append(f"until {options.until}")
    if options.limit is not None:
        chosen = chosen[: options.limit]
        words.append(f"the first {options.limit}")
    if not chosen:
        raise UsageProblem(
            f"no problem is left: {', '.join(words)}",
            "Widen the choice; --since and --until leave out problems without a date.",
        )
    return chosen, ", ".join(words)


def _agent(options: BenchOptions) -> AgentUnderTest | None:
    given = [each for each in (options.agent, options.command, options.url) if each is not None]
    if len(given) > 1:
        raise UsageProblem("several agents are given", "Name one of --agent, --command and --url.")
    if options.agent is not None:
        return agent_in_module(options.agent)
    if options.command is not None:
        return agent_program(options.command)
    return agent_service(options.url) if options.url is not None else None


def _image_opener(settings: dict[str, str]) -> Callable[[str], Sandbox]:
    others = {key: value for key, value in settings.items() if key in ("host", "runtime", "cpus", "user")}
    return lambda image: open_backend("docker", {**others, "image": image})


def _packages(path: Path | None) -> PackageSet | None:
    return read_packages(path).packages if path is not None else None


def _digest(path: Path) -> str:
    files = [path] if path.is_file() else sorted(each for each in path.iterdir() if each.is_file())
    found = hashlib.sha256()
    for each in files:
        found.update(each.read_bytes())
    return found.hexdigest()

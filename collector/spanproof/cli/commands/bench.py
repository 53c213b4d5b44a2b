"""`spanproof bench`: a public benchmark of code, by its published files and a model's answers or an agent."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import click

from spanproof.benchmarks import (
    BENCHMARKS,
    Answer,
    Benchmark,
    BenchmarkReport,
    GradedAnswer,
    GradingSetup,
    Journal,
    Problem,
    Protocol,
    evaluate_answers,
    evaluate_contamination,
    iter_samples,
    read_problems,
    select_answers,
)
from spanproof.benchmarks.contamination import Contamination
from spanproof.benchmarks.journal import Done
from spanproof.benchmarks.turns import run_agent
from spanproof.cli.commands.bench_sampling import fetch_completions, fetch_judgements
from spanproof.cli.commands.bench_security import SECURITY, run_security
from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.options.backend import open_backend, with_backend_options
from spanproof.cli.options.benchmark import BenchOptions, with_bench_options
from spanproof.cli.output.benchmark import format_first, write_benchmark
from spanproof.cli.output.console import build_progress, write_json, write_remark, write_warning
from spanproof.cli.problems import UsageProblem
from spanproof.experiments import (
    AgentUnderTest,
    Settings,
    build_module_agent,
    build_program_agent,
    build_service_agent,
)
from spanproof.sandbox import PackageSet, Sandbox
from spanproof.sandbox.environments import read_packages


@click.command("bench")
@click.argument("name", type=click.Choice([*BENCHMARKS, SECURITY]), metavar="NAME")
@with_bench_options
@click.option("--at-least", type=click.FloatRange(0, 1), help="Exit with 1 if pass@1 is below this.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write each answer with its grades, as JSON lines, as it is graded.",
)
@click.option("--resume", is_flag=True, help="Continue from the answers in --out.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON on stdout.")
@with_backend_options
def command(
    name: str,
    options: BenchOptions,
    at_least: float | None,
    out: Path | None,
    resume: bool,
    as_json: bool,
    backend: str,
    settings: dict[str, str],
) -> int:
    """Grade answers to a public benchmark of code, in the sandbox.

    NAME is humaneval, humaneval+, humaneval-x, mbpp, mbpp+, multipl-e, livecodebench, bigcodebench,
    swe-bench, text-to-sql, bfcl or tau. Files are those that the projects publish; nothing is downloaded.
    What the sandbox cannot try is unjudged, and no failure. Exit code 1 if pass@1 is below --at-least. With
    the NAME security, safe and unsafe completions of prompts are counted by CWE.
    """
    _check_resume(name, out, resume=resume)
    if name == SECURITY:
        return run_security(options, backend, settings, out, as_json=as_json)
    agent = _find_agent(options)
    _check_answers(options, agent)
    benchmark = BENCHMARKS[name]
    published = read_problems(benchmark, options.build_source(options.problems))
    chosen, subset = _select_problems(published, options)
    if options.endpoint is not None:
        tasks = {item.id: item.task for item in chosen}
        options = replace(options, samples=fetch_completions(name, tasks, options, as_json=as_json))
    timeout_s = options.timeout or benchmark.timeout_s
    packages = _load_package_set(options.packages)
    digest = _encode_files(options.problems)
    journal = _find_journal(name, digest, timeout_s, options, out)
    done = _build_done(journal, resume=resume)
    with open_backend(backend, settings, options.jobs) as sandbox, build_progress(as_json=as_json) as bar:
        grading_place = GradingSetup(
            sandbox,
            timeout_s,
            options.memory * 1024**2,
            packages,
            _build_image_opener(settings),
            require_apart=options.require_apart,
        )
        task = bar.add_task("grading", total=None)

        def report(graded: GradedAnswer) -> None:
            bar.advance(task)
            if journal is not None:
                journal.write(graded)

        if agent is not None:
            how = Settings(trials=options.trials, jobs=options.jobs, seed=options.seed or 0)
            bar.update(task, total=len(chosen) * options.trials - len(done))
            graded = run_agent(agent, chosen, grading_place, how, options.turns, report, done)
        else:
            answers = _read_answers(published, chosen, options.samples)
            bar.update(task, total=len(answers) - len(done))
            graded = evaluate_answers(chosen, answers, grading_place, options.jobs, report, done)
    counts = Counter(answer.answer.problem for answer in graded).values()
    ks = tuple(sorted(set(options.k) or {1}))
    protocol = Protocol(
        benchmark=name,
        problems=len(counts),
        published=len(published),
        digest=digest,
        subset=subset,
        n=(min(counts), max(counts)),
        k=ks,
        temperature=options.temperature,
        seed=options.seed,
        model=options.model,
        turns=options.turns,
        sandbox=backend,
        timeout_s=timeout_s,
        version=version("spanproof"),
    )
    signs = _read_signs(benchmark, chosen, graded, options)
    judged = fetch_judgements(name, chosen, graded, options, as_json=as_json) if options.judge else None
    result = BenchmarkReport(protocol, chosen, graded, signs, judged)
    if journal is not None:
        journal.write_all(graded)
        write_remark(f"wrote {out}")
    if as_json:
        write_json(result.to_json())
    else:
        write_benchmark(result)
    rate = result.headline.pass_at.get(1, 0.0)
    if at_least is not None and rate < at_least:
        return EXIT_GATE_FAILED
    return EXIT_PASS


def _check_answers(options: BenchOptions, agent: AgentUnderTest | None) -> None:
    """Raise a `UsageProblem` unless answers of one kind are requested."""
    kinds = (options.samples is not None, options.reference, agent is not None, options.endpoint is not None)
    if sum(kinds) != 1:
        raise UsageProblem(
            "bench needs answers, of one kind",
            "Give --samples FILE, --reference, --endpoint URL, or an agent by --agent, --command or --url.",
        )


def _check_resume(name: str, out: Path | None, *, resume: bool) -> None:
    if resume and (out is None or name == SECURITY):
        raise UsageProblem("--resume has no answers to go on from", "Give --out FILE of the run before.")


def _build_done(journal: Journal | None, *, resume: bool) -> Done:
    """Return the answers that the file holds already; a run that does not go on from them begins it anew."""
    if journal is None:
        return {}
    if resume:
        return journal.load()
    journal.start()
    return {}


def _read_signs(
    benchmark: Benchmark, chosen: Sequence[Problem], graded: Sequence[GradedAnswer], options: BenchOptions
) -> Contamination:
    """Return the signs of contamination; published solutions are their own, word for word."""
    other = read_problems(benchmark, options.build_source(options.other_split)) if options.other_split else ()
    signs = evaluate_contamination(chosen, graded, other, options.cutoff)
    if options.reference:
        return replace(signs, verbatim=())
    return signs


def _read_answers(
    published: Sequence[Problem], chosen: Sequence[Problem], samples: Path | None
) -> list[Answer]:
    """Return the answers in a file; without one the published solutions."""
    if samples is not None:
        answers = list(iter_samples(samples))
        found = select_answers(chosen, answers)
        _write_gaps(published, chosen, answers)
        return found
    found = [item.reference for item in chosen if item.reference is not None]
    if not found:
        raise UsageProblem("the file holds no published solutions", "Give a model's answers with --samples.")
    return found


def _write_gaps(published: Sequence[Problem], chosen: Sequence[Problem], answers: Sequence[Answer]) -> None:
    """Warn of answers to no problem and of problems without an answer: neither is in a rate."""
    answered = {answer.problem for answer in answers}
    strange = sorted(answered - {item.id for item in published})
    if strange:
        write_warning(f"answers to no problem of the file are left out: {format_first(strange)}")
    silent = [item.id for item in chosen if item.id not in answered]
    if silent:
        write_warning(f"problems without an answer are in no rate: {format_first(silent)}")


def _find_journal(
    name: str, digest: str, timeout_s: float, options: BenchOptions, out: Path | None
) -> Journal | None:
    """Return the file of graded answers, marked by what a grade rests on beside the answer."""
    if out is None:
        return None
    agent = options.agent or options.command or options.url
    mark = {"benchmark": name, "digest": digest, "timeout_s": timeout_s, "memory_mb": options.memory}
    if agent is not None:
        # An answer is taken from the file, not only its grade.
        mark |= {"agent": agent, "max_turns": options.turns, "seed": options.seed or 0}
    return Journal(out, mark)


def _select_problems(problems: Sequence[Problem], options: BenchOptions) -> tuple[list[Problem], str]:
    """Return the problems that are meant, and which they are, in words."""
    chosen, words = list(problems), []
    if options.only:
        missing = set(options.only) - {problem.id for problem in problems}
        if missing:
            raise UsageProblem(f"--only: there is no problem {min(missing)!r}", f"One is {problems[0].id!r}.")
        chosen = [item for item in chosen if item.id in options.only]
        words.append(f"only {', '.join(options.only)}")
    if options.since:
        chosen = [item for item in chosen if item.published and item.published >= options.since]
        words.append(f"since {options.since}")
    if options.until:
        chosen = [item for item in chosen if item.published and item.published < options.until]
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


def _find_agent(options: BenchOptions) -> AgentUnderTest | None:
    choices = [item for item in (options.agent, options.command, options.url) if item is not None]
    if len(choices) > 1:
        raise UsageProblem("several agents are given", "Name one of --agent, --command and --url.")
    if options.agent is not None:
        return build_module_agent(options.agent)
    if options.command is not None:
        return build_program_agent(options.command)
    if options.url is not None:
        return build_service_agent(options.url)
    return None


def _build_image_opener(settings: dict[str, str]) -> Callable[[str], Sandbox]:
    others = {key: value for key, value in settings.items() if key in ("host", "runtime", "cpus", "user")}
    return lambda image: open_backend("docker", {**others, "image": image})


def _load_package_set(path: Path | None) -> PackageSet | None:
    return read_packages(path).packages if path is not None else None


def _encode_files(path: Path) -> str:
    files = [path] if path.is_file() else sorted(item for item in path.iterdir() if item.is_file())
    found = hashlib.sha256()
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()

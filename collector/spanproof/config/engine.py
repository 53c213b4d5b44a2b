"""Builds the evaluation engine of a configuration.

Comes in: which sandbox, which policy, whether to replay. Goes out: an engine and the sandbox it uses, which
the caller closes. A machine that cannot isolate is no reason not to start: traces are evaluated without a
replay then, and every skipped score has the reason.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanproof.config.model import Config
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.evaluator import Evaluator, load_installed
from spanproof.evaluators.model import UserHints
from spanproof.evaluators.presence import NoCode
from spanproof.evaluators.replay import FixtureBook, load_fixtures
from spanproof.evaluators.replay.limits import ReplayLimits
from spanproof.evaluators.sampling import Sampling, SamplingRule
from spanproof.sandbox import (
    Ecosystem,
    Fixtures,
    Limits,
    Program,
    Sandbox,
    SandboxBroken,
    SandboxUnavailable,
    UnsupportedFixtures,
    UnsupportedLanguage,
)
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline

if TYPE_CHECKING:
    from spanproof.evaluators.custom import Function
    from spanproof.evaluators.structure import Files

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpenEngine:
    """An engine with what it holds open; `no_replay` is the reason where there is no sandbox."""

    engine: Engine
    sandbox: Sandbox | None
    no_replay: str = ""

    def close(self) -> None:
        """Close the sandbox, if there is one."""
        if self.sandbox is not None:
            self.sandbox.close()


def open_engine(config: Config) -> OpenEngine:
    """Build the engine and start its sandbox, with the packages that are needed in it.

    Raises:
        PolicyError: the policy file is not valid.
        BadFixture: the file of fixtures is not valid.
        EvaluatorError: an evaluator of the user's cannot be called.
        RubricError: a rubric is not valid.
        JudgeUnavailable: there is a budget for the judge, and no price.
    """
    # First: a wrong policy is reported before a sandbox is started for nothing.
    pipeline = Pipeline(load_policy(config.policy) if config.policy else Policy())
    sandbox, no_replay = _build_sandbox(config)
    if no_replay:
        log.warning("snippets are not run again: %s", no_replay)
    try:
        engine = build_engine(config, pipeline, sandbox, no_replay)
        if sandbox is not None:
            _start_packages(_load_fixtures(config), _load_user_functions(config), sandbox)
        return OpenEngine(engine, sandbox, no_replay)
    except BaseException:
        if sandbox is not None:
            sandbox.close()
        raise


def build_engine(
    config: Config,
    pipeline: Pipeline,
    sandbox: Sandbox | None,
    no_replay: str = "",
    runs_before: Mapping[str, Files] | None = None,
) -> Engine:
    """Return the engine of a configuration, over a policy's pipeline, in a sandbox that the caller closes.

    `no_replay` is the reason where there is no sandbox; for `runs_before` see `build_evaluators`.

    Raises:
        BadFixture: the file of fixtures is not valid.
        EvaluatorError: an evaluator of the user's cannot be called.
        RubricError: a rubric is not valid.
        JudgeUnavailable: there is a budget for the judge, and no price.
    """
    rules = config.evaluation
    return Engine(
        pipeline=pipeline,
        sandbox=sandbox,
        replay_disabled_reason=no_replay,
        evaluators=build_evaluators(config, sandbox, runs_before),
        layers=rules.layers,
        hints=build_user_hints(config),
        sampling=Sampling(tuple(SamplingRule(**sample.model_dump()) for sample in rules.sampling)),
        fixtures=_load_fixtures(config),
        repeat_share=rules.repeat_share,
        packages_from_trace=rules.packages_from_trace,
        layer_budget_s=rules.layer_budget_s,
        limits=build_replay_limits(config),
    )


def build_replay_limits(config: Config) -> ReplayLimits:
    """Return the bounds of code that is run again."""
    limits = config.sandbox.limits.model_dump(exclude={"wall_s"})
    return ReplayLimits(Limits(**limits), config.sandbox.limits.wall_s)


def _load_fixtures(config: Config) -> FixtureBook:
    file = config.evaluation.fixtures
    if file is not None:
        return load_fixtures(file)
    return FixtureBook()


def build_user_hints(config: Config) -> UserHints:
    """Return what the user configures beside the traces. One price table serves the judge and the agents."""
    synonyms = {state: tuple(words) for state, words in config.evaluation.synonyms.items()}
    return UserHints(synonyms, config.judge.load_prices(), frozenset(config.evaluation.without_rules))


def _load_user_functions(config: Config) -> list[Function]:
    """Return the user's functions, which run in the sandbox."""
    if not config.evaluators:
        return []
    from spanproof.config.added_evaluators import load_functions
    from spanproof.evaluators.custom import Function

    return [function for function in load_functions(config) if isinstance(function, Function)]


def _start_packages(fixtures: FixtureBook, functions: Sequence[Function], sandbox: Sandbox) -> None:
    """Build the package sets of fixtures and own evaluators now, not while some trace waits for them.

    One that cannot be had is logged; what needs it is skipped with that reason.
    """
    wanted = [
        (f"runs with the fixtures {item.name!r} are not replayed", item.packages) for item in fixtures.sets
    ]
    wanted += [(f"the evaluator {function.name!r} does not run", function.packages) for function in functions]
    for without, packages in wanted:
        if packages is None:
            continue
        pins = ", ".join(packages.pins[:3]) + (", …" if len(packages.pins) > 3 else "")
        log.info("packages are made ready: %s", pins)
        language = "python" if packages.ecosystem is Ecosystem.PIP else "javascript"
        try:
            sandbox.run(Program(language, "", fixtures=Fixtures(packages=packages)))
        except (SandboxUnavailable, SandboxBroken, UnsupportedFixtures, UnsupportedLanguage) as problem:
            log.warning("%s: %s", without, problem)


def build_evaluators(
    config: Config, sandbox: Sandbox | None, runs_before: Mapping[str, Files] | None = None
) -> list[Evaluator]:
    """Return the evaluators beside the built-in layers: installed ones, the user's functions, the judge.

    `runs_before` is the code of runs before, by task, which structural metrics compare with.

    Raises:
        EvaluatorError: one of the user's functions cannot be called, or an installed evaluator not be made.
        RubricError: a rubric is not valid.
        JudgeUnavailable: there is a budget for the judge, and no price.
    """
    rules = config.evaluation
    optional: list[Evaluator] = []
    if rules.lint:
        from spanproof.evaluators.lint import Lint

        optional.append(Lint())
    if rules.structure:
        from spanproof.evaluators.structure import Structure

        optional.append(Structure(runs_before))
    if rules.without_code:
        optional.append(NoCode(rules.without_code))
    if (directory := rules.groundedness_model.path) is not None:
        from spanproof.config.added_evaluators import build_local_model

        optional.append(build_local_model(config, directory))
    if not (config.evaluators or config.judge.model or config.judge.rubrics):
        return [*load_installed(), *optional]
    from spanproof.config.added_evaluators import build_added_evaluators

    return [*load_installed(), *optional, *build_added_evaluators(config, sandbox)]


def _build_sandbox(config: Config) -> tuple[Sandbox | None, str]:
    if not config.evaluation.replay:
        return None, "replay is switched off by evaluation.replay"
    choice = config.sandbox
    try:
        sandbox = open_sandbox(choice.backend, workers=choice.workers, settings=choice.settings)
    except SandboxUnavailable as unavailable:
        return None, str(unavailable)
    try:
        # Started now and not at the first trace: a machine that cannot isolate is reported at start, and the
        # sandbox's processes begin before the store is loaded into this one.
        sandbox.run(Program("python", "None"))
    except SandboxUnavailable as unavailable:
        sandbox.close()
        return None, str(unavailable)
    except SandboxBroken as broken:
        log.warning("the sandbox did not start well, it is tried again with each trace: %s", broken)
    return sandbox, ""

"""Builds the evaluation engine of a configuration.

Comes in: which sandbox, which policy, whether to replay. Goes out: an engine and the sandbox it uses, which
the caller closes. A machine that cannot isolate is no reason not to start: traces are evaluated without a
replay then, and every skipped score has the reason.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spanproof.config.model import Config, JudgeChoice, OwnEvaluator
from spanproof.evaluators.custom import (
    VARIABLES,
    Attach,
    BuiltIn,
    CustomEvaluator,
    EvaluatorError,
    Function,
    Wiring,
    pins_of_imports,
)
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.evaluator import Evaluator, installed
from spanproof.evaluators.judge import (
    Criteria,
    CriteriaJudge,
    Judge,
    JudgeSettings,
    cascades,
    load_rubrics,
)
from spanproof.evaluators.lint import Lint
from spanproof.evaluators.local_model import LocalModel
from spanproof.evaluators.model import UserHints
from spanproof.evaluators.presence import NoCode
from spanproof.evaluators.replay import FixtureBook, load_fixtures
from spanproof.evaluators.sampling import Sampling, SamplingRule
from spanproof.evaluators.scores import BUILT_IN
from spanproof.evaluators.structure import Files, Structure
from spanproof.sandbox import (
    Ecosystem,
    Fixtures,
    PackageSet,
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
from spanproof.sandbox.untrusted_files import MAX_DOCUMENT_BYTES, UnsafeFileError, read_regular

log = logging.getLogger(__name__)

LANGUAGES = {".py": "python", ".ts": "typescript", ".js": "javascript"}
"""Of an evaluator, by the suffix of its file."""


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
    sandbox, no_replay = _sandbox(config)
    if no_replay:
        log.warning("snippets are not run again: %s", no_replay)
    try:
        engine = engine_of(config, pipeline, sandbox, no_replay)
        if sandbox is not None:
            _build_packages(_fixtures(config), own_functions(config), sandbox)
        return OpenEngine(engine, sandbox, no_replay)
    except BaseException:
        if sandbox is not None:
            sandbox.close()
        raise


def engine_of(
    config: Config,
    pipeline: Pipeline,
    sandbox: Sandbox | None,
    no_replay: str = "",
    runs_before: Mapping[str, Files] | None = None,
) -> Engine:
    """The engine of a configuration, over a policy's pipeline and in a sandbox that the caller closes.

    `no_replay` is the reason where there is no sandbox; for `runs_before` see `evaluators_of`.

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
        evaluators=evaluators_of(config, sandbox, runs_before),
        layers=rules.layers,
        hints=user_hints(config),
        sampling=Sampling(tuple(SamplingRule(**sample.model_dump()) for sample in rules.sampling)),
        fixtures=_fixtures(config),
        repeat_share=rules.repeat_share,
        packages_from_trace=rules.packages_from_trace,
        layer_budget_s=rules.layer_budget_s,
    )


def _fixtures(config: Config) -> FixtureBook:
    file = config.evaluation.fixtures
    return load_fixtures(file) if file is not None else FixtureBook()


def user_hints(config: Config) -> UserHints:
    """Return what the user configures beside the traces. One price table serves the judge and the agents."""
    synonyms = {state: tuple(words) for state, words in config.evaluation.synonyms.items()}
    return UserHints(synonyms, config.judge.prices, frozenset(config.evaluation.without_rules))


def _build_packages(fixtures: FixtureBook, own: Sequence[Function | BuiltIn], sandbox: Sandbox) -> None:
    """Have the package sets of fixtures and own evaluators built now, not while some trace waits for them.

    One that cannot be had is logged; what needs it is skipped with that reason.
    """
    wanted = [
        (f"runs with the fixtures {each.name!r} are not replayed", each.packages) for each in fixtures.sets
    ]
    functions = [each for each in own if isinstance(each, Function)]
    wanted += [(f"the evaluator {each.name!r} does not run", each.packages) for each in functions]
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


def evaluators_of(
    config: Config, sandbox: Sandbox | None, runs_before: Mapping[str, Files] | None = None
) -> list[Evaluator]:
    """The evaluators beside the built-in layers: installed ones, the user's functions, the judge.

    `runs_before` is the code of runs before, by task, which structural metrics compare with.

    Raises:
        EvaluatorError: one of the user's functions cannot be called, or an installed evaluator not be made.
        RubricError: a rubric is not valid.
        JudgeUnavailable: there is a budget for the judge, and no price.
    """
    own = [
        CustomEvaluator(function, sandbox, _wiring(choice))
        for function, choice in zip(own_functions(config), _coded(config), strict=True)
    ]
    rules = config.evaluation
    optional: list[Evaluator] = [Lint()] if rules.lint else []
    if rules.structure:
        optional.append(Structure(runs_before))
    if rules.without_code:
        optional.append(NoCode(rules.without_code))
    model = rules.groundedness_model
    if model.path is not None:
        optional.append(
            LocalModel(model.path, accept=model.accept, reject=model.reject, max_tokens=model.max_tokens)
        )
    return [*installed(), *optional, *own, *_judges(config.judge), *_graded(config)]


def own_functions(config: Config) -> list[Function | BuiltIn]:
    """The user's functions and the built-in checks, each of which can be called, and under a name of its own.

    Raises:
        EvaluatorError: one cannot, or has a name that is taken.
    """
    choices = _coded(config)
    functions = [function_of(choice) for choice in choices]
    taken = set(BUILT_IN)
    for function, choice in zip(functions, choices, strict=True):
        function.check(VARIABLES | choice.variables.keys())
        if isinstance(function, BuiltIn):
            function.check_target(choice.target)
        if function.name in taken:
            whose = "a score of Spanproof's own" if function.name in BUILT_IN else "an evaluator before it"
            raise EvaluatorError(f"evaluator {function.name!r} has the name of {whose}; give it another")
        taken.add(function.name)
    _check_criteria(config, taken)
    return functions


def _coded(config: Config) -> list[OwnEvaluator]:
    """Return the evaluators that are code or a built-in check, without those that a model grades."""
    return [choice for choice in config.evaluators if not choice.grading_criteria]


def _check_criteria(config: Config, taken: set[str]) -> None:
    """Refuse criteria and rubrics that no model would ever be given."""
    for choice in config.evaluators:
        if not choice.grading_criteria:
            continue
        if not (choice.model or config.judge.model):
            raise EvaluatorError(
                f"evaluator {choice.name!r} has grading_criteria and no model: set judge.model or `model`"
            )
        if choice.name in taken:
            raise EvaluatorError(f"evaluator {choice.name!r} has a name that is taken; give it another")
        taken.add(choice.name)
    if config.judge.rubrics is not None and not config.judge.model:
        raise EvaluatorError(
            f"judge.rubrics names {config.judge.rubrics} and no model would be given them: set judge.model"
        )


def _graded(config: Config) -> list[Evaluator]:
    """Return an evaluator for each entry with grading_criteria."""
    found: list[Evaluator] = []
    for choice in config.evaluators:
        if choice.grading_criteria:
            named = config.judge.model_copy(update={"model": choice.model or config.judge.model})
            judge = judge_of(named)
            assert judge is not None, "its model was checked"
            criteria = Criteria(
                choice.name,
                choice.grading_criteria,
                choice.layer,
                Attach(**choice.attach.model_dump()),
                choice.pass_at,
            )
            found.append(CriteriaJudge(judge, criteria))
    return found


def function_of(choice: OwnEvaluator) -> Function | BuiltIn:
    """The function or the built-in check that a configuration names.

    Raises:
        EvaluatorError: its file cannot be read, or it has no language.
    """
    if choice.check is not None:
        return BuiltIn(choice.name, choice.check, choice.ignore_case, choice.tolerance)
    suffix = choice.file.suffix if choice.file else ""
    language = choice.language or LANGUAGES.get(suffix, "" if choice.file else "python")
    source = choice.source
    if choice.file is not None:
        try:
            source = read_regular(choice.file, MAX_DOCUMENT_BYTES).decode("utf-8")
        except UnsafeFileError as problem:
            raise EvaluatorError(f"evaluator {choice.name!r}: {problem}") from problem
        except (OSError, UnicodeDecodeError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8 text"
            place = "" if choice.file.is_absolute() else f" (looked for in {Path.cwd()})"
            raise EvaluatorError(
                f"evaluator {choice.name!r}: {choice.file} cannot be read: {reason}{place}"
            ) from problem
    ecosystem = Ecosystem.PIP if language == "python" else Ecosystem.NPM
    pins = choice.packages or (() if language == "python" else pins_of_imports(language, source))
    packages = PackageSet(ecosystem, pins) if pins else None
    return Function(choice.name, language, source, packages, choice.timeout_s, choice.range)


def _wiring(choice: OwnEvaluator) -> Wiring:
    attach = Attach(**choice.attach.model_dump())
    return Wiring(choice.layer, attach, choice.target, choice.variables, choice.pass_at)


def judge_of(choice: JudgeChoice) -> Judge | None:
    """Return the configured judge; None where no model is set.

    Raises:
        JudgeUnavailable: there is a budget for it, and no price.
    """
    settings = choice.model_dump(exclude={"rubrics", "beside_share"})
    return Judge(JudgeSettings(**settings)) if choice.model else None


def _judges(choice: JudgeChoice) -> list[Evaluator]:
    judge = judge_of(choice)
    if judge is None:
        return []
    if judge.warning:
        log.warning("%s", judge.warning)
    return cascades(judge, load_rubrics(choice.rubrics), choice.beside_share)


def _sandbox(config: Config) -> tuple[Sandbox | None, str]:
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

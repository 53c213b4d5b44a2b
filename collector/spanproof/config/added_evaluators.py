"""The evaluators that a configuration adds: the user's functions, built-in checks, and what a model judges.

In: the configuration's sections `evaluators` and `judge`. Out: evaluators beside the layers. A module of its
own, so that a configuration without them does not load what they need.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path

from spanproof.config.model import Config, JudgeChoice, OwnEvaluator
from spanproof.evaluators.custom import (
    VARIABLES,
    Attach,
    BuiltIn,
    CustomEvaluator,
    EvaluatorError,
    Function,
    InProcess,
    Wiring,
    list_import_pins,
    load_in_process,
)
from spanproof.evaluators.evaluator import Evaluator
from spanproof.evaluators.judge import (
    Criteria,
    CriteriaJudge,
    Judge,
    JudgeSettings,
    build_cascades,
    load_rubrics,
)
from spanproof.evaluators.judge_bounds import BOUNDS_FILE, JudgeBounds
from spanproof.evaluators.local_model import LocalModel
from spanproof.evaluators.scores import BUILT_IN
from spanproof.sandbox import Ecosystem, PackageSet, Sandbox
from spanproof.sandbox.untrusted_files import MAX_DOCUMENT_BYTES, UnsafeFileError, read_regular

log = logging.getLogger(__name__)

LANGUAGES = {".py": "python", ".ts": "typescript", ".js": "javascript"}
"""Of an evaluator, by the suffix of its file."""


def build_added_evaluators(config: Config, sandbox: Sandbox | None) -> list[Evaluator]:
    """Return the user's functions and checks, the judge's rubrics, and the entries with grading criteria.

    Raises:
        EvaluatorError: one of the user's functions cannot be called.
        RubricError: a rubric is not valid.
        JudgeUnavailable: there is a budget for the judge, and no price.
    """
    own = [
        CustomEvaluator(function, sandbox, _build_wiring(choice))
        for function, choice in zip(load_functions(config), _select_coded(config), strict=True)
    ]
    return [*own, *_build_judges(config.judge), *_build_criteria_judges(config)]


def load_functions(config: Config) -> list[Function | BuiltIn | InProcess]:
    """Return the user's functions and the built-in checks: each can be called, and has a name of its own.

    Raises:
        EvaluatorError: one cannot, or has a name that is taken.
    """
    choices = _select_coded(config)
    functions = [load_function(choice) for choice in choices]
    taken = set(BUILT_IN)
    for function, choice in zip(functions, choices, strict=True):
        function.check(VARIABLES | choice.variables.keys())
        if isinstance(function, BuiltIn):
            function.check_target(choice.target)
        if function.name in taken:
            if function.name in BUILT_IN:
                whose = "a score of Spanproof's own"
            else:
                whose = "an evaluator before it"
            raise EvaluatorError(f"evaluator {function.name!r} has the name of {whose}; give it another")
        taken.add(function.name)
    _check_criteria(config, taken)
    return functions


def _select_coded(config: Config) -> list[OwnEvaluator]:
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


def _build_criteria_judges(config: Config) -> list[Evaluator]:
    """Return an evaluator for each entry with grading_criteria."""
    found: list[Evaluator] = []
    for choice in config.evaluators:
        if choice.grading_criteria:
            named = config.judge.model_copy(update={"model": choice.model or config.judge.model})
            judge = find_judge(named)
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


def load_function(choice: OwnEvaluator) -> Function | BuiltIn | InProcess:
    """Return the function or the built-in check that a configuration names.

    Raises:
        EvaluatorError: its file cannot be read, it has no language, or it cannot be imported.
    """
    if choice.function:
        return load_in_process(choice.name, choice.function, choice.range)
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
            if isinstance(problem, OSError):
                reason = problem.strerror
            else:
                reason = "it is not UTF-8 text"
            folder = "" if choice.file.is_absolute() else f" (looked for in {Path.cwd()})"
            raise EvaluatorError(
                f"evaluator {choice.name!r}: {choice.file} cannot be read: {reason}{folder}"
            ) from problem
    ecosystem = Ecosystem.PIP if language == "python" else Ecosystem.NPM
    pins = choice.packages or (() if language == "python" else list_import_pins(language, source))
    packages = PackageSet(ecosystem, pins) if pins else None
    return Function(choice.name, language, source, packages, choice.timeout_s, choice.range)


def _build_wiring(choice: OwnEvaluator) -> Wiring:
    attach = Attach(**choice.attach.model_dump())
    return Wiring(choice.layer, attach, choice.target, choice.variables, choice.pass_at)


def find_judge(choice: JudgeChoice) -> Judge | None:
    """Return the configured judge; None where no model is set.

    Raises:
        JudgeUnavailable: there is a budget for it, and no price.
    """
    if not choice.model:
        return None
    own = {"rubrics", "beside_share", "verify_passed", "least_precision", "price_file", "prices"}
    return Judge(JudgeSettings(**choice.model_dump(exclude=own), prices=choice.load_prices()))


def _build_judges(choice: JudgeChoice) -> list[Evaluator]:
    judge = find_judge(choice)
    if judge is None:
        return []
    if judge.warning:
        log.warning("%s", judge.warning)
    if judge.price is not None and (old := judge.price.describe_age(datetime.now(UTC).date())):
        log.warning("judge %s: %s (judge.price_file, judge.prices)", judge.model, old)
    return build_cascades(
        judge,
        load_rubrics(choice.rubrics),
        choice.beside_share,
        choice.verify_passed,
        build_judge_bounds(choice),
    )


def build_local_model(config: Config, directory: Path, *, verify_passed: bool = False) -> LocalModel:
    """Return the local model of a directory, with the thresholds of the configuration.

    Args:
        config: the whole one.
        directory: with the model's files.
        verify_passed: whether it rules on the sentences of answers that passed, too.

    Raises:
        EvaluatorError: a file or a package is missing, or the probe refuses the model.
    """
    model = config.evaluation.groundedness_model
    return LocalModel(
        directory,
        verify_passed=verify_passed,
        accept=model.accept,
        reject=model.reject,
        max_tokens=model.max_tokens,
        bounds=build_judge_bounds(config.judge),
    )


def build_judge_bounds(choice: JudgeChoice) -> JudgeBounds:
    """Return which judges may fail something, by what the service measured."""
    file = choice.shared / BOUNDS_FILE if choice.shared is not None else None
    return JudgeBounds(file, choice.least_precision)

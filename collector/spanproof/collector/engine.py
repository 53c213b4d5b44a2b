"""Builds the evaluation engine that a configuration asks for.

Comes in: which sandbox, which policy, whether to replay. Goes out: an engine and the sandbox it uses, which
the caller closes. A machine that cannot isolate is no reason not to start: traces are evaluated without a
replay then, and every skipped score says why.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from spanproof.collector.config import Config, JudgeChoice
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.evaluator import Evaluator, installed
from spanproof.evaluators.judge import Judge, JudgeSettings, cascades, load_rubrics
from spanproof.evaluators.sampling import Sampling, SamplingRule
from spanproof.sandbox import Program, Sandbox
from spanproof.sandbox.errors import SandboxBroken, SandboxUnavailable
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpenEngine:
    """An engine with what it holds open; `no_replay` says why there is no sandbox, where there is none."""

    engine: Engine
    sandbox: Sandbox | None
    no_replay: str = ""

    def close(self) -> None:
        """Close the sandbox, if there is one."""
        if self.sandbox is not None:
            self.sandbox.close()


def open_engine(config: Config) -> OpenEngine:
    """Build the engine.

    Raises:
        PolicyError: the policy file is not valid.
        RubricError: a rubric is not valid.
        JudgeUnavailable: there is a budget for the judge, and no price.
    """
    # First: a policy that is wrong is told before a sandbox is started for nothing.
    pipeline = Pipeline(load_policy(config.policy) if config.policy else Policy())
    sandbox, no_replay = _sandbox(config)
    if no_replay:
        log.warning("snippets are not run again: %s", no_replay)
    rules = config.evaluation
    engine = Engine(
        pipeline=pipeline,
        sandbox=sandbox,
        replay_disabled_reason=no_replay,
        evaluators=(*installed(), *_judges(config.judge)),
        layers=rules.layers,
        sampling=Sampling(tuple(SamplingRule(**sample.model_dump()) for sample in rules.sampling)),
    )
    return OpenEngine(engine, sandbox, no_replay)


def judge_of(choice: JudgeChoice) -> Judge | None:
    """The judge that a configuration asks for; None where it asks for none.

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
        # Started now and not at the first trace: a machine that cannot isolate is told at start, and the
        # sandbox's processes begin before the store is loaded into this one.
        sandbox.run(Program("python", "None"))
    except SandboxUnavailable as unavailable:
        sandbox.close()
        return None, str(unavailable)
    except SandboxBroken as broken:
        log.warning("the sandbox did not start well, it is tried again with each trace: %s", broken)
    return sandbox, ""

"""An engine for evaluating processes that fails as the service of a trace says."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import cast

from spanproof.config.engine import OpenEngine, open_engine
from spanproof.config.model import Config
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import NoReplay, NoReplayCause, TraceEvaluation
from spanproof.trace import Trace


class FaultyEngine:
    """An engine, but for traces of some services.

    `raise`, `exit`, `hang`, `once FILE`; without a replay once, `building FILE` and `failed FILE`; until the
    file is there, `unbuilt FILE`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def start_background_builds(self) -> None:
        self._engine.start_background_builds()

    def evaluate(self, trace: Trace) -> TraceEvaluation:
        fault, _, mark = str(trace.spans[0].resource.get("service.name", "")).partition(" ")
        if fault == "raise":
            raise RuntimeError("broken")
        if fault == "exit":
            os._exit(7)
        if fault == "hang":
            time.sleep(3600)
        if fault == "once" and not Path(mark).exists():
            Path(mark).touch()
            raise RuntimeError("broken once")
        evaluation = self._engine.evaluate(trace)
        if fault in {"building", "failed"} and not Path(mark).exists():
            Path(mark).touch()
            replay = NoReplay("not yet", NoReplayCause(fault))
            return replace(evaluation, runs=tuple(replace(run, replay=replay) for run in evaluation.runs))
        if fault == "unbuilt" and not Path(mark).exists():
            replay = NoReplay("not yet", NoReplayCause.BUILDING)
            return replace(evaluation, runs=tuple(replace(run, replay=replay) for run in evaluation.runs))
        return evaluation


def open_faulty_engine(config: Config) -> OpenEngine:
    """Open the engine of a configuration, with the faults above."""
    opened = open_engine(config)
    return replace(opened, engine=cast("Engine", FaultyEngine(opened.engine)))


def open_engine_once_interrupted(config: Config) -> OpenEngine:
    """Open the engine of a configuration; the first process that opens it ends by Ctrl-C."""
    mark = config.wal.directory / "interrupted"
    if not mark.exists():
        mark.touch()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return open_engine(config)

"""What each process of the pool that evaluates starts with.

In: what the pool starts with. Out: a start for each process, so that limits hold for all of them together.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from spanproof.collector.stages.jobs import Start
from spanproof.config.model import Config, JudgeChoice

log = logging.getLogger(__name__)

_JUDGE_DIRECTORY = "judge"
_REPLIES_DIRECTORY = "replies"


def list_shared_starts(start: Start) -> list[Start]:
    """Return what each process of the pool starts with, so that the limits hold for all of them together.

    Programs at once are shared out, at least one to each process; the judge's limits are kept in a directory.
    """
    config = start.config
    programs, processes = config.sandbox.workers, config.evaluation.workers
    if config.evaluation.replay and programs < processes:
        log.warning("%d processes evaluate, one for each program of sandbox.workers", programs)
        processes = programs
    judge = build_shared_judge(config)
    starts = []
    for number in range(processes):
        share = max(1, programs // processes + (number < programs % processes))
        sandbox = config.sandbox.model_copy(update={"workers": share})
        starts.append(replace(start, config=config.model_copy(update={"sandbox": sandbox, "judge": judge})))
    return starts


def build_shared_judge(config: Config) -> JudgeChoice:
    """Return the judge with the directories in which its processes share limits and replies."""
    shared = get_judge_directory(config)
    recordings = config.judge.recordings or shared / _REPLIES_DIRECTORY
    return config.judge.model_copy(update={"shared": shared, "recordings": recordings})


def get_judge_directory(config: Config) -> Path:
    """Return the directory that the processes of a judge share: its limits, its replies, its bounds."""
    return config.judge.shared or config.wal.directory / _JUDGE_DIRECTORY

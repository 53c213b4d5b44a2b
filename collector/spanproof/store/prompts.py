"""Versions of agents' system prompts, as the stored traces show them.

In: the cohorts of scores, which name agent and prompt version, and the spans of model calls, which hold the
text. Out: each version with its text and its verdicts by layer. Nothing is kept beside the traces: what
retention removes is gone from here, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spanproof.evaluators.runs import list_run_spans
from spanproof.evaluators.runs.prompts import find_system_prompt
from spanproof.store.store import Store
from spanproof.store.values import FailRate, TraceRow
from spanproof.trace import Layer, SpanKind, digest

# Traces of a version that are looked through for its text: some producers record no messages.
_NEWEST_READ = 5


@dataclass(frozen=True, slots=True)
class PromptVersion:
    """One version of one agent's prompt.

    Attributes:
        agent: its name; empty where the traces name none.
        version: as the agent declares it, else worked out from the text.
        text: of the newest run that records it; None where no such run does.
        last_ns: start of its newest trace, Unix time in nanoseconds.
        verdicts: of its runs, by layer.
    """

    agent: str
    version: str
    text: str | None
    last_ns: int
    verdicts: Mapping[Layer, FailRate] = field(default_factory=dict)

    @property
    def text_hash(self) -> str | None:
        """32 hexadecimal digits over the text: one version with two texts shows by it."""
        return None if self.text is None else digest("prompt text", self.text)


def list_prompt_versions(
    store: Store, *, start_ns: int, end_ns: int, cohort: Mapping[str, str], limit: int
) -> list[PromptVersion]:
    """Return the versions that ran within a window, the newest first.

    Args:
        store: that is read.
        start_ns: of the window, Unix time in nanoseconds.
        end_ns: of the window, the first that is no longer in it.
        cohort: only runs of it, such as one agent or project.
        limit: at most so many.

    Raises:
        StoreError: `cohort` names an unknown dimension.
    """
    verdicts: dict[tuple[str, str], dict[Layer, FailRate]] = {}
    for layer in Layer:
        groups = store.groups(
            layer,
            layer.value,
            ("agent", "prompt_version"),
            start_ns=start_ns,
            end_ns=end_ns,
            cohort=cohort,
        )
        for group in groups:
            agent, version = group.values
            if version:
                verdicts.setdefault((agent, version), {})[layer] = group.verdicts
    newest = {key: _read_newest(store, key, cohort) for key in verdicts}
    latest = sorted(verdicts, key=lambda key: (-newest[key][0].start_ns if newest[key] else 0, key))
    return [
        PromptVersion(
            agent=agent,
            version=version,
            text=_find_text(store, newest[agent, version], agent, version),
            last_ns=max((row.start_ns for row in newest[agent, version]), default=0),
            verdicts=verdicts[agent, version],
        )
        for agent, version in latest[:limit]
    ]


def _read_newest(store: Store, key: tuple[str, str], cohort: Mapping[str, str]) -> list[TraceRow]:
    agent, version = key
    return store.traces(cohort={**cohort, "agent": agent, "prompt_version": version}, limit=_NEWEST_READ)


def _find_text(store: Store, rows: Sequence[TraceRow], agent: str, version: str) -> str | None:
    """Return the system prompt of the newest run of this agent and version that records one."""
    for row in rows:
        evaluation = store.evaluation(row.trace_id, row.project)
        if evaluation is None:
            continue
        for evaluated in evaluation.runs:
            run = evaluated.run
            if (run.cohort.agent, run.cohort.prompt_version) != (agent, version):
                continue
            spans = list_run_spans(evaluation.trace, run)
            if text := find_system_prompt(span for span in spans if span.kind is SpanKind.LLM):
                return text
    return None

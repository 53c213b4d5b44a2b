"""What the trials of an experiment rest on: a digest of each part, and what is run again where one changed.

In: agent, suite, settings and configuration. Out: a `Basis`, which the experiment's folder holds; each trial
carries a digest of the parts that it rests on, and counts only while that is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any

from spanproof.experiments.agents import AgentKind, AgentUnderTest
from spanproof.experiments.code_digest import compute_code_digest, list_module_code, list_program_code
from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.folder import ExperimentFolder, read_environment
from spanproof.experiments.settings import Settings
from spanproof.experiments.trial import Trial
from spanproof.trace import digest

UNKNOWN_AGENT = ""
"""The digest of a service: what is behind a URL cannot be read."""


class Continuation(StrEnum):
    """What becomes of the trials that a folder holds."""

    CHANGED = "changed"
    """Those that rest on what has changed are run again, the others count."""
    RESUME = "resume"
    """They count; where something has changed, the experiment is refused."""
    FRESH = "fresh"
    """They are removed."""


@dataclass(frozen=True, slots=True)
class Basis:
    """A digest of each part that trials rest on.

    Attributes:
        parts: by name: `agent`, `configuration`, `tools`, `image`, `packages`.
        cases: by id, each over all files of the case.
    """

    parts: Mapping[str, str] = field(default_factory=dict)
    cases: Mapping[str, str] = field(default_factory=dict)

    def compute_digest(self, case: str) -> str:
        """Return the digest of all that a trial of a case rests on."""
        return digest(
            "basis", *(f"{key}={self.parts[key]}" for key in sorted(self.parts)), self.cases.get(case, "")
        )

    def holds_for(self, trial: Trial) -> bool:
        """Whether a trial rests on this, and on nothing that changed since."""
        return trial.basis == self.compute_digest(trial.case)

    @property
    def is_agent_known(self) -> bool:
        """Whether a change of the agent can be seen."""
        return self.parts.get("agent") != UNKNOWN_AGENT

    def list_changes(self, before: Basis, cases: Iterable[str]) -> list[str]:
        """Return what is not as it was before, in words: the parts; where none changed, these cases."""
        parts = [name for name, value in self.parts.items() if before.parts.get(name) != value]
        changed = [case for case in cases if before.cases.get(case) != self.cases.get(case)]
        return parts or [f"case {case}" for case in changed]

    def to_json(self) -> dict[str, Any]:
        """Return the basis as JSON data."""
        return asdict(self)


def parse_basis(fields: object) -> Basis:
    """Return what `to_json` wrote; an empty basis of anything else."""
    if not isinstance(fields, dict):
        return Basis()
    return Basis(dict(fields.get("parts") or {}), dict(fields.get("cases") or {}))


def list_agent_code(agent: AgentUnderTest) -> set[Path]:
    """Return the files of an agent's code; none of a service, whose code cannot be read."""
    project = Path.cwd()
    match agent.kind:
        case AgentKind.MODULE:
            return list_module_code(agent.target, project)
        case AgentKind.COMMAND:
            return list_program_code(agent.target, project)
        case AgentKind.URL:
            return set()


def compute_basis(
    agent: AgentUnderTest,
    code: Iterable[Path],
    suite: Path,
    cases: Iterable[str],
    settings: Settings,
    configuration: str,
) -> Basis:
    """Return what an experiment rests on now.

    Args:
        agent: which one is run.
        code: the files of its code.
        suite: its folder.
        cases: ids of the cases that are run.
        settings: how they are run.
        configuration: a digest of what judges the trials.
    """
    if agent.kind is AgentKind.URL:
        version = UNKNOWN_AGENT
    else:
        version = compute_code_digest(code)
    if agent.environment:
        version = digest(version, *(f"{key}={value}" for key, value in agent.environment))
    limits = f"{settings.timeout_s} {settings.refuse_unknown}"
    return Basis(
        {
            "agent": version,
            "configuration": digest(configuration, limits, _read_text(suite / "suite.yaml")),
            "tools": settings.tools.value,
            "image": agent.image,
            "packages": read_environment()["packages_digest"],
        },
        {case: compute_case_digest(suite, case) for case in cases},
    )


def load_trials(
    results: ExperimentFolder,
    head: Mapping[str, Any],
    basis: Basis,
    wanted: int,
    continuation: Continuation,
    note: Callable[[str], None],
) -> list[Trial]:
    """Begin an experiment in a folder, or go on with the one that is there; returns the trials that count.

    Args:
        results: the folder.
        head: suite, agent and seed, which distinguish one experiment from another.
        basis: what trials rest on now.
        wanted: trials per case.
        continuation: what becomes of the trials that are there.
        note: gets, as a sentence, which trials count and which run again.

    Raises:
        ExperimentError: the folder holds another experiment, or one to resume that rests on something else.
    """
    if continuation is Continuation.FRESH:
        results.remove_experiment()
    whole_head = {**head, "basis": basis.to_json()}
    stored = results.load_trials(whole_head)
    if not stored:
        results.write_trials((), whole_head)
        return []
    of_these_cases = [trial for trial in stored if trial.case in basis.cases]
    others = [trial for trial in stored if trial.case not in basis.cases]
    may_count = basis.is_agent_known or continuation is Continuation.RESUME
    valid = [trial for trial in of_these_cases if may_count and basis.holds_for(trial)]
    stale = sorted({trial.case for trial in of_these_cases} - {trial.case for trial in valid})
    what = _describe_changes(results, basis, stale)
    if stale and continuation is Continuation.RESUME:
        raise ExperimentError(
            f"{results.path} cannot be resumed: {what} changed since; leave out --resume to run again what"
            " changed, or give --fresh to start anew"
        )
    results.write_trials([*valid, *others], whole_head)
    counted = [trial for trial in valid if trial.number <= wanted]
    beyond = len(valid) - len(counted)
    text = _describe_take_up(results, basis, wanted, counted, stale, what)
    note(f"{text}; {beyond} trials beyond --trials {wanted} are kept and do not count" if beyond else text)
    return counted


def _describe_changes(results: ExperimentFolder, basis: Basis, stale: Sequence[str]) -> str:
    before = parse_basis(results.read_head().get("basis"))
    changes = basis.list_changes(before, stale) if stale else []
    return " and ".join(changes) or "what the trials rest on"


def _describe_take_up(
    results: ExperimentFolder,
    basis: Basis,
    wanted: int,
    valid: Sequence[Trial],
    stale: Sequence[str],
    what: str,
) -> str:
    total = len(basis.cases)
    if stale and not basis.is_agent_known:
        again = f"{len(stale)} of {total} cases run again"
        return f"whether the service changed cannot be known: {again}; --resume lets their trials count"
    if stale:
        return f"{what} changed: {len(stale)} of {total} cases run again"
    if len(valid) >= total * wanted:
        return f"nothing changed: all {total} cases are taken from {results.path}; --fresh runs them again"
    return f"{len(valid)} of {total * wanted} trials are in {results.path} and count; the others are run"


def compute_case_digest(suite: Path, case: str) -> str:
    """Return the digest of all files of a case."""
    folder = suite / "cases" / case
    state = blake2b(digest_size=16)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            state.update(f"{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
            state.update(content)
    return state.hexdigest()


def _read_text(path: Path) -> str:
    if path.is_file():
        return path.read_text(encoding="utf-8", errors="replace")
    return ""

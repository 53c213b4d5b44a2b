"""A policy from what agents did: what they use is inside the boundary, and the rest is denied.

In: runs, with their code and the attempts of their replays. Out: a `Proposal`: values for the keys of a
policy, each with the number of runs that use it, what is left out and why, and the runs that the policy
fails. The same runs give the same proposal.

Code that stays denied whatever the policy allows (it runs a download, reads a private key) teaches nothing:
what only such code uses is not proposed.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.layers.boundary import list_refused_attempts
from spanproof.evaluators.model import Replay, TraceEvaluation
from spanproof.evaluators.runs import list_runs
from spanproof.sandbox import Attempt, AttemptKind
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.policy_file import build_preset_policy
from spanproof.sandbox.presets import PRESET_NAMES
from spanproof.sandbox.scanners.boundary import (
    Action,
    Boundary,
    RecordingBoundary,
    UseKind,
    is_metadata_host,
)
from spanproof.sandbox.scanners.model import Scan, Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Run, Snippet, Trace

_DNS_PORT: Final = "53"

# Names of variables that hold secrets, by the words that they are made of.
_SECRET_NAME: Final = re.compile(
    r"key|token|secret|passw|credential|private|auth|dsn|_url$|_uri$|connection_string", re.IGNORECASE
)

# Parts of paths that hold secrets.
_SECRET_PATH: Final = re.compile(r"/\.[^/]+|secret|credential|id_rsa|id_ed25519|\.(?:pem|key|p12|pfx|kdbx)$")

# Directories in which data lies by custom: `/media`, `/mnt`, `/opt` and `/srv` of the Filesystem Hierarchy
# Standard 3.0, and the usual mounts of containers.
_DATA_ROOTS: Final = frozenset({"data", "datasets", "mnt", "media", "opt", "repo", "srv", "workspace"})

# Statements that change the schema or rights: a policy that allows them is written by hand.
_SCHEMA_VERBS: Final = frozenset({"alter", "command", "drop", "grant", "revoke", "truncate"})

# Rules of commands that are never proposed, and of those that are where a preset allows them.
_NEVER_PROPOSED: Final = frozenset({"privilege.change", "network.raw", "exec.native", "environment.read"})
_BY_PRESET_ONLY: Final = frozenset({"system.change", "process.signal", "process.inspect"})

# Programs whose sub-command is the second operand: a service comes first.
_NESTED_COMMANDS: Final = frozenset({"aws", "az", "gcloud"})


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """A run as far as a policy concerns it.

    Attributes:
        start_ns: Unix time in nanoseconds.
        attempts: of its replay, by snippet id; empty where it was not replayed.
    """

    trace_id: str
    span_id: str
    agent: str
    start_ns: int
    snippets: tuple[Snippet, ...]
    attempts: Mapping[str, tuple[Attempt, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProposedValue:
    """A value of a policy's key; `runs` use it."""

    key: str
    value: str
    runs: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What runs use and the proposal does not allow.

    Attributes:
        kind: of the use.
        trace_id: of one of the runs.
    """

    kind: UseKind
    value: str
    runs: int
    reason: str
    trace_id: str


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A run that the proposed policy fails, and why."""

    trace_id: str
    span_id: str
    agent: str
    reason: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed policy.

    Attributes:
        preset: what it extends.
        policy: what a file of the values gives.
        stated: keys that are stated whole, one without values is stated as empty.
        values: of the stated keys, and those that are added to the preset's; in the order of the file.
        removed: modules that are taken off the preset's `denied_modules`.
        left_out: what is not proposed, with the reason; the most used first.
        failed: runs that the policy would have failed, in the order of time.
        runs: how many were read.
    """

    preset: str
    policy: Policy
    stated: tuple[str, ...]
    values: tuple[ProposedValue, ...]
    removed: tuple[ProposedValue, ...]
    left_out: tuple[LeftOut, ...]
    failed: tuple[FailedRun, ...]
    runs: int

    def list_values(self, key: str) -> list[ProposedValue]:
        """Return the values of one key."""
        return [value for value in self.values if value.key == key]


def list_evaluation_runs(evaluation: TraceEvaluation) -> list[ObservedRun]:
    """Return the runs of a stored evaluation, with the attempts of their replays."""
    found = []
    for run in evaluation.runs:
        steps = run.replay.steps if isinstance(run.replay, Replay) else ()
        attempts = {step.snippet.id: step.execution.attempts for step in steps}
        found.append(_build_observed_run(run.run, attempts))
    return found


def list_trace_runs(trace: Trace) -> list[ObservedRun]:
    """Return the runs of a trace that was not evaluated."""
    return [_build_observed_run(run, {}) for run in list_runs(trace, list_snippets(trace))]


def _build_observed_run(run: Run, attempts: Mapping[str, tuple[Attempt, ...]]) -> ObservedRun:
    # What was only proposed did nothing: it is no use of the agent's.
    snippets = tuple(snippet for snippet in run.snippets if snippet.executed)
    return ObservedRun(
        run.trace_id, run.span_id, run.cohort.agent or run.name, run.start_ns, snippets, attempts
    )


def build_proposal(runs: Sequence[ObservedRun], preset: str) -> Proposal:
    """Return the policy that allows what these runs use.

    Args:
        runs: of the time that is looked at.
        preset: whose other keys hold.
    """
    ordered = sorted(runs, key=lambda run: (run.start_ns, run.trace_id, run.span_id))
    base = build_preset_policy(preset)
    learner = _Learner(base)
    everything = learner.build_policy(ordered, frozenset())
    harmful = frozenset(
        snippet.id
        for run in ordered
        for snippet in run.snippets
        if everything.get_scan(snippet).verdict is Verdict.DENY
    )
    learned = learner.build_policy(ordered, harmful)
    return Proposal(
        preset,
        learned.policy,
        learned.stated,
        learned.values,
        learned.removed,
        learner.list_left_out(ordered, learned.policy),
        tuple(failed for run in ordered if (failed := _find_failure(run, learned)) is not None),
        len(ordered),
    )


@dataclass(slots=True)
class _Learned:
    """A policy under way, with the scanners for it; a source is scanned once."""

    policy: Policy
    stated: tuple[str, ...]
    values: tuple[ProposedValue, ...]
    removed: tuple[ProposedValue, ...]
    _pipeline: Pipeline = field(init=False)
    _scans: dict[tuple[str, str], Scan] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._pipeline = Pipeline(self.policy)

    def get_scan(self, snippet: Snippet) -> Scan:
        """Return the scan of a snippet under the policy."""
        key = (snippet.language.value, snippet.source)
        if key not in self._scans:
            self._scans[key] = self._pipeline.scan(*key)
        return self._scans[key]


_Use = tuple[UseKind, str]


class _Learner:
    """Reads what snippets use, and turns it into values of a policy over a base."""

    def __init__(self, base: Policy) -> None:
        self._base = base
        self._boundary = RecordingBoundary(base)
        self._pipeline = Pipeline(base, boundary=self._boundary)
        self._uses: dict[tuple[str, str], frozenset[_Use]] = {}

    def build_policy(self, runs: Sequence[ObservedRun], without: frozenset[str]) -> _Learned:
        """Return the policy that allows the uses of these runs, but for snippets of these ids."""
        counts: Counter[tuple[str, str]] = Counter()
        for run in runs:
            found = {
                proposed
                for snippet in run.snippets
                if snippet.id not in without
                for use in self._iter_uses(run, snippet)
                if _find_objection(use) is None and (proposed := self._find_key_and_value(use)) is not None
            }
            counts.update(found)
        values = [ProposedValue(key, value, number) for (key, value), number in counts.items()]
        values.sort(key=lambda value: (_KEYS.index(value.key), value.value))
        kept = [value for value in values if value.key != "denied_modules"]
        removed = tuple(value for value in values if value.key == "denied_modules")
        stated = ["hosts", "environment", "allowed_commands"]
        stated += [key for key in ("ports", "sql_verbs") if any(value.key == key for value in kept)]
        return _Learned(
            self._build_policy(kept, removed, stated),
            tuple(sorted(stated, key=_KEYS.index)),
            tuple(kept),
            removed,
        )

    def list_left_out(self, runs: Sequence[ObservedRun], policy: Policy) -> tuple[LeftOut, ...]:
        """Return the uses that a policy does not allow, with the reason."""
        counts: Counter[_Use] = Counter()
        first: dict[_Use, str] = {}
        for run in runs:
            uses = {use for snippet in run.snippets for use in self._iter_uses(run, snippet)}
            for use in uses:
                if self._find_key_and_value(use) is not None and not self._allows(policy, use):
                    counts[use] += 1
                    first.setdefault(use, run.trace_id)
        found = [
            LeftOut(kind, value, number, _find_objection((kind, value)) or _HARMFUL, first[kind, value])
            for (kind, value), number in counts.items()
        ]
        return tuple(sorted(found, key=lambda one: (-one.runs, one.kind.value, one.value)))

    def _iter_uses(self, run: ObservedRun, snippet: Snippet) -> Iterable[_Use]:
        key = (snippet.language.value, snippet.source)
        if key not in self._uses:
            for uses in self._boundary.uses.values():
                uses.clear()
            self._pipeline.scan(*key)
            self._uses[key] = frozenset(
                (kind, value) for kind, uses in self._boundary.uses.items() for value in uses
            )
        refused = list_refused_attempts(run.attempts.get(snippet.id, ()), self._base)
        return self._uses[key] | {use for attempt in refused if (use := _find_attempt_use(attempt))}

    def _find_key_and_value(self, use: _Use) -> tuple[str, str] | None:
        """Return key and value that allow a use; None where the base needs none."""
        kind, value = use
        match kind:
            case UseKind.READ | UseKind.WRITE:
                action = Action.READ if kind is UseKind.READ else Action.WRITE
                if Boundary(self._base).evaluate_path(action, (value,)) is None:
                    return None
                return f"{kind}_roots", _get_root(value)
            case UseKind.COMMAND:
                return "allowed_commands", _get_pattern(value)
            case _:
                return _KEY_OF_KIND[kind], value

    def _allows(self, policy: Policy, use: _Use) -> bool:
        converted = self._find_key_and_value(use)
        if converted is None:
            return True
        key, value = converted
        if key == "denied_modules":
            return value not in policy.denied_modules
        return (int(value) if key == "ports" else value) in getattr(policy, key)

    def _build_policy(
        self, values: Sequence[ProposedValue], removed: Sequence[ProposedValue], stated: Sequence[str]
    ) -> Policy:
        def select(key: str) -> list[str]:
            return [value.value for value in values if value.key == key]

        return replace(
            self._base,
            hosts=tuple(select("hosts")),
            environment=frozenset(select("environment")),
            allowed_commands=frozenset(select("allowed_commands")),
            ports=frozenset(map(int, select("ports"))) if "ports" in stated else self._base.ports,
            sql_verbs=frozenset(select("sql_verbs")) if "sql_verbs" in stated else self._base.sql_verbs,
            read_roots=tuple(dict.fromkeys([*self._base.read_roots, *select("read_roots")])),
            write_roots=tuple(dict.fromkeys([*self._base.write_roots, *select("write_roots")])),
            denied_modules=self._base.denied_modules - {value.value for value in removed},
        )


_HARMFUL: Final = "only code uses it that stays denied for another reason"

_KEYS: Final = (
    "hosts", "ports", "environment", "allowed_commands", "sql_verbs", "read_roots", "write_roots",
    "denied_modules",
)  # fmt: skip

_KEY_OF_KIND: Final = {
    UseKind.HOST: "hosts",
    UseKind.PORT: "ports",
    UseKind.VARIABLE: "environment",
    UseKind.STATEMENT: "sql_verbs",
    UseKind.MODULE: "denied_modules",
}


def _find_attempt_use(attempt: Attempt) -> _Use | None:
    """Return the use that a refused attempt shows; None for a program or a privilege, which no key allows."""
    if attempt.kind is AttemptKind.FILE:
        return UseKind.READ, attempt.target
    if attempt.kind is AttemptKind.NETWORK:
        host, _, port = attempt.target.rpartition(":")
        return UseKind.HOST, host.strip("[]") if port else attempt.target
    return None


def _find_objection(use: _Use) -> str | None:
    """Return why a use is never proposed; None where nothing speaks against it."""
    kind, value = use
    match kind:
        case UseKind.HOST:
            return "a cloud's metadata service gives credentials" if is_metadata_host(value) else None
        case UseKind.PORT:
            return None if value != _DNS_PORT else "names are looked up by the system"
        case UseKind.VARIABLE:
            return "its name says that it holds a secret" if _SECRET_NAME.search(value) else None
        case UseKind.STATEMENT:
            return "it changes the schema or rights" if value in _SCHEMA_VERBS else None
        case UseKind.MODULE:
            return None if value in _list_allowed_modules() else "no preset allows the module"
        case UseKind.COMMAND:
            return _find_objection_to_command(value)
        case UseKind.READ | UseKind.WRITE:
            return _find_objection_to_path(kind, value)


def _find_objection_to_command(command: str) -> str | None:
    # The parser of the shell is loaded only where a command is judged.
    from spanproof.sandbox.scanners.shell.catalogue import DENIED

    rule = DENIED.get(command.split()[0], "")
    if rule in _NEVER_PROPOSED:
        return f"it is denied to every agent ({rule})"
    if any(_is_pattern_of(pattern, command) for pattern in _list_patterns("denied_commands")):
        return "a preset denies it"
    if rule in _BY_PRESET_ONLY and _find_preset_pattern(command) is None:
        return f"no preset allows it ({rule})"
    return None


def _find_objection_to_path(kind: UseKind, path: str) -> str | None:
    if _find_preset_root(kind, path) is not None:
        return None
    if _SECRET_PATH.search(path):
        return "its name says that it holds a secret"
    if path.split("/")[1] not in _DATA_ROOTS or path.count("/") < 2:
        return "it lies in a directory of the machine"
    return None


def _get_root(path: str) -> str:
    """Return the directory that makes a path inside: a preset's, or the one that the file lies in."""
    for kind in (UseKind.READ, UseKind.WRITE):
        if (root := _find_preset_root(kind, path)) is not None:
            return root
    # `/data/a.csv` lies in `/data`, which may hold anything: then the file alone.
    directory = posixpath.dirname(path)
    return directory if directory.count("/") > 1 else path


def _get_pattern(command: str) -> str:
    """Return the pattern that allows a command: with its sub-command, where the program has some."""
    words = command.split()
    pattern = _find_preset_pattern(command)
    if pattern is not None:
        return " ".join(words[: len(pattern.split())])
    if words[0] in _NESTED_COMMANDS:
        return command
    has_sub_commands = any(
        pattern.split()[0] == words[0] and " " in pattern
        for key in ("allowed_commands", "denied_commands")
        for pattern in _list_patterns(key)
    )
    return " ".join(words[:2]) if has_sub_commands else words[0]


def _find_preset_pattern(command: str) -> str | None:
    found = (pattern for pattern in _list_patterns("allowed_commands") if _is_pattern_of(pattern, command))
    return next(found, None)


def _is_pattern_of(pattern: str, command: str) -> bool:
    words, parts = pattern.split(), command.split()
    return len(words) <= len(parts) and all(map(fnmatchcase, parts, words))


def _list_patterns(key: str) -> list[str]:
    """Return the commands that presets allow or deny, the longest patterns first."""
    patterns = {pattern for name in PRESET_NAMES for pattern in getattr(build_preset_policy(name), key)}
    return sorted(patterns, key=lambda pattern: (-len(pattern.split()), pattern))


def _list_allowed_modules() -> frozenset[str]:
    """Return modules that some preset allows and the default denies."""
    return frozenset[str]().union(
        *(Policy().denied_modules - build_preset_policy(name).denied_modules for name in PRESET_NAMES)
    )


def _find_preset_root(kind: UseKind, path: str) -> str | None:
    """Return the directory of a preset that a path lies in."""
    roots = [root for name in PRESET_NAMES for root in getattr(build_preset_policy(name), f"{kind}_roots")]
    fitting = [root for root in roots if path == root or path.startswith(f"{root}/")]
    return max(fitting, key=len, default=None)


def _find_failure(run: ObservedRun, learned: _Learned) -> FailedRun | None:
    """Return the run with the reason, where the policy fails it."""
    for snippet in run.snippets:
        denied = [one for one in learned.get_scan(snippet).findings if one.verdict is Verdict.DENY]
        if denied:
            return FailedRun(run.trace_id, run.span_id, run.agent, denied[0].message)
        refused = list_refused_attempts(run.attempts.get(snippet.id, ()), learned.policy)
        if refused:
            reason = f"tried {refused[0].kind} {refused[0].target}"
            return FailedRun(run.trace_id, run.span_id, run.agent, reason)
    return None

"""A suite as files.

    suite.yaml                  what the folder is
    cases/<id>/case.yaml        task, agent, must, must_not, expectation, notes: to read and to edit
    cases/<id>/tests.yaml       what the code must do beside, where people wrote it; promoting leaves it alone
    cases/<id>/snippets/01.py   the code of the run, in order
    cases/<id>/tape.json        the tool calls each snippet made, with what came back
    cases/<id>/trace.json       every span of the trace: what is evaluated again
    cases/<id>/fixtures.yaml    what the replay finds, with the files it names; edited by people

The last four are of a case that was promoted from a run; one that people wrote needs `case.yaml` alone.
`case.yaml` holds a digest of each frozen file, so that an edited one is an error instead of silently judged
as something else. The same case always gives the same bytes: they hold no time, no machine and no random
order.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import yaml

from spanproof.evaluators.casetests import CaseTests, TestsError, load_tests
from spanproof.evaluators.replay import FixtureBook, parse_fixtures
from spanproof.gate import OpenPolicy, parse_open_policy
from spanproof.sandbox import BadFixture
from spanproof.sandbox.presets import PRESET_NAMES
from spanproof.sandbox.untrusted_files import (
    MAX_DOCUMENT_BYTES,
    MalformedYamlError,
    UnsafeFileError,
    is_beneath,
    load_yaml,
    read_beneath,
)
from spanproof.suites.case import Case, Expectation, Origin
from spanproof.suites.errors import SuiteError
from spanproof.suites.records import OF_PEOPLE, encode_people, read_cohort, read_people
from spanproof.trace import Cause, Cohort, Label, Layer, Snippet, State, Trace
from spanproof.trace.codec import MalformedDocument, encode_json, from_plain, load_json, to_plain

T = TypeVar("T")

FORMAT = 1
"""Of the files of a suite."""

_OF_FROZEN_RUN = frozenset(("origin", "expectation", "details", "frozen"))
_CASE_KEYS = frozenset(("format", "id", "agent", "cohort", *OF_PEOPLE)) | _OF_FROZEN_RUN

_FROZEN_BYTES = 256 * 1024 * 1024

TESTS = "tests.yaml"
"""Beside `case.yaml`: it is people's alone."""


def write_case(suite: Path, case: Case) -> None:
    """Write a case into a suite, which is made where it is not there.

    Raises:
        SuiteError: a file of the suite is a link, so that something else would be written or deleted.
    """
    folder = suite / "cases" / case.id
    frozen = _build_frozen_files(case)
    if not is_beneath(suite, folder):
        raise SuiteError(f"{folder} leads out of {suite}, and that would be written; remove the link")
    _check_links(suite, ("suite.yaml", ".gitattributes"))
    _check_links(folder, ("case.yaml", "snippets", *frozen))
    _write_suite(suite)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in frozen.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for stale in (folder / "snippets").glob("*"):
        if f"snippets/{stale.name}" not in frozen:
            stale.unlink()
    # Last: a case counts as written once its case.yaml is there.
    (folder / "case.yaml").write_bytes(_encode_case(case, frozen))


def write_tests(suite: Path, case: Case) -> None:
    """Write the tests of a case that has some beside it.

    Raises:
        SuiteError: the file is a link, so that another would be written.
    """
    if case.tests is not None:
        folder = suite / "cases" / case.id
        _check_links(folder, (TESTS,))
        folder.mkdir(parents=True, exist_ok=True)
        tests = case.tests.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        (folder / TESTS).write_bytes(_encode_yaml(tests))


def remove_case(suite: Path, case_id: str) -> None:
    """Delete a case with all its files; one that is a link is unlinked only.

    Raises:
        SuiteError: the suite has no such case.
    """
    folder = suite / "cases" / case_id
    if not (folder / "case.yaml").is_file() or folder.parent != suite / "cases":
        raise SuiteError(f"{suite} has no case {case_id!r}")
    if folder.is_symlink():
        folder.unlink()
    else:
        shutil.rmtree(folder)


def load_suite(suite: Path) -> list[Case]:
    """Return every case of a suite, in the order of their ids.

    Raises:
        SuiteError: no suite, or a case that is not what it must be.
    """
    if not suite.exists():
        raise SuiteError(f"there is no suite at {suite}; `spanproof promote` and `suite import` create one")
    if not (suite / "suite.yaml").is_file():
        raise SuiteError(
            f"{suite} is no suite: it has no suite.yaml; `spanproof promote` and `suite import` make one,"
            f" or write one with the line `format: {FORMAT}`"
        )
    head = _load_yaml(suite / "suite.yaml")
    _check_format(suite / "suite.yaml", head)
    folders = sorted(path.parent for path in (suite / "cases").glob("*/case.yaml"))
    return [load_case(folder) for folder in folders]


def find_suite_policy(suite: Path) -> OpenPolicy | None:
    """Return what open counts as by `suite.yaml`; None where it leaves that out.

    Raises:
        SuiteError: `open` is none of the values.
    """
    path = suite / "suite.yaml"
    head = _load_yaml(path) if path.is_file() else {}
    if head.get("open") is None:
        return None
    try:
        return parse_open_policy(str(path), head["open"])
    except ValueError as problem:
        raise SuiteError(str(problem)) from problem


def find_suite_preset(suite: Path) -> str | None:
    """Return the preset of the policy that `suite.yaml` names; None where it leaves that out.

    No file can be named: a suite may come with somebody else's change, and a policy file may name scanners,
    which are programs.

    Raises:
        SuiteError: `policy` is no preset.
    """
    path = suite / "suite.yaml"
    head = _load_yaml(path) if path.is_file() else {}
    name = head.get("policy")
    if name is not None and name not in PRESET_NAMES:
        raise SuiteError(
            f"{path}: key 'policy' cannot be {name!r:.80}; name one of {', '.join(PRESET_NAMES)},"
            " and give a file with --policy"
        )
    return name


def load_case(folder: Path) -> Case:
    """Return the case in a folder.

    Raises:
        SuiteError: a file is missing, cannot be read, or is no longer what was frozen.
    """
    path = folder / "case.yaml"
    head = _load_yaml(path)
    _check_format(path, head)
    _check_keys(path, head)
    trace: Trace | None = None
    snippets: tuple[Snippet, ...] = ()
    if head.get("origin") is not None:
        frozen = {
            name: _read_frozen_content(folder, name, kept) for name, kept in _iter_frozen_digests(path, head)
        }
        trace = _read_document(
            folder / "trace.json", lambda: from_plain(Trace, load_json(frozen["trace.json"]))
        )
        snippets = _read_document(folder / "tape.json", lambda: _decode_snippets(frozen))
    case = _read_document(path, lambda: _build_case(folder.name, path, head, snippets, trace))
    return replace(case, tests=_load_tests(folder / TESTS), fixtures=_load_fixtures(folder / "fixtures.yaml"))


def _check_links(folder: Path, names: Iterable[str]) -> None:
    """Refuse to write where somebody else's change put a link; a folder of a case may be one."""
    for name in names:
        if (folder / name).is_symlink():
            raise SuiteError(
                f"{folder / name} is a link, and what it leads to would be overwritten; remove the link"
            )


def _load_fixtures(path: Path) -> FixtureBook | None:
    if not os.path.lexists(path):
        return None
    content = _read_beside(path)
    try:
        return parse_fixtures(content, path)
    except BadFixture as problem:
        raise SuiteError(str(problem)) from problem


def _read_beside(path: Path) -> bytes:
    """Return the content of a document of people in a suite."""
    try:
        return read_beneath(path.parent, path.name, MAX_DOCUMENT_BYTES)
    except OSError as problem:
        raise SuiteError(f"{path}: {problem.strerror}") from problem
    except UnsafeFileError as problem:
        raise SuiteError(f"{path}: {problem}") from problem


def _write_suite(suite: Path) -> None:
    suite.mkdir(parents=True, exist_ok=True)
    head = suite / "suite.yaml"
    if not head.exists():
        head.write_bytes(
            _encode_yaml(
                {"format": FORMAT, "name": suite.resolve().name, "description": "Runs frozen by spanproof."}
            )
        )
    attributes = suite / ".gitattributes"
    if not attributes.exists():
        # Line endings are part of a snippet; git must not change them.
        attributes.write_text("cases/** -text\n", encoding="utf-8")


def _build_frozen_files(case: Case) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    if case.trace is None:
        return files
    tape: list[object] = []
    for number, snippet in enumerate(case.snippets, start=1):
        name = f"snippets/{number:02d}.{snippet.language.suffix}"
        files[name] = snippet.source.encode("utf-8", "surrogatepass")
        about = {key: value for key, value in to_plain(snippet).items() if key != "source"}
        tape.append({"file": name, **about})
    files["tape.json"] = _encode_json(tape)
    files["trace.json"] = _encode_trace(case.trace)
    return files


def _encode_case(case: Case, frozen: Mapping[str, bytes]) -> bytes:
    cohort = {name: value for name, value in asdict(case.cohort).items() if value}
    head: dict[str, object] = {"format": FORMAT, "id": case.id, "agent": case.agent, "task": case.task}
    head |= {"origin": _to_origin_row(case.origin)} if case.origin else {}
    head |= {"cohort": cohort, "notes": case.notes, **encode_people(case)}
    if case.origin is not None:
        run = case.origin.run_span_id
        of_layers = [expectation for expectation in case.expectations if expectation.is_of_layer]
        details = [expectation for expectation in case.expectations if not expectation.is_of_layer]
        head["expectation"] = [_encode_expectation(layer, run) for layer in of_layers]
        head["details"] = [_OneLine(_encode_expectation(detail, run)) for detail in details]
        head["frozen"] = {name: _compute_digest(content) for name, content in sorted(frozen.items())}
    return _encode_yaml(head)


def _encode_expectation(expectation: Expectation, run_span_id: str) -> dict[str, object]:
    """Return the entry of the file; what follows from the rest is left out."""
    entry: dict[str, object] = {"layer": expectation.layer.value}
    if not expectation.is_of_layer:
        entry["name"] = expectation.name
    if expectation.snippet is not None:
        entry["snippet"] = expectation.snippet
    elif expectation.span_id != run_span_id:
        entry["span_id"] = expectation.span_id
    entry["verdict"] = expectation.verdict.value
    if expectation.value is not None:
        entry["value"] = expectation.value
    if expectation.cause is not None:
        entry["cause"] = expectation.cause.value
    if expectation.is_of_layer or expectation.verdict is State.FAIL:
        entry["explanation"] = expectation.explanation
    return entry


def _to_origin_row(origin: Origin) -> dict[str, str]:
    """Return the entry of an origin; the default project is not written."""
    return {name: value for name, value in asdict(origin).items() if value != Cohort().project}


def _build_case(
    name: str, path: Path, head: Mapping[str, Any], snippets: tuple[Snippet, ...], trace: Trace | None
) -> Case:
    origin: Origin | None = None
    expectations: tuple[Expectation, ...] = ()
    if trace is not None:
        named = head["origin"]
        project = str(named.get("project") or Cohort().project)
        origin = Origin(str(named["trace_id"]), str(named["run_span_id"]), project)
        entries = [*head["expectation"], *(head.get("details") or [])]
        expectations = tuple(_parse_expectation(entry, origin.run_span_id, snippets) for entry in entries)
    return Case(
        id=name,
        origin=origin,
        agent=str(head.get("agent") or ""),
        task=None if head["task"] is None else str(head["task"]),
        cohort=read_cohort(head),
        expectations=expectations,
        snippets=snippets,
        trace=trace,
        **read_people(str(path), head),
    )


def _parse_expectation(
    entry: Mapping[str, Any], run_span_id: str, snippets: tuple[Snippet, ...]
) -> Expectation:
    layer, verdict, snippet = Layer(entry["layer"]), entry["verdict"], entry.get("snippet")
    if verdict not in list(State):
        *others, last = State
        raise ValueError(f"verdict must be {', '.join(others)} or {last}, got {verdict!r}")
    if snippet is not None and (not isinstance(snippet, int) or not 1 <= snippet <= len(snippets)):
        raise ValueError(f"snippet must be a number from 1 to {len(snippets)}, got {snippet!r}")
    if snippet:
        span_id = snippets[snippet - 1].span_id
    else:
        span_id = entry.get("span_id", run_span_id)
    value, cause = entry.get("value"), entry.get("cause")
    outcome = verdict if verdict in (State.SKIPPED, State.ERRORED) else "scored"
    label = Label(verdict) if State(verdict).is_judged else None
    return Expectation(
        layer=layer,
        name=str(entry.get("name", layer.value)),
        span_id=str(span_id),
        snippet=snippet,
        outcome=outcome,
        label=label,
        value=None if value is None else float(value),
        explanation=str(entry.get("explanation") or ""),
        cause=Cause(cause) if cause else None,
    )


def _decode_snippets(frozen: Mapping[str, bytes]) -> tuple[Snippet, ...]:
    found = []
    for about in load_json(frozen["tape.json"]):
        source = frozen[about["file"]].decode("utf-8", "surrogatepass")
        found.append(from_plain(Snippet, {**about, "source": source}))
    return tuple(found)


def _load_tests(path: Path) -> CaseTests | None:
    if not os.path.lexists(path):
        return None
    try:
        return load_tests(path)
    except TestsError as problem:
        raise SuiteError(str(problem)) from problem


def _iter_frozen_digests(path: Path, head: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    frozen = head.get("frozen")
    if not isinstance(frozen, dict) or not {"trace.json", "tape.json"} <= frozen.keys():
        raise SuiteError(f"{path}: `frozen` must name trace.json and tape.json; promote the run again")
    for name, kept in frozen.items():
        parts = Path(str(name)).parts
        if parts not in (("trace.json",), ("tape.json",)) and (len(parts) != 2 or parts[0] != "snippets"):
            raise SuiteError(f"{path}: `frozen` names {name!r}, which is no file of a case")
        yield str(name), str(kept)


def _read_frozen_content(folder: Path, name: str, kept: str) -> bytes:
    try:
        content = read_beneath(folder, name, _FROZEN_BYTES)
    except OSError as problem:
        raise SuiteError(f"{folder / name}: {problem.strerror}; promote the run again") from problem
    except UnsafeFileError as problem:
        raise SuiteError(f"{folder / name}: {problem}") from problem
    if _compute_digest(content) != kept:
        raise SuiteError(
            f"{folder / name} is no longer what was frozen: its digest is {_compute_digest(content)},"
            " case.yaml says"
            f" {kept}; restore it, or promote the run again"
        )
    return content


def _check_format(path: Path, head: Mapping[str, Any]) -> None:
    # What people write by hand is of today's format.
    if head.get("format", FORMAT) != FORMAT:
        raise SuiteError(f"{path}: format {head.get('format')!r}, this Spanproof reads {FORMAT}")


def _check_keys(path: Path, head: Mapping[str, Any]) -> None:
    """Refuse a key that nothing reads: a misspelt `must` would pass everything."""
    unknown = sorted(set(head) - _CASE_KEYS)
    if unknown:
        raise SuiteError(f"{path}: no key {unknown[0]!r} is known; known are {', '.join(sorted(_CASE_KEYS))}")


def _load_yaml(path: Path) -> dict[str, Any]:
    content = _read_beside(path)
    try:
        loaded = load_yaml(content)
    except MalformedYamlError as problem:
        raise SuiteError(f"{path}: not YAML: {problem}") from problem
    if not isinstance(loaded, dict):
        raise SuiteError(f"{path}: expected a mapping, got {type(loaded).__name__}")
    return loaded


def _read_document(path: Path, read: Callable[[], T]) -> T:
    try:
        return read()
    except (MalformedDocument, KeyError, TypeError, ValueError, AttributeError) as problem:
        if isinstance(problem, KeyError):
            what = f"no {problem}"
        else:
            what = str(problem)
        raise SuiteError(f"{path}: {what}") from problem


class _OneLine(dict[str, object]):
    """A mapping that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """The safe dumper, with `_OneLine`."""


_Dumper.add_representer(
    _OneLine, lambda dumper, value: dumper.represent_mapping("tag:yaml.org,2002:map", value, flow_style=True)
)


def _encode_yaml(document: Mapping[str, object]) -> bytes:
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1_000_000)
    assert isinstance(text, str)
    return text.encode()


def _encode_json(plain: object) -> bytes:
    text = json.dumps(plain, indent=1, ensure_ascii=False)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(plain, indent=1).encode() + b"\n"


def _encode_trace(trace: Trace) -> bytes:
    """Return the trace with a span per line, so that it can be looked through and compared."""
    plain = to_plain(trace)
    spans = ",\n".join(encode_json(span) for span in plain["spans"])
    head = encode_json({"trace_id": plain["trace_id"], "defects": plain["defects"]})
    return f'{head[:-1]},"spans":[\n{spans}\n]}}\n'.encode()


def _compute_digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()

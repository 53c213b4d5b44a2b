"""Small changes of the forms that people paste: none raises, and what is unreadable is one clear sentence."""

from __future__ import annotations

import copy
import gzip
import json
import pathlib
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.runs import list_runs
from spanproof.trace.dialects import read_traces
from spanproof.trace.exports import read_file
from spanproof.trace.otlp import MalformedOtlp

from .test_pasted_forms import (
    AGENT,
    CHAT,
    EVENTS,
    LOG,
    MEMORY,
    PYTHON,
    RESPONSE,
    SAMPLE,
    TAU,
    TOOL,
    TRAJECTORY,
    console_span,
    plain_span,
    readable_span,
)

Path = tuple[str | int, ...]
GOLDEN = pathlib.Path(__file__).parents[2] / "golden" / "dialects"
FORMS: dict[str, Any] = {
    "python": PYTHON,
    "readable": [readable_span("1a" * 8, "", AGENT, 0), readable_span("1b" * 8, "1a" * 8, TOOL, 1)],
    "console": [console_span("1a" * 8, "", AGENT, 0), console_span("1b" * 8, "1a" * 8, TOOL, 1)],
    "plain": [plain_span("1", "", AGENT, 0), plain_span("2", "1", TOOL, 1)],
    "pairs": [
        {
            "traceId": "0f" * 16,
            "spanId": "1a" * 8,
            "name": "x",
            "attributes": [
                {"key": "openinference.span.kind", "value": {"stringValue": "LLM"}},
                {"key": "llm.token_count.prompt", "value": {"intValue": "12"}},
            ],
        }
    ],
    "chat": CHAT,
    "inspect": {**LOG, "samples": [SAMPLE]},
    "swe-agent": TRAJECTORY,
    "openhands": EVENTS,
    "smolagents": MEMORY,
    "response": RESPONSE,
    "tau": TAU,
}
OTLP = json.loads((GOLDEN / "otel_genai.json").read_text())
# What another version or another program writes in a value's place.
REPLACEMENTS: tuple[Any, ...] = (
    None,
    "",
    "12",
    12,
    1.5,
    True,
    [],
    {},
    [None],
    {"a": 1},
    ["x"],
    "0x12",
    "€" * 3,
)
_GONE = object()


def iter_paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the place of each value in a document, but for the document itself."""
    held = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in held:
        yield (*path, key)
        yield from iter_paths(inner, (*path, key))


def change_at(document: Any, path: Path, replacement: Any) -> Any:
    """Return a document with another value in a place, or with none."""
    changed = copy.deepcopy(document)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    if replacement is _GONE:
        del holder[path[-1]]
    else:
        holder[path[-1]] = replacement
    return changed


def iter_changes(document: Any) -> Iterator[tuple[Path, Any, Any]]:
    """Yield each place of a document, what it is replaced by, and the changed document.

    Half of the replacements are tried at a place, and the other half at the next.
    """
    for number, path in enumerate(iter_paths(document)):
        for replacement in (_GONE, *REPLACEMENTS[number % 2 :: 2]):
            yield path, replacement, change_at(document, path, replacement)


def check_reading(path, what: object) -> None:
    """Check that a file is read to runs, or reported in one line each; nothing raises."""
    requests, malformed = read_file(path)
    assert requests or malformed, what
    for problem in malformed:
        assert "\n" not in str(problem), what
        assert len(str(problem)) < 1000, what
    for trace in read_traces(requests):
        list_runs(trace, list_snippets(trace))


@pytest.mark.parametrize("name", FORMS)
def test_a_form_with_one_value_changed_is_read_or_reported(name, tmp_path):
    path = tmp_path / "pasted.json"
    for place, replacement, document in iter_changes(FORMS[name]):
        path.write_text(json.dumps(document))
        check_reading(path, (place, replacement))


@pytest.mark.parametrize("name", FORMS)
def test_keys_that_are_not_known_change_nothing(name, tmp_path):
    path, document = tmp_path / "pasted.json", FORMS[name]
    path.write_text(json.dumps(document))
    whole = read_traces(read_file(path)[0])
    added = copy.deepcopy(document)
    for place in [(), *iter_paths(document)]:
        holder = added
        for key in place:
            holder = holder[key]
        if (
            isinstance(holder, dict)
            and "arguments" not in place
            and not {"attributes", "resource"} & {*place}
        ):
            holder["x_vendor"] = {"cost": 1}
    path.write_text(json.dumps(added))
    found = read_traces(read_file(path)[0])
    assert [len(trace.spans) for trace in found] == [len(trace.spans) for trace in whole]
    answers = [[run.answer for run in list_runs(trace, list_snippets(trace))] for trace in (*found, *whole)]
    assert answers[: len(found)] == answers[len(found) :]


def write_log(tmp_path, member: str):
    """Return the path of an archive of inspect_ai with this sample."""
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(LOG))
        archive.writestr("samples/1_epoch_1.json", member)
    return path


@pytest.mark.parametrize("member", ["{}", "[]", "null", "12", '{"messages": 1}', '{"messages": [1, null]}'])
def test_an_archive_of_inspect_with_a_strange_sample_is_read_or_reported(member, tmp_path):
    check_reading(write_log(tmp_path, member), member)


def test_an_archive_of_inspect_with_a_broken_sample_is_refused_and_named(tmp_path):
    with pytest.raises(ValueError, match="not a log of inspect_ai"):
        read_file(write_log(tmp_path, "{"))


def list_other_bytes(document: Any) -> dict[str, bytes]:
    """Return what editors, shells and other programs make of a file, by the file's name."""
    text = json.dumps(document, ensure_ascii=False, indent=1)
    return {
        "mark.json": b"\xef\xbb\xbf" + text.encode(),
        "utf16.json": text.encode("utf-16"),
        "windows.json": text.replace("\n", "\r\n").encode(),
        "compressed.json.gz": gzip.compress(text.encode()),
        "listed.json": json.dumps([document]).encode(),
        "sorted.json": json.dumps(document, sort_keys=True).encode(),
    }


def count_spans(path: pathlib.Path) -> int:
    requests, problems = read_file(path)
    assert not problems
    return sum(len(trace.spans) for trace in read_traces(requests))


@pytest.mark.parametrize("name", [*FORMS, "otlp"])
def test_what_editors_and_shells_make_of_a_file_is_read_alike(tmp_path, name) -> None:
    document = OTLP if name == "otlp" else FORMS[name]
    (tmp_path / "plain.json").write_text(json.dumps(document))
    expected = count_spans(tmp_path / "plain.json")
    assert expected
    for named, content in list_other_bytes(document).items():
        (tmp_path / named).write_bytes(content)
        assert count_spans(tmp_path / named) == expected, named


@pytest.mark.parametrize("name", FORMS)
def test_a_comma_too_many_is_named_or_changes_nothing(tmp_path, name) -> None:
    text = json.dumps(FORMS[name], indent=1)
    (tmp_path / "comma.json").write_text(f"{text[:-2]},\n{text[-1]}")
    requests, problems = read_file(tmp_path / "comma.json")
    found = [str(problem).partition("comma.json: ")[2].partition(", line")[0] for problem in problems]
    assert requests or found == ["not JSON: a comma before the closing bracket"]


def test_what_is_named_compressed_and_is_not_is_refused_in_one_sentence(tmp_path) -> None:
    whole = gzip.compress(json.dumps(OTLP).encode())
    for content in (b"{}", whole[:200], whole[:20] + b"\0" * 40):
        (tmp_path / "broken.json.gz").write_bytes(content)
        with pytest.raises(MalformedOtlp, match=r"broken\.json\.gz: not compressed by gzip, or cut off: "):
            read_file(tmp_path / "broken.json.gz")

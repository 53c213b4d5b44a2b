"""Envelopes: how a result says that it worked, failed, found nothing, or did only a part.

In: a result and the kind of tool that gave it. Out: an `Envelope`. The forms are data:
`envelopes_documents.toml` has those of JSON, `envelopes_text.toml` those of texts, each with its producer and
an example. A form of text counts by its place and by what gave the text: the word "error" alone says nothing,
and in a document, a log or a search result even an error message is content. A document with data of its own
is data, whatever its fields are called.

The sections of the table of texts, in the order in which they are tried:

- `exit`: a line of its own, the first or the last, with an exit status.
- `framework`: the start of the text, from any kind of tool.
- `document`: the whole of a short line of a tool that gives documents. Such a tool says nothing else.
- `database`: the start of the text, or what follows `Error: `; from SQL, Python and other tools.
- `shell`: the first or the last line of a shell, the first of another tool.
- `build`: one of the first lines of a shell.
- `http`, `page`, `message`: the start of a short text that is no table.
- `refusal`: the start of what an operation gave; only `find_refusal` looks for it.
- `bare`: the whole text, which holds nothing. `sentence`: a short text that says that there is nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from spanproof.reading.log_lines import is_log_line, is_record_list
from spanproof.reading.shell_commands import find_own_message, read_command
from spanproof.reading.tool_kinds import ToolKind
from spanproof.reading.tracebacks import parse_python_traceback, parse_thrown_error
from spanproof.trace import JsonValue
from spanproof.trace.dialects.decode import decode_document

MAX_CHARS: Final = 20_000
"""Of a longer text the beginning and the end are read."""

MAX_MESSAGE_CHARS: Final = 400
_MAX_SENTENCE_CHARS: Final = 300
_MAX_BARE_CHARS: Final = 2_000
_MAX_ITEMS: Final = 500
_KEPT_DOCUMENTS: Final = 32
# An error message at the start of a longer text is a heading or a quotation.
_MAX_MESSAGE_LINES: Final = 12
# A shell whose program only fails says so in few lines.
_MAX_SHELL_LINES: Final = 6
_HTTP_ERRORS: Final = range(400, 600)


class EnvelopeStatus(StrEnum):
    """What a result says of itself; `partial`: of several items some were done and some were not."""

    WORKED = "worked"
    FAILED = "failed"
    EMPTY = "empty"
    PARTIAL = "partial"


class EnvelopeForm(StrEnum):
    """In which form it says so."""

    STRUCTURED = "structured"
    EXIT_STATUS = "exit_status"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """What became of one item of a batch."""

    name: str
    done: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a result says of itself.

    Attributes:
        quote: the words that say so; empty where it worked.
        error_type: the exception's name, where it is known.
        producer: who writes it so, as the table names them; empty where no row fits.
        items: of a batch, where the result names them.
        done_count, failed_count: of a batch, None where the result counts none.
    """

    status: EnvelopeStatus
    form: EnvelopeForm = EnvelopeForm.TEXT
    quote: str = ""
    error_type: str | None = None
    exit_status: int | None = None
    producer: str = ""
    items: tuple[ItemOutcome, ...] = ()
    done_count: int | None = None
    failed_count: int | None = None

    @property
    def failed(self) -> bool:
        """Whether it says that it failed."""
        return self.status is EnvelopeStatus.FAILED


WORKED: Final = Envelope(EnvelopeStatus.WORKED)
_EMPTY: Final = Envelope(EnvelopeStatus.EMPTY)

_NAME = (
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exists|NotFound|Timeout|Interrupt|Exit|Warning"
    r"|Expired|Refused|Denied|Failure|Fault)"
)
# An exception's name: by how it ends, or by the module that defines it.
_RAISED = rf"(?:{_NAME}|(?:Base)?Exception(?:Group)?|(?:[a-z_]\w*\.)+(?:exceptions?|errors?)\.[A-Z]\w*)"
_EXCEPTION_LINE = re.compile(rf"(?P<type>{_RAISED})(?:: ?(?P<message>.*))?\Z", re.DOTALL)
_EXCEPTION_REPR = re.compile(
    rf"(?:(?P<type>{_RAISED})\((?P<message>.*)\)|<(?P<other>{_RAISED})\b(?P<rest>[^<>]*)>)\Z", re.DOTALL
)
_EXCEPTION_NAME = re.compile(_NAME)

_OWN_ERROR = re.compile(r"(?:[Ee]rror|ERROR|[Ff]atal|FATAL)(?:\[\w+\])?: \S")
_EXIT_WORD = re.compile(r"exit|\breturn|\b(?:process|command|program|script)\b", re.IGNORECASE)
_BEFORE_DATABASE = re.compile(r"\A(?:Error|ERROR|error|Query failed|SQL error)[: ]+\s*(?=\S)")
# A count or a measure: `Errors: 4`, `Mean absolute error: 3.1`.
_FIGURE = re.compile(
    r"[^:\n]{0,60}(?:[Ee]rrors?|[Ff]ailed|[Ff]ailures?)\b[^:\n]{0,30}: ?(?:-?[\d.,]+ ?%?|(?:null|none|nil"
    r"|undefined|false|NaN)\b,?)"
    r"(?:,? (?:on|of|in|per|at|passed|failed|and|warnings?|to|from|minutes?|s|ms)\b[^\n]{0,80}"
    r"|[,;][^\n]{0,80})?\s*(?:\n|\Z)"
)
_SUCCESS_TAIL = re.compile(r"\b(?:0 errors?|no errors?|without errors?|errors?: (?:0|none)\b)", re.IGNORECASE)
_TABLE_RULE = re.compile(r"^\s*(?:[|+│┌┏╭]|[^|\n]*\|[^|\n]*\|)", re.MULTILINE)
_DECORATION = re.compile(
    r"(?:[^\w\s\[({<'\"`/\\.-]+\s*|\*\*|</?(?:tool_)?error>|\[(?:ERROR|Error|error)\]\s*)+"
)
# What precedes the details of a message: `Lookup failed: …`.
_MESSAGE_HEAD = re.compile(
    r"(?P<head>[A-Za-z][\w' -]{0,70}?)(?: \([^()\n]{1,80}\))?(?P<end>\*{0,2}: ?\*{0,2}|\. (?:Reason|Cause"
    r"|Error|Details?): | - )\S"
)
_FAILING_END = re.compile(
    r"(?:\b(?:error|failed|failure|exception|exception raised|error occurred|due to|went wrong[\w ]*|because)"
    r"|\b(?:failed|error|exception)(?: while| when| with| to| during| in| from| raised)\b[\w' -]*)\Z",
    re.IGNORECASE,
)
_FAILING_WORD = re.compile(
    r"\b(?:error|failed|failure|exception|unable|could ?n[o']t|cannot|can't|went wrong)\b", re.IGNORECASE
)
# Words that make a head the name of a measure or of a field: `Last error: …`.
_MEASURE_WORD = re.compile(
    r"\b(?:last|latest|previous|known|common|recent|first|standard|mean|absolute|squared|relative"
    r"|rounding|type|root|total|max|maximum|average|median|prediction|test|training|validation|margin"
    r"|of error)\b",
    re.IGNORECASE,
)
_GIVEN_UP = re.compile(
    r"(?:Sorry, )?(?:[Cc]ould not|[Cc]annot|[Cc]ouldn't"
    r"|[Uu]nable to) [\w' -]{1,60}\((?=[^()\n]*[A-Za-z])[^\n]*\)\.?\Z"
    r"|error=\w+ |(?:err|error_type)=\w*(?:Error|Exception)\b"
)
# What goes on in sentences explains an HTTP status; a page that could not be had has an address or nothing.
_EXPLAINED = re.compile(r"[a-z]\. [A-Z]|[.!?]\Z")

_NO_VALUE = frozenset(
    str.split(
        "None [] {} () set() null nan NaN <empty> \"\" '' undefined NULL [[]] [{}] [None] [null] nil (nil) -"
        " N/A n/a NA <NA> NaT dict_keys([]) dict_values([]) dict_items([]) frozenset() deque([]) array([])"
    )
) | {"", "None None"}
# A table of which there is only the head and its rule.
_HEAD_ALONE = re.compile(r"\|?[^|\n]+(?:\|[^|\n]*)+\n\s*\|?[\s:|+-]*-[\s:|+-]*\Z")
_COLUMNS_ALONE = re.compile(r"[A-Za-z_]\w*(?:\s*[,;|\t]\s*[A-Za-z_]\w*)+\Z")
# The names of a table without rows, on an ended line; names with commas between them may be a list.
_HEADER_LINE = re.compile(r"[a-z_]\w*(?:[;|\t][a-z_]\w*)+\r?\n")
# What it is good, or a failure, to have none of.
_GOOD_TO_LACK = (
    r"(?:errors?|issues?|problems?|warnings?|failures?|conflicts?|vulnerabilit\w+|exceptions?|changes?"
    r"|differences?|duplicates?|violations?|action|need|longer|limit|charge|cost|fee|doubt|idea|access"
    r"|permission|answer|response|reply|such|one|more|further|route|connection|module|space|way)\b"
)
_NOTHING_OF = rf"(?:no|zero|0) (?!(?:[\w'-]+ ){{0,2}}{_GOOD_TO_LACK})(?:[\w'-]+ ){{0,3}}?[\w'-]+"
_AFTER_SENTENCE = r"[.!。]?(?: (?:please |try |check |consider |did you |you (?:can|may) )[^\n]{0,160})?\Z"
_ROW_FIELDS = frozenset(
    str.split("rows results items data records hits documents matches result value values entries list")
)
_PAGE_FIELDS = frozenset(
    str.split(
        "count total total_count num_results columns page query status success ok has_more next took"
        " next_page error message limit offset took_ms fields cursor per_page page_size pages source table"
        " name_of_query filter filters sort order_by elapsed elapsed_ms duration_ms time_ms schema header"
        " headers rowcount row_count previous prev total_pages request_id"
    )
)

_MESSAGE_FIELDS = (
    *("message", "msg", "errormessage", "errormsg", "errmsg", "errordescription", "errorsummary", "detail"),
    *("details", "reason", "failurereason", "failuremessage", "statereason", "title", "description", "why"),
    *("explanation", "error", "evalue", "help", "stderr", "body", "output", "stdout", "value"),
)
_TYPE_FIELDS = ("errortype", "type", "exception", "ename", "name", "errorcode", "code")
_EXIT_FIELDS = ("exitcode", "exitstatus", "returncode")
_ITEM_LISTS = ("results", "items", "responses", "records", "entries", "outcomes", "data", "operations")
_DONE_COUNTS = frozenset(
    str.split(
        "succeeded success successful successes succeededcount successcount successfulcount processed created"
        " sent delivered updated imported done completed inserted written uploaded accepted applied ok added"
    )
)
_FAILED_COUNTS = frozenset(
    str.split(
        "failed failures failure failedcount failurecount errorcount errors unprocessed unprocesseditems"
        " rejected skipped bounced undelivered notsent unsuccessful failedids failedrecords conflicts"
    )
)
_STATE_FIELDS = (
    "status",
    "state",
    "result",
    "outcome",
    "success",
    "ok",
    "done",
    "sent",
    "updated",
    "accepted",
)
_FAILED_STATES = frozenset(
    str.split(
        "error failed failure fail rejected declined denied refused bounced undelivered undeliverable skipped"
        " timeout timed_out aborted cancelled canceled not_found notfound invalid conflict forbidden"
        " unauthorized false blocked out_of_stock unavailable not_sent unprocessed"
    )
)
_NAMING_FIELD = re.compile(
    r"(?:id|name|email|key|address|to|sku|number|code|item|ref|reference|title|path|file|user|target"
    r"|recipient|order|host|node)\Z",
    re.IGNORECASE,
)
_COUNTED_TEXT = re.compile(
    r"\b(?P<done>\d+) ?(?:of|out of|/) ?(?P<total>\d+)\b[^.;\n]{0,60}?\b(?:succeeded|successful\w*|sent|done|"
    r"processed|updated|created|delivered|completed|imported|cancelled|canceled|deleted|booked|applied)\b"
    r"|\b(?:sent|processed|updated|created|delivered|completed|imported|deleted|booked|applied)\b[^.;\n]{0,40}?"
    r"\b(?P<done2>\d+) ?(?:of|out of|/) ?(?P<total2>\d+)\b"
    r"|\b(?P<done3>\d+) [\w ]{0,30}?(?:succeeded|successful\w*|sent|done|processed|updated|created"
    r"|delivered)\b[^\n]{0,40}?\b(?P<failed3>\d+) [\w ]{0,20}?(?:failed|errors?|rejected|skipped|bounced"
    r"|undelivered)\b",
    re.IGNORECASE,
)


# The tables.


@dataclass(frozen=True, slots=True)
class TextForm:
    """One section of the table of texts: one expression, and the producer of each of its rows."""

    expression: re.Pattern[str]
    producers: tuple[str, ...]

    def match(self, text: str) -> re.Match[str] | None:
        """Return the match of a row at the start of a text."""
        return self.expression.match(text)

    def get_producer(self, found: re.Match[str]) -> str:
        """Return the producer of the row that matched."""
        rows = (name for name in found.groupdict() if name.startswith("row_") and found[name] is not None)
        return self.producers[int(next(rows).removeprefix("row_"))]


@dataclass(frozen=True, slots=True)
class DocumentForm:
    """One row of the table of documents."""

    producer: str
    status: EnvelopeStatus
    when: tuple[tuple[tuple[tuple[str, ...], ...], Any], ...]
    anything_else: bool
    fields: frozenset[str] = field(default_factory=frozenset)


_IGNORES_CASE = frozenset({"page", "refusal", "exit", "bare", "sentence"})
_SPANS_LINES = frozenset({"database", "document"})


def load_text_rows() -> list[dict[str, Any]]:
    """Load the rows of the table of texts, as the file has them."""
    rows: list[dict[str, Any]] = tomllib.loads(
        Path(__file__).with_name("envelopes_text.toml").read_text(encoding="utf-8")
    )["text"]
    return rows


@cache
def load_document_table() -> dict[str, Any]:
    """Load the table of documents, as the file has it."""
    return tomllib.loads(Path(__file__).with_name("envelopes_documents.toml").read_text(encoding="utf-8"))


@cache
def _load_text_forms() -> Mapping[str, TextForm]:
    rows_of: dict[str, list[dict[str, Any]]] = {}
    for row in load_text_rows():
        rows_of.setdefault(row["section"], []).append(row)
    forms = {}
    for section, rows in rows_of.items():
        flags = re.IGNORECASE if section in _IGNORES_CASE else re.NOFLAG
        flags |= re.DOTALL if section in _SPANS_LINES else re.NOFLAG
        parts = [f"(?P<row_{at}>{'|'.join(row['patterns'])})" for at, row in enumerate(rows)]
        tail = {"bare": r"\Z", "sentence": _AFTER_SENTENCE, "shell": r"\Z", "build": r"\Z"}.get(section, "")
        whole = f"(?:{'|'.join(parts)}){tail}".replace("NOTHING_OF", _NOTHING_OF)
        forms[section] = TextForm(re.compile(whole, flags), tuple(row["producer"] for row in rows))
    return forms


@cache
def _load_document_forms() -> tuple[DocumentForm, ...]:
    return tuple(
        DocumentForm(
            row["producer"],
            EnvelopeStatus(row["status"]),
            tuple((_parse_paths(names), condition) for names, condition in row["when"].items()),
            row.get("rest") == "any",
            frozenset(path[0] for names in row["when"] for path in _parse_paths(names)),
        )
        for row in load_document_table()["document"]
    )


@cache
def _load_envelope_fields() -> frozenset[str]:
    return frozenset(load_document_table()["fields"].split())


def _parse_paths(names: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(name.split(".")) for name in names.split("|"))


# Reading a result.


def read_envelope(
    text: str,
    kind: ToolKind,
    value: JsonValue = None,
    command: str = "",
    arguments: Sequence[JsonValue] = (),
    *,
    is_batch: bool = True,
) -> Envelope:
    """Return what a result says of itself.

    Args:
        text: the result as text.
        kind: of the tool that gave it.
        value: the decoded result where it was JSON.
        command: the source of the shell command that printed it, where known.
        arguments: what the call was given: a result may repeat it.
        is_batch: the result may be that of an operation on several items; else a list is one of records.
    """
    failure = find_failure(text, kind, value, command, arguments)
    if failure is not None:
        return failure
    document = value if isinstance(value, dict | list) else decode_result(text)
    partial = find_partial_result(document, text) if is_batch else None
    if partial is not None:
        return partial
    return _EMPTY if is_empty(text, value, kind, arguments) else WORKED


def find_failure(
    text: str,
    kind: ToolKind,
    value: JsonValue = None,
    command: str = "",
    arguments: Sequence[JsonValue] = (),
) -> Envelope | None:
    """Return the failure that a result reports, None where it reports none; see `read_envelope`."""
    whole = text.strip()
    if not whole:
        return None
    document = value if isinstance(value, dict | list) else decode_result(whole)
    if document is not None:
        return _find_document_failure(document, kind, command, arguments)
    return _find_text_failure(whole, kind, command)


@lru_cache(maxsize=_KEPT_DOCUMENTS)
def decode_result(text: str) -> dict[str, JsonValue] | list[JsonValue] | None:
    """Return the document that a text is, in JSON or as Python prints it; None where it is none."""
    whole = text.strip()
    if whole[:1] not in {"{", "["} or len(whole) > MAX_CHARS * 10:
        return None
    found = decode_document(whole)
    return found if isinstance(found, dict | list) else None


# Documents.


def _find_document_failure(
    document: JsonValue, kind: ToolKind, command: str, arguments: Sequence[JsonValue]
) -> Envelope | None:
    parts = join_text_parts(document)
    if parts is not None:
        return find_failure(parts, kind, command=command)
    if isinstance(document, list):
        # Salesforce: a list with one error.
        alone = document[0] if len(document) == 1 else None
        found = match_document(alone, arguments) if isinstance(alone, dict) and "errorCode" in alone else None
        return found if found is not None and found.failed else None
    if not isinstance(document, dict):
        return None
    found = match_document(document, arguments)
    if found is not None:
        return found if found.failed else None
    return _find_wrapped_failure(document, kind, command)


def match_document(document: Mapping[str, JsonValue], arguments: Sequence[JsonValue] = ()) -> Envelope | None:
    """Return what the first row of the table that fits a document says of it, None where none fits."""
    fields = {_normalise_name(str(name)): item for name, item in document.items()}
    foreign = _find_foreign_fields(fields, arguments)
    for form in _load_document_forms():
        allowed = form.anything_else or not foreign - form.fields
        if allowed and all(_has_value(fields, paths, condition) for paths, condition in form.when):
            return _build_document_envelope(form, fields)
    return None


def _find_foreign_fields(fields: Mapping[str, JsonValue], arguments: Sequence[JsonValue]) -> frozenset[str]:
    """Return the fields that hold data: neither empty, nor of envelopes, nor what the call was given."""
    known = _load_envelope_fields()
    carrying = {name for name, item in fields.items() if item not in (None, "", [], {}, False, 0)}
    if "jsonrpc" in carrying:
        carrying.discard("id")
    return frozenset(
        name for name in carrying - known if fields[name] not in arguments and not _is_identity(name)
    )


def _is_identity(name: str) -> bool:
    return name in {"rayid", "eventid", "sessionid", "transactionid"}


def _has_value(fields: Mapping[str, JsonValue], paths: Sequence[Sequence[str]], condition: Any) -> bool:
    """Whether one of these fields meets a condition of the table."""
    found = [_find_field(fields, path) for path in paths]
    present = [item for is_there, item in found if is_there]
    if condition == "missing":
        return all(item in (None, "", [], {}) for item in present)
    if condition == "null":
        return any(item is None for item in present)
    return any(_has_condition(item, condition) for item in present)


def _find_field(fields: Mapping[str, JsonValue], path: Sequence[str]) -> tuple[bool, JsonValue]:
    """Return whether a field is there, and what it holds."""
    item: JsonValue = dict(fields)
    for name in path:
        if not isinstance(item, dict):
            return False, None
        inner = {_normalise_name(str(key)): each for key, each in item.items()}
        if name not in inner:
            return False, None
        item = inner[name]
    return True, item


def _has_condition(item: JsonValue, condition: Any) -> bool:
    if isinstance(condition, list):
        return any(_is_listed(item, wanted) for wanted in condition)
    number = _as_number(item)
    match condition:
        case "any":
            return item is not None
        case "error":
            return _names_error(item)
        case "text":
            return isinstance(item, str) and bool(item.strip())
        case "list":
            return isinstance(item, list) and bool(item)
        case "http-error":
            return number is not None and number in _HTTP_ERRORS
        case "non-zero":
            return number is not None and number != 0
        case "zero":
            return number == 0
        case "positive":
            return number is not None and number > 0
    raise ValueError(f"envelopes_documents.toml: no such condition: {condition!r}")


def _is_listed(item: JsonValue, wanted: JsonValue) -> bool:
    """Whether a value is one of a list's: texts without case, `*` at an end for any text."""
    if not isinstance(wanted, str):
        return type(item) is type(wanted) and item == wanted
    if not isinstance(item, str):
        return False
    given = item.strip().strip(".").lower()
    head, tail = wanted.startswith("*"), wanted.endswith("*")
    bare = wanted.strip("*")
    if head and tail:
        return bare in given
    return given.endswith(bare) if head else given.startswith(bare) if tail else given == bare


def _as_number(item: JsonValue) -> int | None:
    if isinstance(item, int) and not isinstance(item, bool):
        return item
    return int(item) if isinstance(item, str) and re.fullmatch(r"-?\d{1,9}", item) else None


def _names_error(item: JsonValue) -> bool:
    """Whether the value of a field such as `error` names one: `null`, `"none"`, `0` and `{}` do not."""
    if isinstance(item, str):
        return item.strip().lower() not in {
            "",
            "none",
            "null",
            "no error",
            "no errors",
            "ok",
            "success",
            "0",
            "n/a",
        }
    if isinstance(item, dict):
        return any(_names_error(each) or (each is not None and each != 0) for each in item.values())
    if isinstance(item, list):
        return any(map(_names_error, item))
    return item is True


def _build_document_envelope(form: DocumentForm, fields: Mapping[str, JsonValue]) -> Envelope:
    status = next((_as_number(fields[name]) for name in _EXIT_FIELDS if name in fields), None)
    if form.status is EnvelopeStatus.WORKED:
        return replace(WORKED, producer=form.producer, exit_status=status)
    if status is not None and form.status is EnvelopeStatus.FAILED:
        first = ("stderr", "error", "output", "stdout")
        quote = _find_message(fields, first) or f"exit status {status}"
        return Envelope(form.status, EnvelopeForm.EXIT_STATUS, quote, None, status, form.producer)
    quote = _find_message(fields) or str(fields.get("status") or fields.get("code") or form.status.value)
    return Envelope(
        form.status, EnvelopeForm.STRUCTURED, quote, _find_error_type(fields), None, form.producer
    )


def _find_message(fields: Mapping[str, JsonValue], names: Sequence[str] = _MESSAGE_FIELDS) -> str:
    """Return the first text of an envelope that a person would read; empty where there is none."""
    for name in (
        "error",
        "errors",
        "exception",
        "err",
        "fault",
        "errormessages",
        "lastpaymenterror",
        "toolresult",
    ):
        inner = fields.get(name) if names is _MESSAGE_FIELDS else None
        if isinstance(inner, list):
            inner = inner[0] if inner else None
        if isinstance(inner, str) and name in {"errors", "errormessages", "exception"} and inner.strip():
            return inner.strip()
        if isinstance(inner, dict):
            said = _find_message({_normalise_name(str(key)): item for key, item in inner.items()})
            if said:
                return said
    for name in names:
        item = fields.get(name)
        if isinstance(item, dict):
            item = item.get("value") or item.get("message")
        if isinstance(item, list) and item and isinstance(item[0], dict):
            item = item[0].get("msg") or item[0].get("message") or item[0].get("text")
        if isinstance(item, str) and item.strip():
            return item.strip()
    parts = fields.get("content")
    return (
        (join_text_parts(parts) or "") if isinstance(parts, list) else parts if isinstance(parts, str) else ""
    )


def _find_error_type(fields: Mapping[str, JsonValue]) -> str | None:
    """Return the exception's name in an envelope, None where it has none."""
    inner = next(
        (fields[name] for name in ("error", "exception") if isinstance(fields.get(name), dict)), None
    )
    if isinstance(inner, dict):
        found = _find_error_type({_normalise_name(str(key)): item for key, item in inner.items()})
        if found is not None:
            return found
    for name in _TYPE_FIELDS:
        item = fields.get(name)
        if isinstance(item, str) and item.isidentifier() and item[:1].isupper() and not item.isupper():
            return item
    return None


def _find_wrapped_failure(document: Mapping[str, JsonValue], kind: ToolKind, command: str) -> Envelope | None:
    """Return the failure of the one text that a document wraps."""
    names = ("stderr", "result", "output", "text", "message", "response", "content")
    inner = next((document[name] for name in names if document.get(name)), None)
    if isinstance(inner, str) and sum(bool(item) for item in document.values()) == 1:
        return find_failure(inner, kind, command=command)
    return None


def join_text_parts(value: JsonValue) -> str | None:
    """Return the text of a result in parts, as MCP and Anthropic write it; None where it is none."""
    parts = value if isinstance(value, list) else []
    texts = [
        part.get("text")
        for part in parts
        if isinstance(part, dict) and part.keys() <= {"type", "text", "annotations"}
    ]
    found = [text for text in texts if isinstance(text, str)]
    return "\n".join(found) if found and len(found) == len(parts) else None


@lru_cache(maxsize=2048)
def _normalise_name(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace("@", "").lower()


# Batches.


def find_partial_result(document: JsonValue, text: str = "") -> Envelope | None:
    """Return what a batch did and did not do; None where nothing of it failed, or it is no batch.

    The rows of a table of records look the same: only the result of an operation is a batch.
    """
    if isinstance(document, dict):
        found = match_document(document)
        partial = found if found is not None and found.status is EnvelopeStatus.PARTIAL else None
        return _find_listed_items(document) or _find_counted_items(document) or partial
    if isinstance(document, list):
        return _build_batch(_list_item_outcomes(document))
    return _find_counts_in_text(text)


def _find_listed_items(document: Mapping[str, JsonValue]) -> Envelope | None:
    for name, item in document.items():
        if _normalise_name(name) in _ITEM_LISTS and isinstance(item, list):
            found = _build_batch(_list_item_outcomes(item))
            if found is not None:
                return found
        if isinstance(item, dict) and _normalise_name(name) in {"data", "result", "results", "summary"}:
            by_name = _list_named_outcomes(item) if _normalise_name(name) == "results" else ()
            found = _build_batch(by_name) or _find_listed_items(item) or _find_counted_items(item)
            if found is not None:
                return found
    return None


def _list_item_outcomes(items: Sequence[JsonValue]) -> tuple[ItemOutcome, ...]:
    """Return the outcome of each item of a list; none where an item says nothing of its own."""
    found = []
    for at, item in enumerate(items[:_MAX_ITEMS], 1):
        inner = next(iter(item.values())) if isinstance(item, dict) and len(item) == 1 else item
        outcome = _read_item(inner, str(at)) if isinstance(inner, dict) else None
        if outcome is None:
            return ()
        found.append(outcome)
    return tuple(found)


def _list_named_outcomes(items: Mapping[str, JsonValue]) -> tuple[ItemOutcome, ...]:
    """Return the outcome of each item of an object: `{"a@b.example": "sent", "c@d.example": "bounced"}`."""
    states = {name: item for name, item in items.items() if isinstance(item, str | bool)}
    if len(states) != len(items) or not states:
        return ()
    return tuple(ItemOutcome(name, not _is_failed_state(item), str(item)) for name, item in states.items())


def _read_item(item: Mapping[str, JsonValue], position: str) -> ItemOutcome | None:
    fields = {_normalise_name(name): each for name, each in item.items()}
    names = [str(each) for name, each in item.items() if _NAMING_FIELD.search(name) and _is_plain(each)]
    name = names[0] if names else position
    states = [fields[key] for key in _STATE_FIELDS if isinstance(fields.get(key), str | bool | int)]
    error = next(
        (fields[key] for key in ("error", "errors", "errorcode", "errormessage") if key in fields), None
    )
    if _names_error(error) or any(map(_is_failed_state, states)):
        return ItemOutcome(name, done=False, reason=_find_message(fields))
    return ItemOutcome(name, done=True) if states or len(names) > 0 else None


def _is_plain(item: JsonValue) -> bool:
    return isinstance(item, str | int) and not isinstance(item, bool)


def _is_failed_state(item: JsonValue) -> bool:
    if isinstance(item, str):
        state = item.strip().lower().replace(" ", "_").replace("-", "_")
        return state in _FAILED_STATES or state.startswith(("failed", "error", "rejected"))
    number = _as_number(item)
    return item is False or (number is not None and number in _HTTP_ERRORS)


def _build_batch(items: Sequence[ItemOutcome]) -> Envelope | None:
    failed = [item for item in items if not item.done]
    if not failed:
        return None
    return _make_partial(len(items) - len(failed), len(failed), tuple(items))


def _find_counted_items(document: Mapping[str, JsonValue]) -> Envelope | None:
    """Return the batch that a document counts, or lists: `{"succeeded": 3, "failed": 1}`."""
    done = failed = 0
    items: list[ItemOutcome] = []
    counted = False
    for name, item in document.items():
        field_name = _normalise_name(name)
        is_count = isinstance(item, list) or (isinstance(item, int) and not isinstance(item, bool))
        if not is_count or field_name not in _DONE_COUNTS | _FAILED_COUNTS:
            continue
        size = len(item) if isinstance(item, list) else _as_number(item) or 0
        is_done = field_name in _DONE_COUNTS
        done, failed = (done + size, failed) if is_done else (done, failed + size)
        counted = counted or is_done
        for at, each in enumerate(item if isinstance(item, list) else (), 1):
            known = _read_item(each, str(at)) if isinstance(each, dict) else None
            items.append(
                ItemOutcome(known.name if known else str(each), is_done, known.reason if known else "")
            )
    if failed == 0 or not counted:
        return None
    return _make_partial(done, failed, tuple(items))


def _find_counts_in_text(text: str) -> Envelope | None:
    if len(text) > _MAX_BARE_CHARS:
        return None
    found = _COUNTED_TEXT.search(text)
    if found is None:
        return None
    given = found.groupdict()
    done = int(given["done"] or given["done2"] or given["done3"])
    total = given["total"] or given["total2"]
    failed = int(total) - done if total else int(given["failed3"])
    return (
        replace(_make_partial(done, failed, ()), form=EnvelopeForm.TEXT, quote=found[0])
        if failed > 0
        else None
    )


def _make_partial(done: int, failed: int, items: tuple[ItemOutcome, ...]) -> Envelope:
    reason = next((item.reason for item in items if not item.done and item.reason), "")
    quote = f"{failed} of {done + failed} failed" + (f": {reason}" if reason else "")
    return Envelope(
        EnvelopeStatus.PARTIAL,
        EnvelopeForm.STRUCTURED,
        quote,
        items=items,
        done_count=done,
        failed_count=failed,
    )


# Texts.


def _find_text_failure(whole: str, kind: ToolKind, command: str) -> Envelope | None:
    lines = [line.strip() for line in whole[-MAX_CHARS:].splitlines() if line.strip()]
    head = whole[:MAX_CHARS]
    status, other_lines = _split_exit_status(lines)
    if status is not None:
        quote = other_lines[-1] if other_lines else lines[-1]
        if status == 0:
            return None
        return Envelope(EnvelopeStatus.FAILED, EnvelopeForm.EXIT_STATUS, quote, None, status)
    framework = _match("framework", head, lines[0])
    if framework is not None:
        return framework
    if kind is ToolKind.DOCUMENTS:
        return _find_failure_of_documents(head, lines[0])
    if command and kind in (ToolKind.SHELL, ToolKind.OTHER):
        known = read_command(command)
        line = find_own_message(known, lines)
        if line is not None or known.shows:
            return _make_text_failure(line) if line is not None else None
    if any(map(is_log_line, (lines[0], lines[-1]))) or is_record_list(lines):
        return None
    return (
        _find_traceback(whole[-MAX_CHARS:], kind)
        or _find_message_of_tool(head, lines, kind)
        or _find_short_message(head, lines[0], kind)
    )


def _make_text_failure(quote: str, error_type: str | None = None, producer: str = "") -> Envelope:
    return Envelope(EnvelopeStatus.FAILED, EnvelopeForm.TEXT, quote, error_type, None, producer)


def _match(section: str, text: str, quote: str) -> Envelope | None:
    """Return the failure that a row of a section finds at the start of a text."""
    form = _load_text_forms()[section]
    found = form.match(text)
    return _make_text_failure(quote, _find_exception_name(text), form.get_producer(found)) if found else None


def _split_exit_status(lines: list[str]) -> tuple[int | None, list[str]]:
    """Return an exit status on a line of its own, first or last, and the other lines."""
    for line in (lines[0], lines[-1]):
        if len(line) >= MAX_MESSAGE_CHARS or _EXIT_WORD.search(line) is None:
            continue
        found = _load_text_forms()["exit"].match(line)
        if found is not None:
            codes = (found["code"], found["code2"], found["code3"])
            code = next(each for each in codes if each is not None)
            own_line = found["code3"] is not None
            return int(code), [each for each in lines if own_line or each is not line]
    return None, lines


def _find_failure_of_documents(head: str, first: str) -> Envelope | None:
    """Return the failure of a tool that gives documents: it fails in few words, or not at all."""
    if "\n" in head.strip() or len(head) > MAX_MESSAGE_CHARS:
        return _match_page(head)
    http = _load_text_forms()["http"].match(head)
    if http is not None and not _EXPLAINED.search(head[http.end() :]):
        return _match("http", head, first)
    return _match("document", head, first)


def _match_page(head: str) -> Envelope | None:
    page = _load_text_forms()["page"].match(head)
    return _make_text_failure(f"HTTP {page['status']}", None, "web servers") if page else None


def _find_traceback(tail: str, kind: ToolKind) -> Envelope | None:
    """Return an uncaught exception at the end of the text."""
    raised = parse_python_traceback(tail)
    if raised is not None:
        return _make_text_failure(*raised, "Python")
    if kind not in (ToolKind.JAVASCRIPT, ToolKind.SHELL, ToolKind.OTHER):
        return None
    thrown = parse_thrown_error(tail)
    return _make_text_failure(*thrown, "Node.js") if thrown is not None else None


def _find_message_of_tool(head: str, lines: list[str], kind: ToolKind) -> Envelope | None:
    if kind in (ToolKind.SQL, ToolKind.OTHER, ToolKind.PYTHON):
        bare = _BEFORE_DATABASE.sub("", head)
        found = _match("database", head, lines[0])
        if found is None and bare != head:
            found = _match("database", bare, lines[0])
        if found is not None:
            return found
    if kind is ToolKind.SHELL and len(lines) <= _MAX_SHELL_LINES and not _FIGURE.match(lines[-1]):
        line = next(filter(_OWN_ERROR.match, (lines[0], lines[-1])), None)
        if line is not None:
            return _make_text_failure(line)
    if kind is not ToolKind.SHELL and (
        kind not in (ToolKind.JAVASCRIPT, ToolKind.OTHER) or len(lines) > _MAX_MESSAGE_LINES
    ):
        return None
    ends = (lines[0], lines[-1]) if kind is ToolKind.SHELL else lines[:1]
    of_shell = [found for line in ends if (found := _match("shell", line, line))]
    of_build = [found for line in lines[:_MAX_MESSAGE_LINES] if (found := _match("build", line, line))]
    found = next(iter((*of_shell, *of_build)), None)
    return replace(found, error_type=None) if found is not None else None


def _find_short_message(head: str, first: str, kind: ToolKind) -> Envelope | None:
    """Return an error message that is the whole of a short text."""
    if head.count("\n") >= _MAX_MESSAGE_LINES or _TABLE_RULE.search(head) or _SUCCESS_TAIL.search(first):
        return None
    raised = _EXCEPTION_LINE.match(first) or _EXCEPTION_REPR.match(head)
    if raised is not None:
        given = raised.groupdict()
        if given.get("message") is None or given["message"].strip():
            return _make_text_failure(first, _shorten_name(given["type"] or given["other"]), "Python")
    page = _match_page(head)
    if page is not None:
        return page
    http = _match("http", head, first) if kind is not ToolKind.SHELL else None
    if http is not None:
        return replace(http, error_type=None)
    if _FIGURE.match(head):
        return None
    message = _match("message", head, first)
    if message is not None:
        return replace(message, error_type=_find_exception_name(first))
    return _make_text_failure(first, _find_exception_name(first)) if _names_failure(first) else None


def _names_failure(first: str) -> bool:
    """Whether a message first names a failure, then gives its details: `Sorry, the lookup failed: …`."""
    plain = _DECORATION.sub("", first, count=1) if _DECORATION.match(first) else first
    if _GIVEN_UP.match(plain):
        return True
    if plain != first and _EXCEPTION_LINE.match(plain):
        return True
    head = _MESSAGE_HEAD.match(plain)
    if head is None or _MEASURE_WORD.search(head["head"]):
        return False
    return _FAILING_END.search(head["head"]) is not None and _FAILING_WORD.search(head["head"]) is not None


def _find_exception_name(text: str) -> str | None:
    found = _EXCEPTION_NAME.search(text[:2_000])
    return _shorten_name(found[0]) if found else None


def _shorten_name(name: str) -> str:
    return name.rpartition(".")[2]


def find_refusal(text: str) -> Envelope | None:
    """Return the refusal that an operation got: `Rejected: …`, `Not allowed.`; None where it got none."""
    whole = text.strip()
    return _match("refusal", whole, whole[:MAX_MESSAGE_CHARS])


# Results that hold nothing.


def is_empty(
    text: str,
    value: JsonValue = None,
    kind: ToolKind = ToolKind.OTHER,
    arguments: Sequence[JsonValue] = (),
) -> bool:
    """Whether a result holds nothing; see `read_envelope`.

    A sentence counts where a tool gave it, as the whole of a short text: what an agent's own code prints in
    words is its finding.
    """
    document = value if isinstance(value, dict | list) else None
    plain = text.strip()
    if document is None:
        if plain in _NO_VALUE:
            return True
        if plain[0] in "[{(" and len(plain) < _MAX_BARE_CHARS:
            decoded = decode_result(plain) if plain[0] != "(" else decode_document(plain)
            document = decoded if isinstance(decoded, dict | list) else None
    if isinstance(document, dict):
        found = match_document(document, arguments)
        if found is not None and found.status is EnvelopeStatus.EMPTY:
            return True
    if document is not None and (document is value or _holds_nothing(document, arguments)):
        return _holds_nothing(document, arguments)
    forms = _load_text_forms()
    if len(plain) < _MAX_BARE_CHARS and (forms["bare"].match(plain) or _HEAD_ALONE.match(plain)):
        return True
    if kind is ToolKind.SQL and _COLUMNS_ALONE.match(plain):
        return True
    if kind in (ToolKind.OTHER, ToolKind.DOCUMENTS) and _HEADER_LINE.fullmatch(text):
        return True
    in_words = kind is not ToolKind.PYTHON and len(plain) <= _MAX_SENTENCE_CHARS
    return in_words and forms["sentence"].match(plain) is not None


def _holds_nothing(
    value: Mapping[str, JsonValue] | Sequence[JsonValue], arguments: Sequence[JsonValue] = ()
) -> bool:
    """Whether a document is empty lists, zeros, what is said about them, and what the call was given."""
    if not isinstance(value, Mapping):
        return all(each in (None, [], {}) or _is_row_of_nulls(each) for each in value)
    if not value:
        return True
    empty = [
        name for name, item in value.items() if item in ([], {}) or (item is None and name in _ROW_FIELDS)
    ]
    inner = [
        name
        for name, item in value.items()
        if name in _ROW_FIELDS and isinstance(item, dict) and item and _holds_nothing(item, arguments)
    ]
    rest = [name for name in value if name not in empty and name not in inner]
    if not empty and not inner:
        return bool(value.keys() & _ROW_FIELDS) and all(
            item in ("", None) if name in _ROW_FIELDS else name in _PAGE_FIELDS
            for name, item in value.items()
        )
    nothing = (0, None, "", False, *arguments)
    return all(name.lower() in _PAGE_FIELDS or value[name] in nothing for name in rest)


def _is_row_of_nulls(value: JsonValue) -> bool:
    """Whether a row has no value in any column: what an aggregate gives over no rows."""
    cells = list(value.values()) if isinstance(value, dict) else value
    return isinstance(cells, list) and all(cell is None for cell in cells)

"""Failures reported as text: the fixed forms in which tools, shells, databases and frameworks report them.

In: a text, and what gave it. Out: what it says of failure, or None. A form counts by its place, at the start
or the end of the text, and by what gave the text: the word "error" alone says nothing, and in a document, a
log or a search result even an error message is content.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from spanproof.evaluators.outcomes.model import KnownBy
from spanproof.evaluators.outcomes.places import Giver
from spanproof.evaluators.outcomes.structured import exit_status_of, read_structured
from spanproof.trace import JsonValue

MAX_CHARS: Final = 20_000
"""Of a longer text the beginning and the end are read."""

_MAX_LINES = 12
"""An error message at the start of a longer text is a heading or a quotation."""


@dataclass(frozen=True, slots=True)
class TextFailure:
    """A failure that a text reports."""

    known_by: KnownBy
    quote: str
    error_type: str | None = None
    exit_status: int | None = None


_NAME = (
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exists|NotFound|Timeout|Interrupt|Exit|Warning"
    r"|Expired|Refused|Denied|Failure|Fault)"
)
_EXCEPTION_LINE = re.compile(rf"(?P<type>{_NAME})(?:: ?(?P<message>.*))?\Z", re.DOTALL)
_EXCEPTION_REPR = re.compile(rf"(?P<type>{_NAME})\((?P<message>.*)\)\Z", re.DOTALL)
_TRACEBACK = "Traceback (most recent call last)"
_LAST_RAISED = re.compile(rf"(?m)^(?P<type>{_NAME}|KeyboardInterrupt|SystemExit|StopIteration)(?::|\s*$)")

_FRAMEWORKS = re.compile(
    r"(?:Error executing tool '[^'\n]*'"
    r"|Error executing tool [\w.-]+:"
    r"|Error in tool call execution:|Error in code parsing:|Code execution failed at line"
    r"|Code parsing failed on line"
    r"|Error invoking tool '|Error invoking tool `"
    r"|Error: [\w.-]+ is not a valid tool, try one of \["
    r"|[\w.-]+ is not a valid tool, try one of \["
    r"|An error occurred while running the tool\b|Error running tool|Error calling tool '"
    r"|Executing code yielded an error:|Tool execution failed|Tool call failed"
    r"|Error: .*\n ?Please fix your mistakes\.\s*\Z"
    r"|MCP error -?\d+|Unknown tool: |Tool [\w'.-]+ not found\b|Could not parse tool input"
    r"|<tool_use_error>|ToolException\()",
)
_DATABASES = re.compile(
    r"(?:Error: )?(?:\((?:\w+\.)*\w*(?:Error|Exception)\) |\((?:\w+\.)+[A-Z]\w+\) "
    r"|(?:sqlite3|psycopg2?|psycopg\.errors|psycopg2\.errors|pymysql|MySQLdb|asyncpg|duckdb|sqlalchemy"
    r"|oracledb|pyodbc)[\w.]*\.\w+: "
    r"|no such (?:table|column|function|index)\b|near \".{0,80}\": syntax error|ambiguous column name: "
    r"|(?:Parse|Runtime) error(?: near line \d+)?: |in prepare, "
    r"|(?:Catalog|Binder|Parser|Conversion|Constraint|Invalid Input|Out of Range|IO|Permission"
    r"|Transaction|Type|Not implemented"
    r"|INTERNAL|Dependency|HTTP|Serialization|Out of Memory) Error: "
    r"|ERROR \d{3,5} \([0-9A-Z]{5}\)(?: at line \d+)?: |\(\d{4}, ['\"]"
    r"|(?:psql:.{0,200}: )?(?:ERROR|FATAL|PANIC):  ?\S|(?:psql: )?error: connection to server"
    r"|ORA-\d{5}: |Msg \d+, Level \d+, "
    r"|Code: \d+\. DB::(?:Net)?Exception|Received exception from server"
    r"|table_names \{.*\} not found in database|(?:relation|column|table"
    r"|function) \"?[\w.]+\"? does not exist\b"
    r"|Unknown column '|Table '[\w.`]+' doesn't exist|You have an error in your SQL syntax"
    r"|Unrecognized name: "
    r"|SQL compilation error|(?:Access denied for user|Can't connect to .{0,20}MySQL"
    r"|Lost connection to MySQL))",
    re.DOTALL,
)
_SHELL = re.compile(
    r"(?:(?:[\w./-]*/)?(?:ba|z|da|k)?sh: (?:(?:line )?\d+: )?.{1,200}: (?:command not found|not found"
    r"|No such file or directory"
    r"|Permission denied|syntax error.*|.*unbound variable|cannot execute.*|Is a directory"
    r"|bad interpreter.*)"
    r"|(?:[\w./-]*/)?(?:ba|z|da)?sh: (?:(?:-c|line \d+|\d+): )+.*(?:syntax error|unexpected"
    r"|[Bb]ad substitution).*"
    r"|(?:ba|z)?sh: command not found: .+|[\w./-]+: command not found"
    r"|(?:[\w./-]+): (?:cannot |can't |unable to |missing operand|invalid option|unrecognized option"
    r"|illegal option|failed to ).*"
    r"|(?:[\w./-]+): [^:\n]{1,200}: (?:No such file or directory|Permission denied|Is a directory"
    r"|Not a directory|Operation not permitted"
    r"|No such process|Connection refused|Name or service not known|File exists|Directory not empty"
    r"|No space left on device)"
    r"|[\w./-]+: error: .*"
    r"|Segmentation fault.*|Killed|Terminated|Bus error.*|Aborted.*|Illegal instruction.*"
    r"|curl: \(\d+\) .*|wget: .*|ssh: .*|E: (?:Unable|Could not|Package|Failed).*"
    r"|make(?:\[\d+\])?: \*\*\* .*"
    r"|\S+\.(?:go|rs|c|cc|cpp|h|java|kt|swift):\d+:\d+: .*|fatal: .*"
    r"|error: (?:pathspec|failed to|could not|cannot|Your local|src refspec|unknown).*"
    r"|CONFLICT \(.*"
    r"|ERROR: (?:Could not|No matching|Failed|Cannot|pip's|Exception|Invalid|Package|failed to|Ignored).*"
    r"|error: (?:externally-managed|subprocess-exited|metadata-generation|legacy-install).*"
    r"|npm (?:ERR!|error) .*|yarn error.*|error Command failed.*|ERR_PNPM\w+.*"
    r"|Error response from daemon: .*|Error from server .*|Error: (?:Cannot find module|No such"
    r"|Unknown|Failed|Process|Command)\b.*"
    r"|error(?:\[E\d+\])?: (?:aborting|cannot|expected|mismatched|linking|unresolved|could not).*"
    r"|[\w./-]+:\d+:(?:\d+:)? (?:fatal )?error: .*|panic: .*|Exception in thread \".*"
    r"|Unhandled exception.*)"
    r"\Z",
)
_EXIT_LINE = re.compile(
    r"(?:\[?\(?(?:[Pp]rocess |[Cc]ommand |[Pp]rogram )?(?:exited|finished|failed|terminated"
    r"|returned)?(?: with)?"
    r" ?(?:non-zero )?(?:exit|return)[ _]?(?:code|status)?\s*[:=]?\s*(?P<status>-?\d{1,3})\)?\]?\.?"
    r"|(?:[Pp]rocess|[Cc]ommand) (?:exited|failed|finished) with (?:code|status|exit code"
    r"|exit status):? (?P<other>-?\d{1,3})\.?"
    r"|.*returned non-zero exit status (?P<third>\d{1,3})\.?|<(?:exit_code|exit-code"
    r"|returncode)>(?P<fourth>-?\d{1,3})</.*)\Z"
)
_NODE = re.compile(
    r"(?:(?:Uncaught |Unhandled \w+ )?(?P<type>\w*Error)(?: \[\w+\])?: .+\n(?:.*\n){0,3}?\s+at .+"
    r"|(?:Uncaught )(?P<caught>\w*Error): |node:internal/|file://.*:\d+\n|\S+\.[cm]?[jt]s:\d+\n)",
)
_HTTP = re.compile(
    r"(?:HTTP(?:/\d(?:\.\d)?)? ?(?:[Ee]rror:?|status:?|code:?)?:? ?(?P<status>[45]\d\d)\b"
    r"|(?P<second>[45]\d\d) (?:Client|Server) Error\b"
    r"|(?:Error:? )?(?:Request|API request|API call|Fetch|GET|POST) ?(?:\S+ )?(?:failed"
    r"|returned)(?: with)?(?: error)? ?(?:an? )?(?:HTTP )?(?:status)?(?: code)?:? ?(?P<third>[45]\d\d)\b"
    r"|(?:Error|ERROR|Status|API error|API Error)(?: code)?:? \(?(?P<fourth>[45]\d\d)\b"
    r"|(?P<fifth>[45]\d\d)(?::|\s+-)? (?:Bad Request|Unauthorized|Payment Required|Forbidden|Not Found"
    r"|Method Not Allowed|Conflict|Gone"
    r"|Unprocessable (?:Entity|Content)|Too Many Requests|Internal Server Error|Not Implemented"
    r"|Bad Gateway|Service Unavailable|Gateway Time-?out)\b)"
)
_ERROR_PAGE = re.compile(
    r"\s*(?:<!DOCTYPE[^>]*>\s*)?<html[^>]*>\s*<head[^>]*>\s*(?:<[^>]*>\s*)*?<title>\s*(?P<status>[45]\d\d)\b",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"(?:(?:An )?(?:unexpected |unknown |internal )?error (?:has )?occurred\b|\(error\) \S"
    r"|(?:Sorry, |Oops[,!] )?[Ss]omething went wrong\b|Internal (?:server )?error\b"
    r"|Error in \S+\(.{0,80}\) ?: "
    r"|(?:\w+ ){0,3}(?:service|server|database|API|host|system|backend)"
    r" (?:is|was) (?:currently |temporarily )*"
    r"(?:unavailable|down|unreachable|not available|offline|not responding)\b"
    r"|(?:Not authori[sz]ed|Unauthori[sz]ed|Forbidden|Authentication (?:failed|required|error))\b"
    r"|Invalid (?![^:\n]*\b(?:were|was|are|is|has|have)\b)[\w ]{1,30}: \S"
    r"|Missing (?:required )?(?:parameter|argument|field|key|value|column|input|credential)s?\b"
    r"|Unknown (?:column|table|field|key|parameter|argument|option|command|function|tool|user|database)s?\b"
    r"|[A-Z][\w' -]{0,40} (?:not found|does not exist)(?:: .{1,120}|\.)?\s*\Z"
    r"|\W{0,3}(?:ERROR|Error|error|FAILED|Failed|Failure|Exception|Fatal error"
    r"|FATAL)\b(?: \([^)\n]*\))?(?: \[[^\]\n]*\])?:\s*\S"
    r"|(?:[A-Z][\w-]*|SQL|API)(?: [\w-]+){0,3} (?:error|failed|failure|exception"
    r"|timed out)(?: \([^)\n]*\))?(?: with [\w ]{1,40})?: ?\S"
    r"|(?:Error|Failed|Failure|Unable|Could not|Cannot|Can't|Couldn't) (?:while |when |to |in |during "
    r"|at |on )?"
    r"(?:connect|execute|run|load|open|read|fetch|reach|find|retrieve|get|process|parse|query|access"
    r"|complete|create|resolve|locate|call|authenticate|establish|write|save|update|delete|download"
    r"|connecting|executing|running|loading|opening|reading|fetching|reaching|retrieving|getting"
    r"|processing|parsing"
    r"|querying|accessing|completing|creating|resolving|calling|authenticating|writing|saving|updating"
    r"|deleting"
    r"|downloading|searching|invoking|sending|validating)\b(?! (?:is|was|are|were|has|can|may)\b)"
    r"|(?:Connection|Request|Query|Operation|Execution|Read|Statement|Command|Call|Task"
    r"|Tool)(?: \w+)? (?:refused|timed out|failed|aborted|was cancelled|was canceled)\b"
    r"|(?:Timeout|Timed out)\b(?! (?:is|was|set|of|=))|Rate limit(?:ed)? (?:exceeded|reached)\b"
    r"|(?:Access|Permission) denied\b"
    r"|Too many requests\b"
    r"|(?:Database|Service|Server|API|Host|The (?:database|service|server"
    r"|API)) (?:is )?(?:currently )?(?:temporarily )?(?:unavailable|down|unreachable|not available"
    r"|offline)\b"
    r"|Invalid (?:API key|credentials|token|query|SQL|argument|arguments|input|request|parameters?)\b"
    r"|(?:\[Errno \d+\]|Errno \d+)"
    r"|\[(?:ERROR|FAILED|error)\] \S)"
)
_FIGURE = re.compile(
    r"[^:\n]{0,60}(?:[Ee]rrors?|[Ff]ailed|[Ff]ailures?)\b[^:\n]{0,30}: ?-?[\d.,]+ ?%?"
    r"(?: (?:on|of|in|per|at) [^\n]{0,80})?\s*(?:\n|\Z)"
)
"""A count or a measure: `Errors: 4`, `Mean absolute error: 3.1`."""

_SUCCESS_TAIL = re.compile(r"\b(?:0 errors?|no errors?|without errors?|errors?: (?:0|none)\b)", re.IGNORECASE)
_DOCUMENT_FAILURE = re.compile(
    r"(?:\[Errno \d+\] |(?:FileNotFoundError|PermissionError|IsADirectoryError|ConnectionError"
    r"|TimeoutError|HTTPError)\b"
    r"|(?:Error|Failed|Unable|Could not|Cannot|Couldn't) (?:while |when |to )?(?:read(?:ing)?"
    r"|open(?:ing)?|load(?:ing)?|fetch(?:ing)?|search(?:ing)?|access(?:ing)?"
    r"|retriev(?:e|ing)|reach(?:ing)?|find(?:ing)?|connect(?:ing)?)\b.{0,200}"
    r"|(?:Search|Request|Fetch|Lookup|Query|Retrieval) (?:failed|timed out)\b.{0,200}"
    r"|(?:Error: )?(?:File|Document|Page|Path|URL|No such file)\b[^\n]{0,120}\b(?:not found"
    r"|does not exist|could not be (?:found|read|opened)|or directory)\b.{0,80})\Z",
    re.DOTALL,
)
_CELL_RULE = re.compile(r"^\s*(?:[|+]|[^|\n]*\|[^|\n]*\|)", re.MULTILINE)


def read_failure(text: str, giver: Giver, value: JsonValue = None) -> TextFailure | None:
    """The failure this result reports, None where it reports none.

    Args:
        text: the result as text.
        giver: what gave it.
        value: the decoded result where it was JSON.
    """
    whole = text.strip()
    if not whole:
        return None
    document = value if isinstance(value, dict | list) else _document(whole)
    if document is not None:
        return _of_document(document, giver)
    head, tail = whole[:MAX_CHARS], whole[-MAX_CHARS:]
    first = head.partition("\n")[0].strip()
    if _FRAMEWORKS.match(head):
        return TextFailure(KnownBy.ERROR_TEXT, first, _type_in(head))
    if giver is Giver.CONTENT:
        return _of_content(head, first)
    return (
        _by_exit_line(tail)
        or _by_traceback(tail, giver)
        or _by_tool(head, tail, first, giver)
        or _by_message(head, first, giver)
    )


def _document(text: str) -> JsonValue:
    if text[0] not in "{[" or len(text) > MAX_CHARS * 10:
        return None
    try:
        found: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _of_document(document: JsonValue, giver: Giver) -> TextFailure | None:
    found = read_structured(document)
    if found is not None:
        known = KnownBy.EXIT_STATUS if found.exit_status is not None else KnownBy.STRUCTURED_RESULT
        return TextFailure(known, found.quote, found.error_type, found.exit_status)
    if exit_status_of(document) == 0 or not isinstance(document, dict):
        return None
    inner = next(
        (document[name] for name in ("stderr", "result", "output", "text") if document.get(name)), None
    )
    # A wrapper with one text in it is that text.
    if isinstance(inner, str) and sum(bool(item) for item in document.values()) == 1:
        return read_failure(inner, giver)
    return None


def _of_content(head: str, first: str) -> TextFailure | None:
    """A tool that gives documents fails in few words, or not at all."""
    if "\n" in head.strip() or len(head) > 400:
        page = _ERROR_PAGE.match(head)
        return TextFailure(KnownBy.ERROR_TEXT, f"HTTP {page['status']}") if page else None
    http = _HTTP.match(head)
    if _DOCUMENT_FAILURE.match(head) or (http is not None and len(head) < 200):
        return TextFailure(KnownBy.ERROR_TEXT, first, _type_in(head))
    return None


def _by_exit_line(tail: str) -> TextFailure | None:
    """An exit status on a line of its own, first or last."""
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    for line in (lines[0], lines[-1]):
        found = _EXIT_LINE.match(line) if len(line) < 200 else None
        status = next((int(given) for given in found.groups() if given), 0) if found else 0
        if status:
            words = [each for each in lines if each is not line]
            return TextFailure(KnownBy.EXIT_STATUS, words[-1] if words else line, exit_status=status)
    return None


def _by_traceback(tail: str, giver: Giver) -> TextFailure | None:
    """A traceback at the end of the text."""
    _, mark, behind = tail.rpartition(_TRACEBACK)
    if not mark:
        return None
    raised = list(_LAST_RAISED.finditer(behind))
    if not raised:
        return None
    after = behind[raised[-1].end() :].strip()
    if len(after.splitlines()) > _MAX_LINES and giver is not Giver.PYTHON:
        return None
    line = behind[raised[-1].start() :].strip().partition("\n")[0]
    return TextFailure(KnownBy.ERROR_TEXT, line, _short(raised[-1]["type"]))


def _by_tool(head: str, tail: str, first: str, giver: Giver) -> TextFailure | None:
    if giver in (Giver.SQL, Giver.OTHER, Giver.PYTHON):
        bare = re.sub(r"\A(?:Error|ERROR|error|Query failed|SQL error)[: ]+\s*(?=\S)", "", head)
        if _DATABASES.match(head) or (bare != head and _DATABASES.match(bare)):
            return TextFailure(KnownBy.ERROR_TEXT, first, _type_in(head))
    if giver in (Giver.SHELL, Giver.JAVASCRIPT, Giver.OTHER):
        lines = [line.strip() for line in tail.splitlines() if line.strip()]
        last_words = lines[-1] if giver is Giver.SHELL else first
        for line in (first, last_words):
            if _SHELL.match(line) and (giver is Giver.SHELL or len(lines) <= _MAX_LINES):
                return TextFailure(KnownBy.ERROR_TEXT, line)
        if giver is Giver.SHELL and any(
            line.startswith(("npm ERR!", "npm error", "fatal: ")) for line in lines
        ):
            return TextFailure(
                KnownBy.ERROR_TEXT,
                next(x for x in lines if x.startswith(("npm ERR!", "npm error", "fatal: "))),
            )
    if giver in (Giver.JAVASCRIPT, Giver.SHELL, Giver.OTHER):
        thrown = _NODE.search(tail[-4_000:])
        name = re.search(r"(?m)^(?:Uncaught )?(\w*Error)(?: \[\w+\])?:", tail[-4_000:])
        if thrown is not None and name is not None:
            return TextFailure(KnownBy.ERROR_TEXT, tail[-4_000:][name.start() :].partition("\n")[0], name[1])
    return None


def _by_message(head: str, first: str, giver: Giver) -> TextFailure | None:
    """An error message that is the whole of a short text."""
    if len(head.splitlines()) > _MAX_LINES or _CELL_RULE.search(head) or _SUCCESS_TAIL.search(first):
        return None
    raised = _EXCEPTION_LINE.match(first) or _EXCEPTION_REPR.match(head)
    if raised is not None and (raised["message"] is None or raised["message"].strip()):
        return TextFailure(KnownBy.ERROR_TEXT, first, _short(raised["type"]))
    http = _HTTP.match(head)
    page = _ERROR_PAGE.match(head)
    if page is not None or (http is not None and giver is not Giver.SHELL):
        return TextFailure(KnownBy.ERROR_TEXT, first if page is None else f"HTTP {page['status']}")
    if giver is Giver.OTHER and head.startswith(("Error rate", "Error budget", "Error count")):
        return None
    if _PLAIN.match(head) and not _FIGURE.match(head):
        return TextFailure(KnownBy.ERROR_TEXT, first, _type_in(first))
    return None


def _type_in(text: str) -> str | None:
    found = re.search(_NAME, text[:2_000])
    return _short(found[0]) if found else None


def _short(name: str) -> str:
    return name.rpartition(".")[2]

"""The SQL scanner: what statements do, by their parsed meaning.

In: a source of one or more statements in any common dialect. Out: findings for statements and tables the
policy does not allow, schema and privilege changes, unbounded deletes, and functions that reach files,
programs or the network. Needs sqlglot; without it the pipeline denies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.policy import READ_VERBS
from spanproof.sandbox.scanners.boundary import Action, Boundary, Pieces, UseKind
from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.context import MAX_NESTING, Context
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pieces import find_place, normalise_pieces
from spanproof.sandbox.scanners.policy_lines import format_addition
from spanproof.sandbox.scanners.source import START, Place, Source
from spanproof.sandbox.scanners.sql_batches import evaluate_batch
from spanproof.sandbox.scanners.sql_commands import check_commands
from spanproof.sandbox.scanners.sql_connections import (
    MEMORY_FILE,
    Connection,
    Database,
    find_rule_for,
    is_held,
)
from spanproof.sandbox.scanners.sql_growth import check_recursion, check_series, get_function_name
from spanproof.sandbox.scanners.sql_own import NOTHING_OWN, Own
from spanproof.sandbox.scanners.sql_parser import (
    TooSlow,
    find_statements,
    find_tokens,
    list_nodes,
    parse_parts,
)
from spanproof.sandbox.words import split_words

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

_MAX_STATEMENTS: Final = 500
# Characters; the parser is pure Python and its trees are large.
_MAX_SOURCE: Final = 200_000

_WORDS: Final = read_sections("sql")["words"]
_OUTSIDE_FUNCTIONS: Final = split_entry(_WORDS, "outside")
_READING_FUNCTIONS: Final = split_entry(_WORDS, "reading")
_SPLITTING_FUNCTIONS: Final = split_entry(_WORDS, "splitting")
_WRITING_VERBS: Final = split_entry(_WORDS, "writing")
_SCHEMA_VERBS: Final = split_entry(_WORDS, "schema")
_SECRET_TABLES: Final = split_entry(_WORDS, "secret")
_TRANSACTION_VERBS: Final = split_entry(_WORDS, "transaction")
# Verbs that go with a statement, and make no other one of a text.
_UNCOUNTED_VERBS: Final = _TRANSACTION_VERBS | {"set", "use"}
_ALL_VERBS: Final = (
    READ_VERBS | _WRITING_VERBS | _SCHEMA_VERBS | _TRANSACTION_VERBS | {"grant", "revoke", "deny", "command"}
)

_TEXT_REACHES: Final = re.compile(
    r"(?i)\b(?:into\s++(?:outfile|dumpfile)|(?:from|to)\s++program\s*+(?:[en]?'|u&'|\$)|attach\s++(?:database\s++)?'"
    r"|load\s++data\b|create\s++(?:or\s++replace\s++)?(?:function|extension|server)\b"
    r"|install\s++\w+|load\s++'|xp_cmdshell|bulk\s++insert|vacuum\s++(?:\S{1,64}\s++)?into)"
)


# Strings and comments; what MySQL runs out of a comment (`/*! … */`) is none.
_COMMENT: Final = re.compile(
    r"'(?>(?:[^']|'')*)'|\"[^\"]*+\"|--[^\n]*+|/\*(?!!)(?>(?:[^*]|\*(?!/))*)(?:\*/)?", re.DOTALL
)


def _format_blank(found: re.Match[str]) -> str:
    """Return a string as it is, and blanks for a comment, so that places stay."""
    return found[0] if found[0][0] in "'\"" else " " * len(found[0])


# A comment whose content MySQL runs, from a version on.
_EXECUTED: Final = re.compile(r"/\*!\d{0,6}((?>(?:[^*]|\*(?!/))*))\*/")


def _format_comment(found: re.Match[str]) -> str:
    """Return the content of a comment that is run, with blanks around it, so that places stay."""
    return found[1].rjust(len(found[0]) - 2) + "  "


# In place of a part of a statement that is not known: an identifier, or a part of a literal.
_HOLE: Final = "__unknown__"

_LITERAL: Final = re.compile(r"'((?>(?:[^']|'')*))'|\"([^\"]*+)\"")
_CALLS_OUT: Final = re.compile(
    rf"(?i)\b(?:{'|'.join(sorted(_OUTSIDE_FUNCTIONS | _READING_FUNCTIONS))}|read_\w+|\w+_scan)\s*+\("
)
# What a statement holds that reaches out of its database, besides such functions.
_MAY_REACH_OUT: Final = re.compile(
    rf"(?i)[/~\\]|\.\.|{_HOLE}"
    r"|\b(?:attach|copy|export|import|install|load|secret|sniff_csv|load_aws_credentials)\b"
    r"|\binto\s++(?:outfile|dumpfile)\b|(?:^|;)\s*+(?:set|pragma|\.)"
)

# Verbs whose literals are opened, in the dialects that no parser here reads to their end.
_OPENS: Final = split_words("attach copy describe export from import load pivot summarize unpivot")

# Statements whose verb only reads, and which change settings all the same.
_SETTINGS: Final = re.compile(
    r"(?i)^(?:set\s+(?:global|persist|role|session authorization)\b|pragma\s+[\w.]+\s*=)"
)

# What the parser makes of them; to write every statement out again would double the time.
_SETTING_KEYS: Final = frozenset({"set", "pragma", "command"})


def scan(context: Context, source: Source) -> None:
    """Report what SQL statements would do beyond their boundary."""
    text = _EXECUTED.sub(_format_comment, source.text.replace("\0", " "))
    text = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
    unfolded = evaluate_batch(_COMMENT.sub(_format_blank, text)) if context.depth < MAX_NESTING else None
    if unfolded is not None:
        scan(context.build_nested(START, context.origin + "EXEC runs a statement: "), Source("sql", unfolded))
        return
    _check_text(context, Source("sql", text))
    if len(text) > _MAX_SOURCE:
        _record_unparsed(context, text)
        return
    tokens = find_tokens(text)
    try:
        statements = find_statements(text, tokens)
    except RecursionError:
        context.add("sql.too-deep", START, "nests deeper than can be judged")
        return
    except TooSlow:
        context.add("sql.too-complex", START, "takes longer to parse than its time")
        _check_unparsed(context, text)
        return
    if statements is None:
        _record_unparsed(context, text)
        return
    own = Own(_list_temporary_tables(statements))
    if not own.tables:
        _check_count(context, statements)
    places = _list_places(source, tokens if text == source.text else None, len(statements))
    for statement, place in list(zip(statements, places, strict=True))[:_MAX_STATEMENTS]:
        context.check_time()
        # A finding inside a statement gets the statement's place: the tree has no places.
        inner = replace(context, fixed_place=context.fixed_place or place)
        _check_statement(inner, source, statement, own)
        own = own.with_statement(statement, in_memory=_attaches_memory(statement))


def _check_count(context: Context, statements: Sequence[exp.Expr]) -> None:
    """Report several statements of which one may change something: a text put in may have added it."""
    verbs = [_get_verb(statement) for statement in statements]
    count = sum(verb not in _UNCOUNTED_VERBS for verb in verbs)
    only_reads = (READ_VERBS | _UNCOUNTED_VERBS).issuperset(verbs)
    if count > 1 and not only_reads and not any(map(_attaches_memory, statements)):
        context.add("sql.statement.several", START, f"holds {count} statements")


def check_sent_statement(context: Context, pieces: Pieces, connection: Connection) -> None:
    """Judge a statement, known as far as its pieces, that a program in another language sends."""
    text = "".join(_HOLE if piece is None else piece for piece in pieces)
    rule = find_rule_for(context, connection)
    if rule is not None:
        verbs = _ALL_VERBS if rule.verbs is None else rule.verbs
        policy = replace(context.boundary.policy, sql_verbs=verbs, sql_tables=rule.tables)
        context = replace(context, boundary=Boundary(policy))
    if not is_held(context, connection):
        _check_outside_reach(context, text)
        return
    if None in pieces:
        context.add("sql.query.dynamic", START, "is known only in part", Verdict.REVIEW)
    if text.replace(_HOLE, "").strip():
        scan(context, Source("sql", text))


def check_possible_statement(context: Context, pieces: Pieces) -> None:
    """Judge a text that reads as a statement and goes to a call that is not known, as one that it sends."""
    connection = Connection(Database.UNKNOWN)
    if pieces[0] is None or not _BEGINS.match(pieces[0]) or not is_held(context, connection):
        return
    text = "".join(_HOLE if piece is None else piece for piece in pieces)
    try:
        is_statement = len(text) > _MAX_SOURCE or find_statements(text) is not None
    except (RecursionError, TooSlow):
        is_statement = True
    if is_statement:
        check_sent_statement(context, pieces, connection)


# How a statement begins; prose begins with `Select`, if at all.
_BEGINS: Final = re.compile(
    r"\s*+(?>(?:--[^\n]*+\n\s*+|/\*(?>(?:[^*]|\*(?!/))*)\*/\s*+)*)"
    r"(?:(?!Select|With)(?i:select|with)\s(?=[^;]*?\s(?i:from)\s)|(?i:"
    r"(?:insert|replace|merge)\s++into\s|delete\s++from\s|update\s++\S++\s++set\s|(?:grant|revoke)\s++\S"
    r"|(?:drop|create|alter|truncate)\s++(?:or\s++replace\s++)?(?:table|database|schema|view|index|user|role"
    r"|function|trigger|procedure|sequence|type|extension)\s|copy\s++\S++\s++(?:from|to)\s"
    r"|truncate\s++[\w.\"]++\s*+;?\s*+\Z|attach\s++(?:database\s++)?['\"]))"
)


def _check_outside_reach(context: Context, text: str) -> None:
    """Judge only what reaches out of the database."""
    if not (_MAY_REACH_OUT.search(text) or _CALLS_OUT.search(text)):
        return
    source = Source("sql", text)
    _check_text(context, source)
    if len(text) > _MAX_SOURCE:
        context.add("sql.statement.unknown", START, "is longer than is parsed")
        return
    try:
        for part, statements in parse_parts(text):
            if statements is None:
                _check_literals(context, part)
            for statement in statements or ():
                _check_reach(context, source, list_nodes(statement))
    except RecursionError:
        context.add("sql.too-deep", START, "nests deeper than can be judged")
    except TooSlow:
        context.add("sql.too-complex", START, "takes longer to parse than its time")


def _check_literals(context: Context, part: str) -> None:
    """Judge a statement that the parser does not read to its end by its literals."""
    if _CALLS_OUT.search(part):
        context.add("sql.statement.unknown", START, "does not parse as SQL, and calls what reads files")
    opens = next(iter(part.split(maxsplit=1)), "").lower() in _OPENS
    for found in _LITERAL.finditer(part):
        literal = found[1] if found[1] is not None else found[2]
        crossing = find_place(context.boundary, _build_pieces(literal))
        if crossing is not None:
            context.handle_crossing("sql", crossing, START, "a statement")
        elif opens and _HOLE in literal:
            context.add("sql.file.dynamic", START, "a statement opens a path that is put together")


def _build_pieces(text: str) -> Pieces:
    """Return a part of a statement with what is not known in it."""
    return normalise_pieces([piece for part in text.split(_HOLE) for piece in (part, None)][:-1])


def _record_unparsed(context: Context, text: str) -> None:
    context.add("sql.statement.unknown", START, "does not parse as SQL")
    _check_unparsed(context, text)


def _check_unparsed(context: Context, text: str) -> None:
    """Judge a text no dialect reads by the verbs its parts begin with."""
    for part in text.split(";")[:_MAX_STATEMENTS]:
        verb = part.split(maxsplit=1)[0].lower() if part.strip() else ""
        if verb in _WRITING_VERBS and verb not in context.boundary.policy.sql_verbs:
            line = format_addition("sql_verbs", verb)
            message = f"the statement {verb.upper()} is not allowed"
            context.add("sql.statement.denied", START, message, policy_line=line)


def _list_places(source: Source, tokens: list[Token] | None, count: int) -> list[Place]:
    """Return the place of each statement, by its first and last token."""
    from sqlglot.tokenizer_core import TokenType

    tokens = find_tokens(source.text) or [] if tokens is None else tokens
    places: list[Place] = []
    first = None
    for index, token in enumerate(tokens):
        ends = token.token_type is TokenType.SEMICOLON
        if not ends and first is None:
            first = token
        if first is not None and (ends or index == len(tokens) - 1):
            places.append(source.place(first.start, tokens[index - 1].end + 1 if ends else token.end + 1))
            first = None
    return places if len(places) == count else [START] * count


def _check_statement(context: Context, source: Source, statement: exp.Expr, own: Own = NOTHING_OWN) -> None:
    from sqlglot import exp

    if own.holds_all(statement) or _attaches_memory(statement):
        nodes = list_nodes(statement)
        _check_tables(context, nodes, own)
        _check_reach(context, source, nodes)
        return
    verb = _get_verb(statement)
    policy = context.boundary.policy
    context.boundary.record_use(UseKind.STATEMENT, verb)
    if statement.key in _SETTING_KEYS and _SETTINGS.match(statement.sql()):
        context.add("sql.statement.privilege", START, "changes settings of the database")
    if not _is_allowed(context, statement, verb):
        line = format_addition("sql_verbs", verb)
        message = f"the statement {verb.upper()} is not allowed"
        context.add(_get_verb_rule(statement, verb), START, message, policy_line=line)
    if isinstance(statement, exp.Delete | exp.Update) and statement.args.get("where") is None:
        context.add("sql.statement.unbounded", START, f"{verb.upper()} without WHERE changes every row")
    # A writing statement may hide inside a CTE or a function's body.
    nodes = list_nodes(statement)
    writing = (exp.Insert, exp.Update, exp.Delete, exp.Drop, exp.Into)
    for inner in nodes[1:]:
        if isinstance(inner, writing) and _get_verb(inner) not in policy.sql_verbs:
            context.add(
                "sql.statement.denied",
                START,
                f"the statement {_get_verb(inner).upper()} inside another is not allowed",
            )
    _check_tables(context, nodes)
    _check_reach(context, source, nodes)
    _check_explained(context, source, statement)


def _is_allowed(context: Context, statement: exp.Expr, verb: str) -> bool:
    """Whether the policy names a statement's verb, or it changes only what the snippet makes itself."""
    match verb:
        case "create":
            is_own = _is_temporary(statement)
        case "copy":
            is_own = _writes_own_file(context, statement)
        case _:
            is_own = False
    return is_own or verb in _TRANSACTION_VERBS or verb in context.boundary.policy.sql_verbs


def _writes_own_file(context: Context, statement: exp.Expr) -> bool:
    """Whether `COPY … TO` writes to a file that a snippet may write, where the policy states no verbs."""
    from sqlglot import exp

    if context.boundary.policy.sql_verbs != READ_VERBS or not isinstance(statement, exp.Copy):
        return False
    files = [file.name for file in statement.args["files"] if isinstance(file, exp.Literal)]
    is_from = bool(statement.args.get("kind"))
    is_whole = len(files) == len(statement.args["files"]) and _HOLE not in "".join(files)
    inside = all(
        "://" not in file and context.boundary.evaluate_path(Action.WRITE, (file,)) is None for file in files
    )
    return not is_from and is_whole and inside


def _attaches_memory(statement: exp.Expr) -> bool:
    """Whether it adds an empty database in the program's own memory."""
    from sqlglot import exp

    return isinstance(statement, exp.Attach) and _list_file_names(statement) in ([MEMORY_FILE], [""])


_EXPLAIN: Final = re.compile(
    r"(?is)\s*+(?P<options>\([^()]*+\)|(?>(?:(?:analy[sz]e|verbose|query\s++plan|extended|formatted|codegen|cost|partitions"
    r"|(?:format|type)\s*+=?\s*+\w++)\b\s*+)*))(?P<rest>.*)"
)


def _check_explained(context: Context, source: Source, statement: exp.Expr) -> None:
    """Judge the statement that `EXPLAIN` names; with `ANALYZE` the database runs it."""
    if statement.key != "command" or _get_verb(statement) != "explain":
        return
    found = _EXPLAIN.match(statement.expression.name if statement.expression is not None else "")
    try:
        explained = find_statements(found["rest"]) if found is not None else None
    except (RecursionError, TooSlow):
        explained = None
    if found is None or explained is None or any(one.key == "command" for one in explained):
        context.add("sql.statement.unknown", START, "explains what does not parse as SQL")
        return
    for one in explained:
        if "analy" in found["options"].lower():
            _check_statement(context, source, one)
        else:
            nodes = list_nodes(one)
            _check_tables(context, nodes)
            _check_reach(context, source, nodes)


def _check_reach(context: Context, source: Source, nodes: list[exp.Expr]) -> None:
    """Judge what a statement, by its nodes of which it is the first, reaches out of the database."""
    from sqlglot import exp

    statement = nodes[0]
    check_recursion(context, nodes)
    check_series(context, nodes)
    _check_files(context, source, nodes)
    _check_functions(context, source, nodes)
    _check_attach(context, nodes)
    if not isinstance(statement, exp.Query | exp.DML | exp.Create | exp.Copy | exp.Attach):
        _check_literals(context, statement.sql())


def _get_verb(statement: exp.Expr) -> str:
    from sqlglot import exp

    if isinstance(statement, exp.Query) or _is_query_to_stdout(statement):
        return "select"
    if isinstance(statement, exp.Command):
        return str(statement.this).partition(" ")[0].lower()
    return _VERBS.get(statement.key, statement.key)


_VERBS: Final = {
    "altertable": "alter", "truncatetable": "truncate", "into": "insert", "summarize": "describe",
}  # fmt: skip


def _is_query_to_stdout(statement: exp.Expr) -> bool:
    """Whether it is `COPY (SELECT …) TO STDOUT`, which reads and gives the rows to the client."""
    from sqlglot import exp

    if not isinstance(statement, exp.Copy) or not isinstance(statement.this, exp.Subquery):
        return False
    targets = statement.args.get("files") or []
    return all(isinstance(one, exp.Identifier) and one.name.lower() == "stdout" for one in targets)


def _get_verb_rule(statement: exp.Expr, verb: str) -> str:
    if verb in _SCHEMA_VERBS:
        return "sql.statement.schema"
    if verb in {"grant", "revoke", "deny"} or re.search(
        r"(?i)\b(?:user|role|login|password)\b", str(statement)[:200]
    ):
        return "sql.statement.privilege"
    return "sql.statement.denied"


def _is_temporary(statement: exp.Expr) -> bool:
    from sqlglot import exp

    properties = statement.args.get("properties")
    temporary = properties is not None and any(
        isinstance(one, exp.TemporaryProperty) for one in properties.expressions
    )
    return temporary and str(statement.args.get("kind", "")).upper() in {"TABLE", "VIEW"}


def _list_temporary_tables(statements: list[exp.Expr]) -> frozenset[str]:
    """Return the temporary tables that a text makes, which are its own to change."""
    from sqlglot import exp

    made = [one.find(exp.Table) for one in statements if one.key == "create" and _is_temporary(one)]
    return frozenset(table.name.lower() for table in made if table is not None)


def _check_tables(context: Context, nodes: list[exp.Expr], own: Own = NOTHING_OWN) -> None:
    from sqlglot import exp

    allowed = context.boundary.policy.sql_tables
    ctes = {cte.alias.lower() for cte in nodes if isinstance(cte, exp.CTE)}
    for table in [node for node in nodes if isinstance(node, exp.Table)]:
        name = table.name.lower()
        if not name or _HOLE in name or name in ctes or own.holds(table):
            continue
        if allowed is None and _SECRET_TABLES & {name, f"{table.db}.{name}".lower()}:
            context.add("sql.table.secret", START, f"reads {name}, which holds passwords")
        if (
            allowed is not None
            and not _is_file(name)
            and name not in allowed
            and f"{table.db}.{name}".lower() not in allowed
        ):
            line = format_addition("sql_tables", name)
            message = f"the table {name} is not one the policy names"
            context.add("sql.table.unlisted", START, message, policy_line=line)


def _check_files(context: Context, source: Source, nodes: list[exp.Expr]) -> None:
    """Judge files that a statement reads like tables."""
    from sqlglot import exp

    for table in [node for node in nodes if isinstance(node, exp.Table)]:
        if _is_file(table.name.lower()) or (_HOLE in table.name and f"'{table.name}'" in source.text):
            _check_path(context, table.name)


def _is_file(name: str) -> bool:
    return "/" in name or name.endswith((".csv", ".parquet", ".json", ".tsv", ".xlsx"))


def _check_functions(context: Context, source: Source, nodes: list[exp.Expr]) -> None:
    from sqlglot import exp

    for function in [node for node in nodes if isinstance(node, exp.Func)]:
        name = get_function_name(function)
        if name in _READING_FUNCTIONS or isinstance(function, exp.ReadCSV):
            _check_reader_paths(context, function)
        elif name in _OUTSIDE_FUNCTIONS:
            context.add(
                "sql.function.outside",
                _get_name_place(source, name),
                f"the function {name} reaches out of the database",
            )
        elif (
            isinstance(function, exp.Anonymous)
            and isinstance(function.parent, exp.Table)
            and name not in _SPLITTING_FUNCTIONS
        ):
            _check_unknown_reader(context, function, name)


def _check_unknown_reader(context: Context, function: exp.Anonymous, name: str) -> None:
    """Judge what a table function gets that is not in the catalogue, where it is outside."""
    for literal in function.expressions:
        crossing = find_place(context.boundary, (literal.name,)) if literal.is_string else None
        if crossing is not None:
            message = f"{name}, which is not in the catalogue, gets a target outside: {crossing.message}"
            context.add("sql.call.unknown", START, message)


def _check_reader_paths(context: Context, function: exp.Func) -> None:
    """Judge what a table function reads: its first argument, or the items of the list that this is."""
    from sqlglot import exp

    first = function.this if isinstance(function.this, exp.Expression) else None
    first = first or next(iter(function.expressions), None)
    for one in first.expressions if isinstance(first, exp.Array) else [first]:
        if isinstance(one, exp.Literal) and one.is_string:
            _check_path(context, one.name)
        else:
            context.add("sql.file.dynamic", START, "a table function reads a path that is put together")


def _check_path(
    context: Context, text: str, action: Action = Action.READ, who: str = "a table function"
) -> None:
    file = _FILE_URI.match(text)
    pieces = _build_pieces(text if file is None else file[1])
    is_url = pieces[0] is not None and "://" in pieces[0]
    crossing = (
        context.boundary.evaluate_url(pieces) if is_url else context.boundary.evaluate_path(action, pieces)
    )
    context.handle_crossing("sql", crossing, START, who)


# A file of SQLite as a URI, without its options: `file:data.db?mode=ro`.
_FILE_URI: Final = re.compile(r"(?i)file:(?!//)([^?#]*+)")
# What `ATTACH` opens through an extension, such as `postgres:host=…`.
_SERVICE: Final = re.compile(r"(?!file:|sqlite:|duckdb:)\w{2,20}:(?!//)")


def _check_attach(context: Context, nodes: list[exp.Expr]) -> None:
    from sqlglot import exp

    for copy in [node for node in nodes if isinstance(node, exp.Copy | exp.Attach)]:
        for file in _list_file_names(copy):
            if _SERVICE.match(file):
                context.add("sql.function.outside", START, f"{copy.key.upper()} reaches out of the database")
            elif any(mark in file for mark in ("/", "~", _HOLE)):
                _check_path(context, file, Action.WRITE, copy.key.upper())


def _list_file_names(copy: exp.Expr) -> list[str]:
    """Return the files that a `COPY` or `ATTACH` names; a parameter that is bound later is a hole."""
    from sqlglot import exp

    parts = [copy]
    if isinstance(copy, exp.Copy) and isinstance(copy.this, exp.Subquery):
        # What the query that is copied compares is no file.
        parts = [one for one in copy.iter_expressions() if not isinstance(one, exp.Subquery)]
    names = [literal.name for part in parts for literal in part.find_all(exp.Literal) if literal.is_string]
    if isinstance(copy, exp.Attach):
        opened = copy.this.this if isinstance(copy.this, exp.Alias) else copy.this
        # SQLite takes a name in double quotes for the file.
        names += [name.name for name in opened.find_all(exp.Identifier) if name.quoted]
        names += [_HOLE] * isinstance(opened, exp.Placeholder | exp.Parameter)
    return names


# Quotes, escapes and comments that only some dialects have: where none is, all agree what is a string.
_OTHER_QUOTES: Final = re.compile(r"[\\`$#\[]|/\*")


# The file that a `VACUUM INTO` of a program's own connection writes.
_COPIED_FILE: Final = re.compile(r"\s*+'([^']*+)'\s*+(?:;|\Z)")


def _check_text(context: Context, source: Source) -> None:
    text = _COMMENT.sub(_format_blank, source.text)
    if not _OTHER_QUOTES.search(source.text):
        text = _LITERAL.sub(lambda found: found[0][0] + " " * (len(found[0]) - 2) + found[0][0], text)
    unblanked, source = source.text, Source("sql", text)
    check_commands(context, source, unblanked, _check_path)
    for found in _TEXT_REACHES.finditer(source.text):
        if unblanked.startswith((f"{MEMORY_FILE}'", "'"), found.end()) and found[0][:6].lower() == "attach":
            continue
        copied = _COPIED_FILE.match(unblanked, found.end()) if context.depth else None
        if copied is not None and found[0][:6].lower() == "vacuum":
            _check_path(context, copied[1], Action.WRITE, "VACUUM")
            continue
        clause = " ".join(found[0].split())[:60]
        if not clause.lower().startswith("attach") or context.depth == 0:
            context.add(
                "sql.function.outside", source.place(*found.span()), f"{clause} reaches out of the database"
            )


def _get_name_place(source: Source, name: str) -> Place:
    at = source.text.lower().find(name)
    return source.place(at, at + len(name)) if at >= 0 else START

"""Which language a piece of text is code in, if it is code at all.

Structure decides, never single words that prose uses too: each language has signs (regular expressions with a
weight), Python is parsed besides. What comes in is a text without its fences; what goes out is a language, or
None for prose, data in a sentence, and anything too short to tell. Nothing is run, nothing is downloaded.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
import warnings
from dataclasses import dataclass
from typing import Final

from spanproof.trace import Language

ENOUGH: Final = 3
"""Signs must weigh this much together before a text counts as code."""

_MAX_PARSED_CHARS: Final = 20_000
"""Parsing takes time in proportion; longer texts have signs enough."""

_LEAST_BEFORE_CUT: Final = 0.7
"""Share of the lines that must parse before a text counts as a program that was cut."""

_LEAST_BRACED: Final = 0.4
"""Share of lines with the C family's endings; comments and continued lines have none."""

_MAX_READ_CHARS: Final = 12_000
"""Signs are counted in the beginning of a text: what language it is shows there."""


@dataclass(frozen=True, slots=True)
class _Sign:
    pattern: re.Pattern[str]
    weight: int
    at_most: int = 3


def _sign(pattern: str, weight: int, at_most: int = 3, flags: int = re.MULTILINE) -> _Sign:
    return _Sign(re.compile(pattern, flags), weight, at_most)


_SIGNS: Final[dict[Language, tuple[_Sign, ...]]] = {
    Language.PYTHON: (
        _sign(r"^[ \t]*(?:async )?def \w+\(.*\)?.*:?[ \t]*(?:#.*)?$", 3),
        _sign(r"^[ \t]*class \w+(?:\(.*\))?:", 3),
        _sign(r"^[ \t]*(?:from [\w.]+ import [\w*(]|import [\w.]+(?: as \w+)?(?:, ?[\w.]+)*[ \t]*(?:#.*)?$)", 3),
        _sign(r"^[ \t]*(?:if|elif|for|while|with|except|match) .{1,120}:[ \t]*(?:#.*)?$", 2),
        _sign(r"^[ \t]*(?:try|else|finally|except):[ \t]*(?:#.*)?$", 2),
        _sign(r"\bprint\(", 1),
        _sign(r"\bself\.\w+|\blambda \w+(?:, ?\w+)*:|\b__\w+__\b", 1),
        _sign(r"\bf['\"][^'\"\n]*\{", 1),
        _sign(r"\bfor \w+(?:, ?\w+)* in [\w.\[({]", 1),
        _sign(r"^[ \t]*@\w[\w.]*(?:\(.*\))?[ \t]*$", 1),
    ),
    Language.JAVASCRIPT: (
        _sign(r"^[ \t]*(?:export )?(?:const|let|var) [\w{\[$].{0,200}?=", 3),
        _sign(r"\bfunction\b ?\*? ?\w*\([^)\n]*\) ?\{?", 3),
        _sign(r"(?:\)|\b\w+) ?=> ?[\w{(\[`'\"]", 2),
        _sign(r"\bconsole\.(?:log|error|warn)\(", 3),
        _sign(r"[=!]==(?!=)", 2),
        _sign(r"\brequire\(['\"]|\bmodule\.exports\b|^[ \t]*import .{1,120} from ['\"]", 3),
        _sign(r"^[ \t]*export (?:default|async|function|class|const)\b", 3),
        _sign(r"\b(?:document|window|process|Math|JSON|Object|Array|Promise)\.\w+", 1),
        _sign(r"\b(?:await|async|new|typeof) [\w(]+\(", 1),
        _sign(r"^[ \t]*(?:return|if|for|while|else|throw)\b.*[;{][ \t]*$", 1),
    ),
    Language.TYPESCRIPT: (
        _sign(r"[\w?)] ?: ?(?:string|number|boolean|any|void|unknown|never|Array<|Promise<|Record<|Map<)", 3),
        _sign(r"^[ \t]*(?:export )?(?:interface|enum) \w+(?:<[^>\n]*>)?(?: extends [\w, <>]+)? ?\{", 4),
        _sign(r"^[ \t]*(?:export )?type \w+(?:<[^>\n]*>)? = ", 4),
        _sign(r"^[ \t]*import type\b", 4),
        _sign(r"\bas (?:const|string|number|any|unknown)\b", 3),
    ),
    Language.BASH: (
        _sign(r"\A#!.*\b(?:ba|z|da|k)?sh\b", 6),
        _sign(r"^[ \t]*(?:if|while|until) \[\[? .+\]", 3),
        _sign(r"(?:^|;)[ \t]*(?:then|fi|done|esac)[ \t]*(?:;|$|#|\|)", 2),
        _sign(r"^[ \t]*for \w+ in .+; ?do\b|^[ \t]*do[ \t]*$", 3),
        _sign(r"\$\(\w[^)\n]*\)|\$\{\w+[^}\n]*\}", 1),
        _sign(r"(?:&&|\|\||\|) ?(?:sudo )?(?:grep|awk|sed|sort|head|tail|wc|xargs|tee|jq|cut|sh|bash|cd|echo|exit|rm)\b", 2),
        _sign(r"(?:\d?>{1,2} ?(?:/dev/null|&\d|[\w./~-]+)|<<-? ?['\"]?EOF)", 1),
        _sign(r"^[ \t]*export \w+=|^[ \t]*(?:local|readonly|declare) \w+=", 3),
        _sign(r"^[ \t]*set -[euxo]+\b", 4),
        _sign(r"^[ \t]*\w+ ?\(\)[ \t]*(?:\{[ \t]*|\n[ \t]*\{[ \t]*)$|\"\$[@*]\"|\$[?#@]|;;[ \t]*$", 2),
        _sign(r"^[ \t]*\w+=(?:\"[^\"\n]*\"|'[^'\n]*'|[\w$/.-]*)[ \t]*$", 1),
        _sign(r"\[ (?:-[a-z]|!|\"?\$)[^\]\n]* \]|\"\$\{?\w+\}?\"|^[ \t]*\w+ \$\w+", 1),
    ),
    Language.SQL: (
        _sign(
            r"^[ \t(]*(?:EXPLAIN\s+)?(?:SELECT|select)\s+(?:DISTINCT\s+|distinct\s+|TOP\s+\d+\s+)?"
            r"[\w.*,()'\"`\[\]{}\s+\-/|:%=<>!]{1,1500}?\s(?:FROM|from)\s+[\w.\"`\[(]+",
            3,
        ),
        _sign(r"^[ \t]*(?:WITH|with)\s+(?:RECURSIVE\s+)?\w+\s*(?:\([^)]*\)\s*)?(?:AS|as)\s*\(", 4),
        _sign(r"^[ \t]*(?:INSERT\s+INTO|insert\s+into)\s+[\w.\"`\[\]]+\s*(?:\(|VALUES|SELECT|values|select)", 4),
        _sign(r"^[ \t]*(?:UPDATE|update)\s+[\w.\"`\[\]]+\s+(?:\w+\s+)?(?:SET|set)\s+[\w.\"`\[\]]+\s*=", 4),
        _sign(r"^[ \t]*(?:DELETE\s+FROM|delete\s+from)\s+[\w.\"`\[\]]+\s*(?:WHERE|where|;|$)", 4),
        _sign(
            r"^[ \t]*(?:CREATE|ALTER|DROP|TRUNCATE|create|alter|drop|truncate)\s+(?:OR REPLACE\s+|TEMP(?:ORARY)?\s+)?"
            r"(?:TABLE|VIEW|INDEX|DATABASE|SCHEMA|table|view|index|database|schema)\s+[\w.\"`\[]+",
            4,
        ),
        _sign(
            r"^[ \t]*(?:CREATE|ALTER|DROP|COMMENT ON|GRANT|REVOKE)\s+(?:OR REPLACE\s+|UNIQUE\s+|MATERIALIZED\s+)?(?:FUNCTION"
            r"|OPERATOR|TRIGGER|TYPE|EXTENSION|SEQUENCE|ROLE|USER|TEXT SEARCH|INDEX|VIEW|PROCEDURE|ALL|SELECT|AGGREGATE)\b",
            4,
        ),
        _sign(r"^[ \t]*(?:FROM|WHERE|UNION ALL|VALUES|RETURNING|ON CONFLICT|CASE WHEN|SELECT)(?: |$)", 1),
        _sign(r"\b(?:GROUP|ORDER)\s+BY\b|\b(?:LEFT|RIGHT|INNER|OUTER|CROSS)\s+JOIN\b|\bHAVING\b", 1),
        _sign(r"\b(?:group|order)\s+by\s+[\w.]+(?:\s*,|\s+(?:asc|desc)|\s*;|\s*$|\s+limit)", 1),
        _sign(r"\bJOIN\s+[\w.\"`]+(?:\s+(?:AS\s+)?\w+)?\s+ON\b|\bWHERE\s+[\w.\"`]+\s*(?:=|<|>|!=|IN|LIKE|IS|BETWEEN)", 1),
    ),
    Language.HTML: (
        _sign(r"<!DOCTYPE html|<html[\s>]", 6, flags=re.IGNORECASE),
        _sign(
            r"<(?:div|span|p|a|ul|li|ol|table|tr|td|th|body|head|script|style|form|input|button|h[1-6]|img|section"
            r"|nav|header|footer|main|label|select|option)(?:\s[\w-]+(?:=(?:\"[^\"\n]*\"|'[^'\n]*'))?)*\s*/?>",
            1,
            at_most=4,
        ),
        _sign(r"</(?:div|span|p|a|ul|ol|table|body|head|script|style|form|button|h[1-6]|section)>", 1, at_most=4),
    ),
    Language.OTHER: (
        _sign(r"^[ \t]*#[ \t]*(?:ifn?def|endif|define|undef|pragma|if defined|elif|else)\b", 2),
        _sign(r"\b(?:u?int(?:8|16|32|64)_t|size_t|virtual|typedef|struct \w+ ?\{|template ?<)\b", 2),
        _sign(r"^[ \t]*#[ \t]*include ?[<\"]|\busing namespace \w+;|\bstd::\w+|\bint main\(", 4),
        _sign(r"^[ \t]*(?:public|private|protected)\s+(?:static\s+|final\s+|abstract\s+)*[\w<>\[\], ]+[({]", 4),
        _sign(r"\bSystem\.out\.|^[ \t]*import java[.x]|^[ \t]*package [\w.]+;?[ \t]*$", 4),
        _sign(r"^[ \t]*func (?:\([^)\n]*\) )?\w+(?:\[[^\]\n]*\])?\(.*\{[ \t]*$|\bfmt\.\w+\(", 5),
        _sign(r"^[ \t]*(?:pub )?(?:async )?fn \w+(?:<[^>\n]*>)? ?\(|\blet mut \w|\bprintln!\(|^[ \t]*impl\b.*\{", 5),
        _sign(r"^[ \t]*use [\w:]+(?:::[\w{*].*)?;", 4),
        _sign(r"<\?php|\$\w+ ?= ?.+;|\$\w+->\w+", 4),
        _sign(r"^[ \t]*(?:unsigned |const )?(?:int|long|float|double|char|bool|void|string|auto|vector<\w+>)[ \t]+[\w*&]+ ?[=(;\[]", 3),
        _sign(r"^[ \t]*\w+ := .+|^[ \t]*using \w+(?:\.\w+)*;|^[ \t]*namespace \w+", 3),
        _sign(r"^[ \t]*(?:fun|val|override fun|data class) \w+|^[ \t]*puts |^[ \t]*end[ \t]*$|\w+ <- (?:function\(|c\()", 2),
        _sign(r"^FROM [\w./:-]+(?: AS \w+)?$|^(?:RUN|COPY|ENTRYPOINT|CMD|WORKDIR) [\w\[./]", 3),
        _sign(r"^<\?xml |^[ \t]*<(\w+:)?\w+ xmlns", 4),
        _sign(r"^(?:diff --git |@@ -\d+,\d+ \+\d+)", 4),
        _sign(r"^[ \t]*[.#]?[\w-]+ ?\{[ \t]*\n[ \t]*[\w-]+: ?[^;\n]+;", 4),
    ),
}

_COMMAND: Final = re.compile(
    r"^[ \t]*(?:\$ )?(?:sudo )?(?:ls|cd|cat|grep|echo|curl|wget|git|pip3?|python3?|apt(?:-get)?|docker|kubectl"
    r"|chmod|chown|rm|mkdir|rmdir|cp|mv|find|sed|awk|tar|ssh|scp|npm|npx|yarn|node|make|touch|head|tail|sort|wc"
    r"|ps|kill|df|du|unzip|zip|source|bash|sh|conda|brew|systemctl|service|which|whoami|uname|env|printf|nc"
    r"|ping|dig|openssl|base64|xargs|jq|psql|mysql|sqlite3|uv|pytest|go|cargo)"
    r"(?P<rest>(?:[ \t]+\S.*)?)$",
    re.MULTILINE,
)
"""A line that begins as a shell command; prose begins so too ("find the …"), so the rest decides."""

_ARGUMENT: Final = re.compile(
    r"(?:^|\s)(?:--?\w[\w-]*|~?/?[\w.-]*/[\w./*-]*|\*?\.\w{1,5}\b|\$\w+|\"[^\"]*\"|'[^']*'|[\w.-]+\.(?:py|sh|txt|csv"
    r"|json|ya?ml|md|log|js|tar|gz|zip|db|git)\b|[|>&;])(?:\s|$|\W)"
)
"""What commands take and sentences do not: options, paths, globs, variables, quoted words, files, pipes."""

_BARE_COMMANDS: Final = frozenset({"ls", "pwd", "whoami", "env", "ps", "df", "uname"})
_SUBCOMMAND: Final = re.compile(
    r"^\s+(?:install|run|commit|push|pull|clone|status|add|checkout|build|test|init|start|exec|get|apply|ps|update"
    r"|upgrade|restart|stop|enable)\b"
)
_TAKES_SUBCOMMANDS: Final = re.compile(r"(?:git|pip3?|npm|npx|yarn|docker|kubectl|apt(?:-get)?|conda|brew|uv|cargo|systemctl|go)\b")

_SENTENCE: Final = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])?[ \t]*[\"'(]?(?![A-Z]{2,}\b)[A-Z][\w'’,-]*(?: [\w'’,;:()\"%$-]+){3,}", re.MULTILINE)
"""A line of four words and more that begins with a capital: prose, unless it is a comment or SQL."""

_YAML_LINE: Final = re.compile(
    r"[ ]*(?:- )*(?:[\w./=<>-]+:(?:[ ]+\S.*)?|- \S.*|#.*|[&*]\w+|[\"'][^\"']+[\"']:(?: .*)?)?[ ]*"
)
_YAML_BLOCK: Final = re.compile(r"^([ ]*)[^\s#].*:[ ]*[|>][-+]?[ ]*\n(?:(?:\1[ ]+.*)?(?:\n|\Z))+", re.MULTILINE)
"""A text of several lines under a key: it may say anything."""

_YAML_NESTED: Final = re.compile(r"^([ ]*)(?:- )?[\w./-]+:[ ]*\n\1(?:[ ]+|- )[\w\"'-]", re.MULTILINE)
_SNAKE_KEY: Final = re.compile(r"^[ ]*(?:- )?[a-z][\w./-]*:(?: |$)", re.MULTILINE)


def identify(source: str, least: int = ENOUGH) -> Language | None:
    """The language this text is code in; None where it is not plainly code.

    Args:
        source: a text without its fences.
        least: how much the signs must weigh; less where something else says already that it is code.
    """
    source = source[:_MAX_READ_CHARS] if len(source) > _MAX_READ_CHARS else source
    stripped = source.strip()
    if not stripped:
        return None
    if stripped[0] in "{[" and is_structured_json(stripped):
        return Language.JSON
    weights = {language: _weight(signs, source) for language, signs in _SIGNS.items()}
    weights[Language.BASH] += _commands(source)
    weights[Language.PYTHON] += python_weight(source)
    weights[Language.OTHER] += _braced_weight(source)
    _settle(weights)
    best = max(weights, key=lambda language: weights[language])
    if weights[best] < least + 2 * len(_SENTENCE.findall(_without_comments(source))):
        return Language.YAML if is_yaml(stripped) else None
    return best


def is_structured_json(text: str) -> bool:
    """Whether the text is a JSON document with structure: nested, or written over several lines.

    A flat object on one line is how tools are called and what they answer; as a document it says nothing.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(item, dict | list) and item for item in items) or (bool(items) and "\n" in text)


def is_yaml(text: str) -> bool:
    """Whether the text is a YAML document: every line in its form, lower-case keys, something nested."""
    text = _YAML_BLOCK.sub(r"\1block: text\n", text)
    lines = [line for line in text.splitlines() if line.strip() and line.strip() != "---"]
    if len(lines) < 2 or not all(_YAML_LINE.fullmatch(line) for line in lines):
        return False
    return len(_SNAKE_KEY.findall(text)) >= 2 and (_YAML_NESTED.search(text) is not None or "block: text\n" in text)


def _weight(signs: tuple[_Sign, ...], source: str) -> int:
    total = 0
    for sign in signs:
        found = 0
        for _ in sign.pattern.finditer(source):
            found += 1
            if found == sign.at_most:
                break
        total += sign.weight * found
    return total


def _commands(source: str) -> int:
    weight = 0
    for line in _COMMAND.finditer(source):
        whole, rest = line[0].strip().removeprefix("$ ").removeprefix("sudo "), line["rest"]
        if rest.rstrip().endswith((".", "?", "!", ":", ",")) and not rest.rstrip().endswith(("/.", " .")):
            continue
        is_call = whole in _BARE_COMMANDS or _ARGUMENT.search(rest) is not None
        if is_call or (_TAKES_SUBCOMMANDS.match(whole) and _SUBCOMMAND.match(rest)):
            weight += 3
        if weight >= 9:
            break
    return weight


def python_weight(source: str) -> int:
    """What it says for Python that the text parses: nothing where a word, a sum or a list of values parses too."""
    if len(source) > _MAX_PARSED_CHARS:
        return 0
    source = textwrap.dedent(source).strip()
    tree = _parsed(source)
    if tree is None:
        return 0
    weight = sums = 0
    for statement in tree.body:
        said = _statement_weight(statement, source)
        sums += said == 1
        weight += said if said > 1 else 0
        if weight >= 2 * ENOUGH:
            break
    return weight + min(sums, ENOUGH - 1)


def _parsed(source: str) -> ast.Module | None:
    """The syntax tree; of a program that was cut, of what stands before the cut."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            return ast.parse(source)
        except SyntaxError as broken:
            lines = source.splitlines()
            whole = (broken.lineno or 1) - 1
            if whole < _LEAST_BEFORE_CUT * len(lines) or whole < 2:
                return None
        except (ValueError, MemoryError, RecursionError):
            return None
        try:
            return ast.parse("\n".join(lines[:whole]))
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None


def _braced_weight(source: str) -> int:
    """What lines that end in semicolons and braces say: code of the C family, whatever the language."""
    lines = [line for line in source.splitlines() if line.strip()]
    ended = [line for line in lines if line.rstrip().endswith((";", "{", "}"))]
    # Lists in contracts end their lines in semicolons too, without a brace or an assignment anywhere.
    is_code = any(mark in line for line in ended for mark in "{}=")
    return ENOUGH if is_code and len(ended) >= 2 and len(ended) >= _LEAST_BRACED * len(lines) else 0


def _statement_weight(statement: ast.stmt, source: str) -> int:
    """3 for a statement that only code has, 1 for what a formula may be too, 0 for words."""
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return):
        return 3 if _does_something(statement.value, source) else 1
    if not isinstance(statement, ast.Expr):
        return 3
    if isinstance(statement.value, ast.Constant | ast.Name | ast.UnaryOp | ast.Tuple | ast.List | ast.Dict | ast.Set):
        # Values by themselves are what code printed, not code.
        return 0
    return 3 if _does_something(statement.value, source) else 1


def _does_something(value: ast.expr | None, source: str) -> bool:
    """Whether an expression calls, indexes or builds something, beyond arithmetic."""
    for node in ast.walk(value) if value is not None else ():
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Constant):
            if not _is_word_before_bracket(node, source):
                return True
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            return True
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Compare | ast.BoolOp):
            return True
        elif isinstance(node, ast.List | ast.Dict | ast.Await | ast.ListComp | ast.DictComp | ast.JoinedStr):
            return True
    return False


def _is_word_before_bracket(call: ast.Call, source: str) -> bool:
    """Whether a call is rather a word with a remark in brackets, as in `Total (net)`."""
    if isinstance(call.func, ast.Name | ast.Attribute) and call.func.end_lineno is not None:
        line = source.splitlines()[call.func.end_lineno - 1].encode()
        end = call.func.end_col_offset or 0
        return line[end : end + 1] == b" "
    return True


def _settle(weights: dict[Language, int]) -> None:
    """Where languages share signs, the one with the particular ones has them all."""
    if weights[Language.OTHER] >= ENOUGH + 1 and weights[Language.TYPESCRIPT] < ENOUGH:
        weights[Language.OTHER] += weights[Language.JAVASCRIPT]
    elif weights[Language.JAVASCRIPT] >= 2 or weights[Language.TYPESCRIPT] >= 2:
        weights[Language.JAVASCRIPT] += weights.pop(Language.OTHER)
        if weights[Language.TYPESCRIPT] >= ENOUGH:
            weights[Language.TYPESCRIPT] += weights[Language.JAVASCRIPT]
    if weights[Language.HTML] >= 2 * ENOUGH:
        weights[Language.HTML] += weights[Language.JAVASCRIPT]
    if weights[Language.SQL] >= ENOUGH and weights[Language.PYTHON] >= ENOUGH:
        # Python that holds a query: the query's signs are a string's.
        weights[Language.PYTHON] += weights[Language.SQL]


_COMMENT: Final = re.compile(
    r"/\*.*?\*/|//.*$|^[ \t]*#.*$|\"\"\".*?\"\"\"|'''.*?'''|^[ \t]*--.*$|<!--.*?-->", re.MULTILINE | re.DOTALL
)


def _without_comments(source: str) -> str:
    return _COMMENT.sub("", source)

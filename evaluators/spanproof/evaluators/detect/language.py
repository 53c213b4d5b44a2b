"""Which language a piece of text is code in, if it is code at all.

Structure decides, never single words that prose uses too: each language has signs (regular expressions with a
weight), Python is parsed besides. Where both leave it open, a small trained model may say. What comes in is a
text without its fences; what goes out is a language, or None for prose, data in a sentence, and anything too
short to identify. Nothing is run, nothing is downloaded.
"""

from __future__ import annotations

import json
import re
from typing import Final

from spanproof.evaluators.detect.learned import classify_by_model
from spanproof.evaluators.detect.python_syntax import compute_python_weight
from spanproof.evaluators.detect.signs import SIGNS, compute_sign_weight
from spanproof.evaluators.detect.unscanned import classify_unscanned
from spanproof.trace import Language

ENOUGH: Final = 3
"""Signs must weigh this much together before a text counts as code."""

# Share of lines with the C family's endings; comments and continued lines have none.
_LEAST_BRACED: Final = 0.4

_CALLEE: Final = frozenset(("name", "tool", "tool_name", "action"))
# Keys of a tool call: what is called, and what it is given.
_GIVEN: Final = frozenset(
    ("arguments", "args", "kwargs", "input", "parameters", "action_input", "tool_input", "tool_args")
)

# A call or an assignment that ends in a semicolon.
_STATEMENT: Final = re.compile(
    r"[ \t]*(?:await |return |throw )?[\w$][\w$.\[\]'\"]*"
    r"(?:\([^;]*\)|[ ]?(?:[-+*/.|&]|::|\?\?)?=[ ]?[^=;][^;]*|\+\+);[ \t]*$"
)

# Signs are counted in the beginning of a text: what language it is shows there.
_MAX_READ_CHARS: Final = 12_000


# A line that begins as a shell command; prose begins so too ("find the …"), so the rest decides.
_COMMAND: Final = re.compile(
    r"^[ \t]*(?:[$%] |(?:\([\w.-]+\) ?)?\[?[\w.-]+@[\w.-]+[: ][^\s$#]{0,80}[$#] )?(?:sudo )?"
    r"(?P<whole>(?:ls|cd|cat|grep|echo|curl|wget|git|pip3?|python3?|apt(?:-get)?|docker"
    r"|kubectl|chmod|chown|rm|mkdir|rmdir|cp|mv|find|sed|awk|tar|ssh|scp|npm|npx|yarn|node|make|touch|head|tail|sort|wc"
    r"|ps|kill|df|du|unzip|zip|source|bash|sh|conda|brew|systemctl|service|which|whoami|uname|env|printf|nc"
    r"|ping|dig|openssl|base64|xargs|jq|psql|mysql|sqlite3|uv|pytest|go|cargo|rsync|ffmpeg|terraform|helm|aws|gcloud"
    r"|pnpm|bun|deno|cmake|gcc|g\+\+|clang|javac|mvn|gradle|poetry|pipx|gzip|gunzip|ln|chgrp|nohup|crontab|journalctl"
    r"|dnf|yum|apk|pacman|nmap|netstat|ss|iptables|redis-cli|sha256sum|md5sum|duckdb|ansible(?:-playbook)?|ssh-keygen"
    r"|adduser|useradd|usermod|groupadd)"
    r"(?P<rest>(?:[ \t]+\S.*)?))$",
    re.MULTILINE,
)

# What commands take and sentences do not: options, paths, globs, variables, quoted words, files, pipes.
_ARGUMENT: Final = re.compile(
    r"(?:^|\s)(?:--?\w[\w-]*|~?/?[\w.-]*/[\w./*-]*|\*?\.\w{1,5}\b|\$\w+|\"[^\"]*\"|'[^']*'|[\w.-]+\.(?:py|sh|txt"
    r"|csv|json|ya?ml|md|log|js|tar|gz|zip|db|git)\b|[|>&;]|<<)(?:\s|$|\W)"
)

_BARE_COMMANDS: Final = frozenset({"ls", "pwd", "whoami", "env", "ps", "df", "uname"})
_SUBCOMMAND: Final = re.compile(
    r"^\s+(?:install|run|commit|push|pull|clone|status|add|checkout|build|test|init|start|exec|get|apply|ps|update"
    r"|upgrade|restart|stop|enable|disable|is-active|is-enabled|daemon-reload|logs)\b"
)
_TAKES_SUBCOMMANDS: Final = re.compile(
    r"(?:git|pip3?|npm|npx|yarn|docker|kubectl|apt(?:-get)?|conda|brew|uv|cargo|systemctl|go)\b"
)

# A line of four words and more that begins with a capital: prose, unless it is a comment or SQL.
_SENTENCE: Final = re.compile(
    r"^[ \t]*(?:[-*•]|\d+[.)])?[ \t]*[\"'(]?(?![A-Z]{2,}\b)[A-Z][\w'’,-]*(?: [\w'’,;:()\"%$-]+){3,}",
    re.MULTILINE,
)

# Six words and more without a sign between them; those that follow a quotation mark are a string's.
_WORDS_IN_A_ROW: Final = re.compile(r"[\"'`](?:[A-Za-z][a-z]*,? ){4,}|(?P<words>(?:\b[A-Za-z][a-z]+,? ){6,})")

# Comments and docstrings of all languages: their content reads as prose.
_COMMENT: Final = re.compile(
    r"/\*.*?(?:\*/|\Z)|(?<!:)//[^\n]*|^[ \t]*(?:#|--)[^\n]*|<!--.*?-->"
    r"|\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)",
    re.MULTILINE | re.DOTALL,
)

_BLOCK_COMMENT: Final = re.compile(r"^[ \t]*/\*.*?(?:\*/|\Z)", re.MULTILINE | re.DOTALL)

# A rule of make, and what else only a makefile has: variables of a recipe, targets that are no files.
_MAKE_RULE: Final = re.compile(r"^[\w.%/-]+ ?:(?![=:])[^=\n]*\n\t\S", re.MULTILINE)
_MAKE_SIGN: Final = re.compile(r"^\.PHONY ?:|^\t.*\$(?:[@<^*]|\([A-Z_]+\))", re.MULTILINE)

# Lines without a word: pictures made of signs.
_WORD: Final = re.compile(r"[^\W_]{2}")
_FEWEST_PICTURE_LINES: Final = 3

# What a shell feeds to a command: it may be a program of any language.
_HEREDOC: Final = re.compile(
    r"^[^\n#]*<<-?[ ]?['\"]?(\w+)['\"]?[^\n]*\n(?:.*\n)?[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL
)

# No table is named by an article: a sentence with the words of SQL in capitals.
_FROM_ARTICLE: Final = re.compile(r"(?i)\bfrom\s+(?:the|an?|my|your|our|this|these)\s+[a-z]")

# A file of settings (`.env`): names in capitals and plain values, comments between them.
_SETTINGS: Final = re.compile(
    r"(?:(?:[A-Z][A-Z0-9_]*=(?:\"[^\"\n$`]*\"|'[^'\n]*'|[^\s\"'`$();|&]*)|#.*|[ \t]*)(?:\n|\Z))+"
)

# Settings in sections, as of ini and systemd: a name in brackets, and names with plain values below it.
_SECTION: Final = re.compile(r"^\[[A-Za-z][\w .:/@\"-]*\]$", re.MULTILINE)
_SECTIONS: Final = re.compile(
    r"(?:(?:\[[A-Za-z][\w .:/@\"-]*\]|[\w.@-]+[ \t]*=(?:[ \t]*[^\s({\[\"'].*)?|[#;].*|[ \t]*)(?:\n|\Z))+"
)

_YAML_LINE: Final = re.compile(
    r"[ ]*(?:- )*(?:[\w./=<>-]+:(?:[ ]+\S.*)?|- \S.*|#.*|[&*]\w+|[\"'][^\"']+[\"']:(?: .*)?)?[ ]*"
)
# A text of several lines under a key: it may say anything.
_YAML_BLOCK: Final = re.compile(
    r"^([ ]*)[^\s#].*:[ ]*[|>][-+]?[ ]*\n(?:(?:\1[ ]+.*)?(?:\n|\Z))+", re.MULTILINE
)

_YAML_NESTED: Final = re.compile(
    r"^([ ]*)(?:- )?[\w./-]+:(?:[ ]+[&!][\w/-]+)?[ ]*\n\1(?:[ ]+|- )[\w\"'<&*-]", re.MULTILINE
)
_SNAKE_KEY: Final = re.compile(r"^[ ]*(?:- )?[a-z][\w./-]*:(?: |$)", re.MULTILINE)


# How far a language must be ahead in the model to be taken: of snippets cut from sources that it was not
# trained on, it is right about 85 in 100 just beyond this lead, and about 95 in 100 beyond twice as much.
_PLAIN_LEAD: Final = 15.0

# A lead beyond which the model alone may say that lines without a sentence among them are code.
_SURE_LEAD: Final = 30.0

# A lead of this size weighs as much as one point of signs.
_VOTE: Final = 10.0

_MOST_VOTES: Final = 8

# Languages that share their braces and calls; these parse as Python too: `console.log(1)` is both.
_FAMILY: Final = (Language.JAVASCRIPT, Language.TYPESCRIPT, Language.OTHER)


def find_language(source: str, least: int = ENOUGH) -> Language | None:
    """Return the language this text is code in; None where it is not plainly code.

    Args:
        source: a text without its fences.
        least: how much the signs must weigh; less where something else says already that it is code.
    """
    if len(source) > _MAX_READ_CHARS:
        source = source[:_MAX_READ_CHARS]
    else:
        source = source
    found = _find_structured_language(source, least)
    if found is Language.OTHER:
        return classify_unscanned(source)
    return found


def _find_structured_language(source: str, least: int) -> Language | None:
    stripped = source.strip()
    if not stripped:
        return None
    if stripped[0] in "{[" and is_structured_json(stripped):
        return Language.JSON
    if is_yaml(stripped):
        return Language.YAML
    if is_settings(stripped) or _is_picture(stripped):
        return None
    if _MAKE_RULE.search(stripped) and _MAKE_SIGN.search(stripped):
        return Language.OTHER
    weights = _compute_weights(source)
    if weights[Language.BASH] and "<<" in source and _HEREDOC.search(source):
        return Language.BASH
    return _find_heaviest_language(source, weights, least)


def _compute_weights(source: str) -> dict[Language, int]:
    """Return the weight of each language's signs in a text."""
    weights = {language: compute_sign_weight(signs, source) for language, signs in SIGNS.items()}
    if "/*" in source and not source.lstrip().startswith("#!"):
        # Examples in other languages' comments look like prompts and sessions of an interpreter.
        outside = _BLOCK_COMMENT.sub("", source)
        for language in (Language.BASH, Language.PYTHON):
            weights[language] = compute_sign_weight(SIGNS[language], outside)
    weights[Language.BASH] += compute_command_weight(source)
    return weights


def _find_heaviest_language(source: str, weights: dict[Language, int], least: int) -> Language | None:
    """Return the language whose signs weigh most; None where they weigh too little for code."""
    rivals = max(weights[language] for language in _FAMILY)
    if weights[Language.PYTHON] or rivals < ENOUGH:
        parsed = compute_python_weight(source)
    else:
        parsed = 0
    weights[Language.PYTHON] += parsed
    family = sum(weights[language] for language in _FAMILY) + _compute_brace_weight(source)
    alone: dict[Language, int] = {one: weight for one, weight in weights.items() if one not in _FAMILY}
    family = _compute_family_weight(alone, family, source.strip(), parsed)
    best = max(alone, key=lambda language: alone[language])
    if best is Language.SQL and _FROM_ARTICLE.search(source):
        return None
    needed = least + _compute_prose_weight(source, in_query=best is Language.SQL and alone[best] > family)
    if max(family, alone[best]) < needed:
        if needed <= ENOUGH:
            return _find_language_by_model(source, least, max(family, alone[best]))
        return None
    if _is_undisputed(best, alone, family, parsed):
        return best
    return _classify_by_vote(source, weights, alone, family)


def _is_picture(text: str) -> bool:
    return _WORD.search(text) is None and text.count("\n") + 1 >= _FEWEST_PICTURE_LINES


def _compute_prose_weight(source: str, *, in_query: bool) -> int:
    """Return the weight of prose outside comments: sentences, and words in a row that begin no string."""
    text = _COMMENT.sub("", source)
    rows = sum(match["words"] is not None for match in _WORDS_IN_A_ROW.finditer(text))
    return 2 * len(_SENTENCE.findall(text)) + (0 if in_query else rows)


def _is_undisputed(best: Language, alone: dict[Language, int], family: int, parsed: int) -> bool:
    """Whether no other language has signs worth a second look.

    Signs of Python in a text that does not parse may be another language's, as may a syntax tree alone.
    """
    if family >= ENOUGH or any(weight >= ENOUGH for one, weight in alone.items() if one is not best):
        return False
    return best is not Language.PYTHON or bool(parsed and (parsed < alone[best] or not family))


def _find_language_by_model(source: str, least: int, signs: int) -> Language | None:
    """Return what the model says where structure does not decide whether this is code; None if not sure."""
    language, lead = classify_by_model(source)
    if not signs and least >= ENOUGH:
        return None
    # What looks like none of ours is code only where it is plain, or something else says so: a fence, a name.
    is_likely = signs and (least < ENOUGH or language is not Language.OTHER)
    needed = _PLAIN_LEAD if is_likely else _SURE_LEAD
    return language if lead >= needed else None


def _classify_by_vote(
    source: str, weights: dict[Language, int], alone: dict[Language, int], family: int
) -> Language:
    """Return the language by its own signs and the model's vote together.

    Args:
        source: the text.
        weights: of each language by its own signs.
        alone: the same of languages outside the C family.
        family: of all the signs that the C family has, whichever language they are taken for.
    """
    other: float = weights[Language.OTHER]
    script: float = weights[Language.JAVASCRIPT] + weights[Language.TYPESCRIPT]
    if other > ENOUGH and not script and family > max(alone.values()):
        return Language.OTHER
    voted, lead = classify_by_model(source)
    vote = min(_MOST_VOTES, lead / _VOTE)
    other += vote if voted is Language.OTHER else 0
    script += vote if voted in (Language.JAVASCRIPT, Language.TYPESCRIPT) else 0
    totals: dict[Language, float] = dict(alone)
    if voted in totals:
        totals[voted] += vote
    best = max(totals, key=lambda language: totals[language])
    if totals[best] >= family + (vote if voted in _FAMILY else 0):
        return best
    if other > script:
        return Language.OTHER
    least_typed = 1 if voted is Language.TYPESCRIPT else ENOUGH
    is_typed = weights[Language.TYPESCRIPT] >= least_typed
    if is_typed:
        return Language.TYPESCRIPT
    return Language.JAVASCRIPT


def is_structured_json(text: str) -> bool:
    """Whether the text is a JSON document with structure: nested, or written over several lines.

    A flat object on one line is how tools are called and what they answer; as a document it says nothing.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _is_json_lines(text)
    values = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(values, list) or not values:
        return False
    return "\n" in text or any(isinstance(inner, dict | list) and inner for inner in values)


def is_tool_call(text: str) -> bool:
    """Whether this JSON document is a call of a tool, or a message that makes one: no code itself."""
    value = json.loads(text)
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(isinstance(item, dict) and _is_call(item) for item in items)


def _is_call(item: dict[str, object]) -> bool:
    named = not _CALLEE.isdisjoint(item) and "description" not in item
    return "tool_calls" in item or "function_call" in item or (named and not _GIVEN.isdisjoint(item))


def _is_json_lines(text: str) -> bool:
    """Whether each of several lines is a JSON object."""
    lines = text.splitlines()
    if len(lines) < 2 or not all(line.startswith("{") and line.rstrip().endswith("}") for line in lines):
        return False
    try:
        return all(isinstance(json.loads(line), dict) for line in lines)
    except (ValueError, RecursionError):
        return False


def is_settings(text: str) -> bool:
    """Whether the text is a file of settings: `NAME=value`, or sections of them."""
    stripped = text.strip()
    if _SETTINGS.fullmatch(stripped):
        return True
    return _SECTION.match(stripped) is not None and _SECTIONS.fullmatch(stripped) is not None


def is_yaml(text: str) -> bool:
    """Whether the text is a YAML document: every line in its form, lower-case keys, something nested."""
    text = _YAML_BLOCK.sub(r"\1block: text\n", text)
    lines = [line for line in text.splitlines() if line.strip() and line.strip() != "---"]
    if len(lines) < 2 or not all(_YAML_LINE.fullmatch(line) for line in lines):
        return False
    return len(_SNAKE_KEY.findall(text)) >= 2 and (
        _YAML_NESTED.search(text) is not None or "block: text\n" in text
    )


def compute_command_weight(source: str) -> int:
    """Return the weight of lines that are shell commands, prose that begins like one left out."""
    weight = 0
    for line in _COMMAND.finditer(source):
        whole, rest = line["whole"].strip(), line["rest"]
        if rest.rstrip().endswith((".", "?", "!", ":", ",")) and not rest.rstrip().endswith(("/.", " .")):
            continue
        is_call = whole in _BARE_COMMANDS or _ARGUMENT.search(rest) is not None
        if is_call or (_TAKES_SUBCOMMANDS.match(whole) and _SUBCOMMAND.match(rest)):
            weight += 3
        if weight >= 9:
            break
    return weight


def _compute_brace_weight(source: str) -> int:
    """Return the weight of lines ending in semicolons and braces: code of the C family, of any language."""
    lines = [line for line in source.splitlines() if line.strip()]
    ended = [line for line in lines if line.rstrip().endswith((";", "{", "}"))]
    # Lists in contracts end their lines in semicolons too, without a brace or an assignment anywhere.
    is_code = any(mark in line for line in ended for mark in "{}=")
    is_statement = any(_STATEMENT.match(line) for line in ended)
    is_many = len(ended) >= 2 and len(ended) >= _LEAST_BRACED * len(lines)
    return ENOUGH if is_statement or (is_code and is_many) else 0


def _compute_family_weight(alone: dict[Language, int], family: int, source: str, parsed: int) -> int:
    """Count signs in a string or a script for what holds it; return the C family's weight.

    Args:
        alone: weights of the languages outside the C family; changed in place.
        family: the C family's, given back with what it holds.
        source: the text, stripped.
        parsed: what its syntax tree says for Python: nothing else parses so.
    """
    markup = alone[Language.HTML]
    if parsed or alone[Language.PYTHON] > markup:
        alone[Language.PYTHON] += markup
    elif not source.startswith("<") and family >= max(markup, ENOUGH):
        family, alone[Language.HTML] = family + markup, 0
    elif markup >= 2 * ENOUGH:
        alone[Language.HTML] += family
    if alone[Language.SQL] >= ENOUGH and alone[Language.PYTHON] >= ENOUGH:
        alone[Language.PYTHON] += alone[Language.SQL]
    return family

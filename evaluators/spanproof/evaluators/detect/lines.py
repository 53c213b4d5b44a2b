"""What each line of a text is, by itself and by its neighbours: code, prose, or either.

Prose is recognised by its form (a sentence, a list item, a heading), code by its beginning or ending. What a
line does not show its neighbours may: a comment or docstring that goes on, an indented line below code, a
block's header above an indented line, a `#` line that touches another.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from spanproof.evaluators.detect.language import compute_command_weight

# What a line is shows in its beginning; the pattern for sentences takes time by the square of the length.
_MAX_LINE_READ: Final = 400


class LineKind(Enum):
    """What a line is; `EITHER` goes with the code around it, never alone."""

    BLANK = "blank"
    CODE = "code"
    EITHER = "either"
    PROSE = "prose"


_CODE: Final = re.compile(
    r"^\s*(?://|/\*|\*/|\* |--|@\w|[{}()\[\];]+[,;]?\s*$"
    r"|(?:def|class|import|from|return|if|elif|else|for|while|try|except|finally|with|async|await|raise|assert"
    r"|const|let|var|function|export|public|private|static|func|fn|use|impl|struct|enum|interface|type|package"
    r"|SELECT|FROM|WHERE|JOIN|LEFT|INNER|GROUP|ORDER|HAVING|LIMIT|INSERT|UPDATE|DELETE|CREATE|WITH|UNION"
    r"|VALUES|(?i:select\b.*\bfrom|insert into|update \w+ set|delete from)"
    r"|(?i:(?:create|alter|drop) (?:table|view|index))|using|namespace|print|echo|then|fi|done|do)\b"
    r"|[\w.\[\]'\"$]+(?:, ?[\w.]+)*\s*(?:[-+*/|&:]?=|:=|\+\+|--)\s*\S|[\w.]+\(|<[/!?\w]|\$ ?\w|\w+_\w+\s+\S"
    r"|[\w-]+(?: (?:\"[^\"\n]*\"|'[^'\n]*'))+\s*$)"
    r"|(?:\([\w.-]+\) ?)?[\w.-]+@[\w.-]+:[^\s$#]{0,80}[$#] \S|PS [A-Z]:[^>\n]{0,80}> ?\S"
    r"|[A-Z][a-z]+-[A-Z]\w+ .{0,200}-[A-Z]|\w+ :: [\w(\[]"
    r"|.*[;{}]\s*$|.*\)\s*:?\s*$|.*=>|>>> |In ?\[\d+\]: |(?:\$ )?[a-z][\w./-]* .*(?:\s--?[a-z]|&& |\| )"
)
# A cmdlet of PowerShell with a parameter or a pipe.
_CMDLET: Final = re.compile(r"\s*[A-Z][a-z]+-[A-Z][a-z]\w+ (?:.{0,200} )?(?:-[A-Z]\w+ \S.*|\|)\s*$")
_LIST_OR_SENTENCE: Final = re.compile(
    r"\s*(?:[-*•>]\s+|\d+[.)]\s+|\*\*|[\"'“(]?[A-Z][\w'’-]*,?\s)[^={}();]*$"
    r"|\s*[A-Za-z][^={}();<>\[\]\\|$/]*\s[^={}();<>\[\]\\|$]*\s[^={}();<>\[\]\\|$]*[.?!:,’”]\s*$"
    r"|\s*(?:Thought|Observation|Action|Answer|Final Answer|Code|Output|Note|Execution logs|Step \d+)\b.*:"
)
# A sentence with brackets in it: many words in a row, and none of the signs code has between words.
_LONG_SENTENCE: Final = re.compile(r"\s*(?![A-Z]{2,}\b)[A-Z][\w'’-]*(?: [\w'’\"“”(),;:&%$-]+){6,}[.?!)]*\s*$")

_SQL_LINE: Final = re.compile(
    r"\s*(?:SELECT|FROM|WHERE|JOIN|LEFT|INNER|GROUP|ORDER|HAVING|LIMIT|WITH|AND|OR|ON|INSERT|UPDATE|DELETE"
    r"|CREATE|VALUES|UNION|SET|CASE|WHEN|ELSE|END)\b"
)
# A line of mathematics as TeX has it.
_FORMULA: Final = re.compile(
    r"\s*\$\$|.*\\(?:frac|sqrt|sum|int|cdot|times|left|right|begin|end|text|mathrm|approx|leq|geq|neq|infty"
    r"|alpha|beta|lambda|sigma|partial|quad)\b[^'\"]*$"
)

# A fact with a remark in braces (`Fat: 12 g {of which saturates: 4 g}`), and a pattern with its name.
_LABELLED_BRACES: Final = re.compile(r"\s*[A-Z][\w ]{0,30}: [^{}=;()]*\w[^{}=;()]*\{[^{}=;()]*\}\s*$")
_NAMED_PATTERN: Final = re.compile(r"\s*[\w -]{0,24}[: ]\s*[^\s/=;\"'`]*\\[dwsbDWSB][^=;/\"'`]*$")

_BLOCK_HEADER: Final = re.compile(r"\s*(?:if|elif|else|for|while|with|try|except|finally|def|class)\b.*:\s*$")
_MAKE_TARGET: Final = re.compile(r"[\w.%/-]+ ?:(?![=:])[^=]*$")
# A command that is fed the lines up to a tag.
_FED: Final = re.compile(r"\s*(?:\$ )?[a-z][\w./-]* [^=;(]*<<-?['\"]?(?P<tag>[A-Z]\w*)['\"]?(?:\s|$)")

_TRIPLE_QUOTES: Final = ('"""', "'''")


def classify_lines(lines: list[str]) -> list[LineKind]:
    """Return the kind of each line, in order."""
    kinds: list[LineKind] = []
    closing: str | None = None
    for number, line in enumerate(lines):
        line = line[:_MAX_LINE_READ]
        if closing is not None:
            kinds.append(LineKind.CODE)
            closing = None if closing in line else closing
            continue
        below = lines[number + 1][:_MAX_LINE_READ] if number + 1 < len(lines) else ""
        kinds.append(
            _classify_line(line, below, kinds[-1] if kinds else LineKind.BLANK, _get_last_kind(kinds))
        )
        closing = _find_closing_mark(line) if kinds[-1] is not LineKind.PROSE else None
    return kinds


def _get_last_kind(kinds: list[LineKind]) -> LineKind:
    """Return the kind of the last line that is not blank."""
    return next((kind for kind in reversed(kinds[-4:]) if kind is not LineKind.BLANK), LineKind.BLANK)


def _classify_line(line: str, below: str, above: LineKind, last: LineKind) -> LineKind:
    """Return the kind of a line.

    Args:
        line: that is read.
        below: the next line.
        above: the kind of the line above it.
        last: the kind of the last line above it that is not blank.
    """
    bare = line.strip()
    if not bare:
        return LineKind.BLANK
    if _opens_code(line, bare, below):
        return LineKind.CODE
    in_code = last in (LineKind.CODE, LineKind.EITHER)
    if bare.startswith("#"):
        touches_code = in_code and above is not LineKind.BLANK
        if touches_code or below.strip():
            return LineKind.CODE
        return LineKind.PROSE
    is_indented_code = in_code and _count_indent(line) > 0
    if not is_indented_code and not _CMDLET.match(line) and _is_prose(line):
        return LineKind.PROSE
    is_cmdlet = not is_indented_code and _CMDLET.match(line) is not None
    is_code = is_cmdlet or _CODE.match(line) is not None or compute_command_weight(line) > 0
    return LineKind.CODE if is_code else LineKind.EITHER


def _opens_code(line: str, bare: str, below: str) -> bool:
    """Whether a line opens a comment, a block or a rule of Make, or is for the shell or a preprocessor."""
    if bare.startswith(("/*", *_TRIPLE_QUOTES, "#!", "#include", "#define", "#if")):
        return True
    if _BLOCK_HEADER.match(line) and _count_indent(below) > _count_indent(line):
        return True
    return below.startswith("\t") and _MAKE_TARGET.match(line) is not None


def _is_prose(line: str) -> bool:
    """Whether a line is a sentence, an item of a list, a formula, or a fact with its label."""
    if _LABELLED_BRACES.match(line) or _NAMED_PATTERN.match(line) or _FORMULA.match(line):
        return True
    is_sentence = _LIST_OR_SENTENCE.match(line) or _LONG_SENTENCE.match(line)
    return bool(is_sentence) and not _SQL_LINE.match(line)


def _count_indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _find_closing_mark(line: str) -> str | None:
    """Return what closes the comment, docstring or heredoc that this line opens and does not close."""
    fed = _FED.match(line)
    if fed:
        return fed["tag"]
    bare = line.strip()
    if bare.startswith("/*"):
        return None if "*/" in bare[2:] else "*/"
    return next((quotes for quotes in _TRIPLE_QUOTES if line.count(quotes) == 1), None)

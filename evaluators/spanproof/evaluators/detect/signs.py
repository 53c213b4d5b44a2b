"""What each language looks like: regular expressions with a weight.

A sign is something the language has and prose has not; one that several languages share weighs less.
Quantifiers over whole lines are bounded, so that a text made to be slow is not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from spanproof.trace import Language


@dataclass(frozen=True, slots=True)
class Sign:
    """A pattern, what each find of it weighs, and how many finds count."""

    pattern: re.Pattern[str]
    weight: int
    at_most: int = 3


def _build_sign(pattern: str, weight: int, at_most: int = 3, flags: int = re.MULTILINE) -> Sign:
    return Sign(re.compile(pattern, flags), weight, at_most)


SIGNS: Final[dict[Language, tuple[Sign, ...]]] = {
    Language.PYTHON: (
        _build_sign(r"^[ \t]*(?:async )?def \w+\(.*(?:\).*:|[^)])[ \t]*(?:#.*)?$", 3),
        _build_sign(r"^[ \t]*class \w+(?:\(.*\))?:", 3),
        _build_sign(
            r"^[ \t]*(?:from [\w.]+ import [\w*(]|import [\w.]+(?: as \w+)?(?:, ?[\w.]+)*[ \t]*(?:#.*)?$)", 3
        ),
        _build_sign(r"^[ \t]*(?:if|elif|for|while|with|except|match) .{1,120}:[ \t]*(?:#.*)?$", 2),
        _build_sign(r"^[ \t]*(?:try|else|finally|except):[ \t]*(?:#.*)?$", 2),
        _build_sign(r"\bprint\(", 1),
        _build_sign(r"\bself\.\w+|\blambda \w+(?:, ?\w+)*:|\b__\w+__\b", 1),
        _build_sign(r"\bf['\"][^'\"\n]*\{", 1),
        _build_sign(r"\bfor \w+(?:, ?\w+)* in [\w.\[({]", 1),
        _build_sign(r"^[ \t]*@\w[\w.]*(?:\(.*\))?[ \t]*$", 1),
        _build_sign(r"^[ \t]*>>> \S|^In ?\[\d+\]: \S", 4),
    ),
    Language.JAVASCRIPT: (
        _build_sign(r"^[ \t]*(?:export )?(?:const|let|var) [\w{\[$].{0,200}?=", 3),
        _build_sign(r"\bfunction\b ?\*? ?\w*\([^)\n]*\) ?\{?", 3),
        _build_sign(r"(?:\)|\b\w+) ?=> ?[\w{(\[`'\"]", 2),
        _build_sign(r"\bconsole\.(?:log|error|warn)\(", 3),
        _build_sign(r"[=!]==(?!=)|\w\?\.[\w\[(]", 2),
        _build_sign(r"\brequire\(['\"]|\bmodule\.exports\b|^[ \t]*import .{1,120} from ['\"]", 3),
        _build_sign(r"^[ \t]*export (?:default|async|function|class|const)\b", 3),
        _build_sign(r"\b(?:document|window|localStorage)\.\w+", 2),
        _build_sign(r"\b(?:process|Math|JSON|Object|Array|Promise)\.\w+", 1),
        _build_sign(r"\b(?:await|async|new|typeof) [\w.(]+\(", 1),
        _build_sign(
            r"^[ \t]*<[A-Z]\w*(?: [\w-]+=\{)"
            r"|^[ \t]*(?:export )?(?:default )?class \w+(?: extends [\w.]+)? ?\{|^[ \t]*['\"]use strict['\"]",
            3,
        ),
    ),
    Language.TYPESCRIPT: (
        _build_sign(
            r"[\w?)] ?: ?(?:string|number|boolean|any|void|unknown|never|Array<|Promise<|Record<|Map<)", 3
        ),
        _build_sign(r"^[ \t]*(?:export )?(?:interface|enum) \w+(?:<[^>\n]*>)?(?: extends [\w, <>]+)? ?\{", 4),
        _build_sign(r"^[ \t]*(?:export )?type \w+(?:<[^>\n]*>)? = ", 4),
        _build_sign(r"^[ \t]*import type\b", 4),
        _build_sign(
            r"\) ?: [A-Z]\w*(?:<[^>\n]*>)?(?:\[\])*(?: \| \w+)* (?:\{|=>)"
            r"|^[ \t]*(?:export )?(?:const|let|var) \w+: [A-Z]\w*(?:<[^>\n]*>|\[\])* = ",
            3,
        ),
        _build_sign(
            r"<[\w\[\], |]{0,80}\b(?:number|boolean|unknown|any|undefined)\b[\w\[\], |]{0,80}>[({ ]", 3
        ),
        _build_sign(r"\bas (?:const|string|number|any|unknown|HTML\w+|\{\})\b|\bkeyof \w|\bsatisfies \w", 3),
        _build_sign(
            r"^[ \t]*(?:(?:export )?(?:declare|abstract|namespace)) \w[^;{\n]{0,80}[;{]"
            r"|^[ \t]*(?:private|protected|readonly) (?:static |readonly |async )*\w+\??(?: = |: |\()",
            3,
        ),
    ),
    Language.BASH: (
        _build_sign(r"\A#!.*\b(?:ba|z|da|k)?sh\b", 6),
        _build_sign(r"^(?:\([\w.-]+\) ?)?[\w.-]+@[\w.-]+:[^\s$#]{0,80}[$#] \S", 4),
        _build_sign(r"^[ \t]*(?:if|while|until) \[\[? .+\]", 3),
        _build_sign(r"(?:^|;)[ \t]*(?:then|fi|esac)[ \t]*(?:;|$|#|\|)|\bdo\b[^.]{1,800}?\bdone\b", 2),
        _build_sign(r"^[ \t]*for \w+ in .+; ?do\b|^[ \t]*do[ \t]*$", 3),
        _build_sign(r"\$\(\w[^)\n]*\)|\$\{\w+[^}\n]*\}", 1),
        _build_sign(
            r"(?:&&|\|\||\||;) ?(?:sudo )?(?:grep|awk|sed|sort|head|tail|wc|xargs|tee|jq|cut|sh|bash|cd"
            r"|echo|exit|rm|tr|uniq|less|python3?|psql|column)\b",
            2,
        ),
        _build_sign(r"(?:(?<![=\-<])\d?>{1,2} ?(?:/dev/null|&\d|[\w./~-]+)|<<-? ?['\"]?EOF)", 1),
        _build_sign(r"^[ \t]*export \w+=|^[ \t]*(?:local|readonly|declare) \w+=", 3),
        _build_sign(r"^[ \t]*set -[euxo]+\b", 4),
        _build_sign(
            r"^[ \t]*(?:\$ )?[a-z][\w.-]*(?: [\w./:@=-]+){0,6} --?[a-z][\w-]*(?: [^\s,;]*[^\s.,;:?!])* ?\\?$",
            2,
        ),
        _build_sign(r"^[a-z][\w./-]*(?: [^\s|&;(){}]+){0,9} && [a-z][\w-]+(?: |$)", 3),
        _build_sign(r"^[ \t]*\w+ ?\(\)[ \t]*(?:\{[ \t]*|\n[ \t]*\{[ \t]*)$|\"\$[@*]\"|\$[?#@]|;;[ \t]*$", 2),
        _build_sign(r"^[ \t]*\w+=(?:\"[^\"\n]*\"|'[^'\n]*'|[\w$/.-]*)[ \t]*(?:;|$)", 1),
        _build_sign(r"\[ (?:-[a-z]|!|\"?\$)[^\]\n]* \]|\"\$\{?\w+\}?\"|^[ \t]*\w+ \$\w+", 1),
    ),
    Language.SQL: (
        _build_sign(
            r"^[ \t(]*(?:EXPLAIN\s+)?(?:SELECT|select)\s+(?:DISTINCT\s+|distinct\s+|TOP\s+\d+\s+)?"
            r"[\w.*,()'\"`\[\]{}\s+\-/|:%=<>!]{1,1500}?\s(?:FROM|from)\s+[\w.\"`\[(]+",
            3,
        ),
        _build_sign(r"^[ \t]*(?:WITH|with)\s+(?:RECURSIVE\s+)?\w+\s*(?:\([^)]*\)\s*)?(?:AS|as)\s*\(", 4),
        _build_sign(
            r"^[ \t]*(?:INSERT\s+INTO|insert\s+into)\s+[\w.\"`\[\]]+\s*(?:\(|VALUES|SELECT|values|select)", 4
        ),
        _build_sign(
            r"^[ \t]*(?:UPDATE|update)\s+[\w.\"`\[\]]+\s+(?:\w+\s+)?(?:SET|set)\s+[\w.\"`\[\]]+\s*=", 4
        ),
        _build_sign(r"^[ \t]*(?:DELETE\s+FROM|delete\s+from)\s+[\w.\"`\[\]]+\s*(?:WHERE|where|;|$)", 4),
        _build_sign(
            r"^[ \t]*(?:CREATE|ALTER|DROP|TRUNCATE|create|alter|drop|truncate)\s+"
            r"(?:OR REPLACE\s+|TEMP(?:ORARY)?\s+)?"
            r"(?:TABLE|VIEW|INDEX|DATABASE|SCHEMA|table|view|index|database|schema)\s+[\w.\"`\[]+",
            4,
        ),
        _build_sign(
            r"^[ \t]*(?:CREATE|ALTER|DROP|COMMENT ON|GRANT|REVOKE)\s+"
            r"(?:OR REPLACE\s+|UNIQUE\s+|MATERIALIZED\s+)?"
            r"(?:FUNCTION|OPERATOR|TRIGGER|TYPE|EXTENSION|SEQUENCE|ROLE|USER|TEXT SEARCH|INDEX|VIEW|PROCEDURE"
            r"|ALL|SELECT|AGGREGATE)\b",
            4,
        ),
        _build_sign(
            r"^[ \t]*(?:SHOW (?:TABLES|DATABASES|SCHEMAS|COLUMNS|CREATE|INDEX)|PRAGMA \w|MERGE INTO \w"
            r"|ATTACH (?:TABLE|DATABASE)"
            r"|(?:SHOW|DESCRIBE|DESC|USE|VACUUM|ANALYZE|SET|CALL|BEGIN|COMMIT|ROLLBACK)\b[\w.\"' =()]*;)",
            3,
        ),
        _build_sign(
            r"^[ \t]*(?:FROM|WHERE|UNION ALL|VALUES|RETURNING|ON CONFLICT|CASE WHEN|SELECT)(?: |$)", 1
        ),
        _build_sign(r"\b(?:GROUP|ORDER)\s+BY\b|\b(?:LEFT|RIGHT|INNER|OUTER|CROSS)\s+JOIN\b|\bHAVING\b", 1),
        _build_sign(r"\b(?:group|order)\s+by\s+[\w.]+(?:\s*,|\s+(?:asc|desc)|\s*;|\s*$|\s+limit)", 1),
        _build_sign(
            r"\bJOIN\s+[\w.\"`]+(?:\s+(?:AS\s+)?\w+)?\s+ON\b|\bWHERE\s+[\w.\"`]+\s*(?:=|<|>|!=|IN|LIKE|IS|BETWEEN)",
            1,
        ),
    ),
    Language.HTML: (
        _build_sign(r"<!DOCTYPE html|<html[\s>]", 6, flags=re.IGNORECASE),
        _build_sign(
            r"<(?:div|span|p|a|ul|li|ol|table|tr|td|th|body|head|script|style|form|input|button|h[1-6]|img|section"
            r"|nav|header|footer|main|label|select|option|svg|path|circle|rect|template|meta|link|title|dl|dt|dd"
            r"|pre|em|strong|br|hr|iframe|video)(?:\s[\w-]+(?:=(?:\"[^\"\n]*\"|'[^'\n]*'))?)*\s*/?>",
            1,
            at_most=4,
        ),
        _build_sign(
            r"</(?:div|span|p|a|ul|ol|li|table|tr|td|body|head|script|style|form|button|h[1-6]|section|svg|template"
            r"|dl|dd|pre|title|html)>",
            1,
            at_most=4,
        ),
    ),
    Language.OTHER: (
        # A cmdlet of PowerShell with a parameter.
        _build_sign(
            r"^[ \t]*(?:Get|Set|New|Remove|Copy|Move|Write|Import|Export|Invoke|Where|Select|ForEach|Sort"
            r"|Start|Stop|Restart|Add|Test|Out|ConvertTo|ConvertFrom|Measure)-[A-Z]\w+ "
            r"(?:.* )?(?:-[A-Z]\w+|\|$|\| [A-Z])",
            4,
        ),
        _build_sign(r"^[ \t]*#[ \t]*(?:ifn?def|endif|define|undef|pragma|if defined|elif|else)\b", 2),
        _build_sign(r"\b(?:u?int(?:8|16|32|64)_t|size_t|virtual|typedef|struct \w+ ?\{|template ?<)\b", 2),
        _build_sign(r"^[ \t]*#[ \t]*include ?[<\"]|\busing namespace \w+;|\bstd::\w+|\bint main\(", 4),
        _build_sign(
            r"^[ \t]*(?:public|private|protected)\s+(?:static\s+|final\s+|abstract\s+)*[\w<>\[\], ]+[({]", 4
        ),
        _build_sign(r"\bSystem\.out\.|^[ \t]*import java[.x]|^[ \t]*package [\w.]+;?[ \t]*$", 4),
        _build_sign(
            r"^[ \t]*func (?:\([^)\n]*\) )?\w+(?:\[[^\]\n]*\])?\(.*\{|\bfmt\.\w+\(|\bif err != nil\b", 5
        ),
        _build_sign(r"^type \w+ (?:struct|interface|func\()|^import (?:\($|\"[\w./-]+\"$)", 4),
        _build_sign(
            r"^[ \t]*(?:pub )?(?:async )?fn \w+(?:<[^>\n]*>)? ?\(|\blet mut \w|\bprintln!\("
            r"|^[ \t]*impl\b.*\{|&(?:mut \w|'\w+ )|^[ \t]*#!?\[\w+.*\]|\w::<|^[ \t]*macro_rules!",
            5,
        ),
        _build_sign(
            r"^[ \t]*pub(?:\(\w+\))? (?:struct|enum|mod|use|const|static|trait|type)\b|\|&?\w+\| ?[\w{*]", 3
        ),
        _build_sign(r"^[ \t]*use [\w:]+(?:::[\w{*].*)?;", 4),
        _build_sign(
            r"^[ \t]*(?:sealed |final )?case class \w+[\[(]|^[ \t]*(?:case )?object \w+ (?:extends|\{)", 4
        ),
        _build_sign(r"^[ \t]*def \w+(?:\[\w+\])?\([^)\n]*: ?[A-Z]\w*[^)\n]*\): [A-Z]\S* = ", 4),
        _build_sign(
            r"^(?:mutable )?struct \w+(?:\{[^}\n]*\})?(?: <: \w+)?$|^[ \t]*for \w+ ?= ?[^\n]+,[^\n]+ do$", 4
        ),
        _build_sign(r"<\?php|\$\w+ ?= ?.+;|\$\w+->\w+|\bfunction \w*\([^)\n$]*\$\w+", 4),
        _build_sign(
            r"^[ \t]*(?:my|our) ?[($@%]|^[ \t]*local (?:function )?\w+[^=\n]*(?:=|\))|\bguard let\b"
            r"|^[ \t]*class \w+ < [A-Z]|^[^\n]* do \|[\w, ]+\|$",
            4,
        ),
        _build_sign(
            r"^[ \t]*template ?<|\bnullptr\b|\b\w+::~?\w+\(|^[ \t]*extern \"C\"|\bconst \w+(?:::\w+)* ?[&*]",
            3,
        ),
        _build_sign(
            r"^[ \t]*(?:static |inline |extern )+(?:const )?\w+ [\w* ]+\(|\bConsole\.Write|\{ get; ", 3
        ),
        _build_sign(r"^[ \t]*(?:final |const )?[A-Z]\w*(?:<[\w, <>?\[\]]+>)?(?:\[\])? [a-z]\w* = \S.*;", 3),
        _build_sign(r"\b[A-Z][a-z]+-[A-Z]\w+ -[A-Z]\w+|^[\w.-]+:(?: [\w.-]+)*\n\t\S", 4),
        _build_sign(
            r"^(?:resource|variable|provider|module|output|data) \"|^(?:query|mutation|fragment)\b[^{\n]*\{"
            r"|^syntax = \"proto|^message \w+ \{|^\[{1,2}[\w.-]+\]{1,2}\n[\w.-]+ = [\"'\[{\dtf]",
            4,
        ),
        _build_sign(
            r"^[ \t]*(?:unsigned |const )?(?:int|long|float|double|char|bool|void|string|auto"
            r"|vector<\w+>)[ \t]+[\w*&]+ ?[=(;\[]",
            3,
        ),
        _build_sign(r"^[ \t]*\w+ := .+|^[ \t]*using \w+(?:\.\w+)*;|^[ \t]*namespace \w+", 3),
        _build_sign(
            r"^[ \t]*(?:fun|val|override fun|data class) \w+|^[ \t]*puts |^[ \t]*end[ \t]*$"
            r"|\w+ <- (?:function\(|c\()",
            2,
        ),
        _build_sign(
            r"^[ \t]*[A-Za-z.][\w.]* <- [\w.]+(?:::\w+)?[(\[]|\b(?:library|require)\(\w+\)[ \t]*$|%>%", 4
        ),
        _build_sign(
            r"^PS [A-Z]:[^>\n]{0,80}> ?\S|\"[^\"\n]{0,200}\\\(\w|^\w+ :: [\w(\[]"
            r"|^module [\w.]+ .{0,80}\bwhere$",
            4,
        ),
        _build_sign(r"\)(?:<-|-)\[:?\w*[^\]\n]{0,80}\](?:->|-)\(", 4),
        _build_sign(r"^FROM [\w./:-]+(?: AS \w+)?$|^(?:RUN|COPY|ENTRYPOINT|CMD|WORKDIR) [\w\[./]", 3),
        _build_sign(r"^<\?xml |^[ \t]*<(\w+:)?\w+ xmlns", 4),
        _build_sign(
            r"^(?:diff --git |@@ -\d+,\d+ \+\d+|\*\*\* (?:Begin Patch$|(?:Update|Add|Delete) File: ))", 4
        ),
        _build_sign(r"^function \w+[.:]\w+\([^)\n]*\)$|^[ \t]*'\w+' +=> \S.*,$|^[ \t]*if .+ then .+ end$", 4),
        _build_sign(
            r"^[ \t]*@(?:media|import|font-face|keyframes|charset)\b"
            r"|^[ \t]*[.#]?[\w-]+ ?\{[ \t]*\n[ \t]*[\w-]+: ?[^;\n]+;",
            4,
        ),
    ),
}


def compute_sign_weight(signs: tuple[Sign, ...], source: str) -> int:
    """Return what these signs weigh together in this text."""
    total = 0
    for sign in signs:
        found = 0
        for _ in sign.pattern.finditer(source):
            found += 1
            if found == sign.at_most:
                break
        total += sign.weight * found
    return total

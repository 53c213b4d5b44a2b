"""Names of the languages that no scanner reads, by what only their code has.

In: a text that is code, in none of the languages that are scanned. Out: the language of which it has more
signs than of any other; `OTHER` where that is open. Nothing is guessed: a wrong name is worse than none.
"""

from __future__ import annotations

import re
from typing import Final

from spanproof.trace import Language

# What only code of a language has, each a pattern of its own.
_SIGNS: Final = {
    Language.GO: [
        r"^package \w+$",
        r"\bfmt\.\w+\(",
        r"\bif err != nil\b",
        r"^func (?:\([^)\n]{1,80}\) )?\w+(?:\[[^\]\n]{1,60}\])?\(",
        r"^[ \t]*var \w+ (?:\[\]|map\[)",
        r":= range\b",
        r"^type \w+ (?:struct|interface) \{",
        r"\bmake\((?:map|chan|\[\])",
        r"\bgo func\(",
        r"\w, (?:ok|err) :?= ",
    ],
    Language.RUST: [
        r"\bfn \w+(?:<[^>\n]{1,80}>)? ?\(",
        r"\blet mut \w",
        r"\b(?:println|vec|panic|format)!",
        r"^[ \t]*impl\b",
        r"^[ \t]*#!?\[\w+",
        r"&(?:mut |'\w+ |self\b)",
        r"^[ \t]*use (?:std|crate|super)::",
        r"\.unwrap\(\)",
        r"\bdyn \w",
        r"\) -> (?:Result|Option|Vec|Box|Self|impl)\b",
    ],
    Language.JAVA: [
        r"\bSystem\.(?:out|err)\.",
        r"^[ \t]*import (?:static )?(?:javax?|org|com)\.[\w.*]+;",
        r"\bpublic (?:static |final |abstract )*(?:class|void|interface|enum|record)\b",
        r"\bthrows \w+",
        r"^[ \t]*@Override\b",
        r"\bString\[\] args\b",
        r"\bnew (?:ArrayList|HashMap|Scanner)\b",
        r"\b(?:List|Map)<\w+[^>\n]{0,40}> \w+",
        r"\bprivate final \w",
        r"\brecord \w+\(",
        r"@(?:Test|Autowired|PathVariable|RequestMapping|GetMapping|PostMapping)\b",
    ],
    Language.CSHARP: [
        r"\bConsole\.(?:Write|Read)",
        r"^[ \t]*using System\b",
        r"\{ get; ",
        r"^[ \t]*namespace [\w.]+;?[ \t]*\{?$",
        r"\bstring\[\] args\b",
        r"\basync Task\b",
        r"\bvar \w+ = new \w+[<({]",
        r"\bforeach \(var ",
    ],
    Language.CPP: [
        r"\bstd::\w",
        r"\busing namespace std\b",
        r"\btemplate ?<",
        r"\b(?:cout|cin|cerr) ?(?:<<|>>)",
        r"\bnullptr\b",
        r"^[ \t]*#[ \t]*include ?<(?:iostream|vector|string|map|algorithm|memory|bits/\S+|set|queue)>",
        r"\bvector<",
        r"\b(?:public|private|protected):$",
        r"\bconst \w+&",
        r"\bauto [&\w]+ ?[=:]",
    ],
    Language.C: [
        r"^[ \t]*#[ \t]*include ?<(?:stdio|stdlib|string|unistd|stdint|stdbool|math|ctype|errno|assert)\.h>",
        r"\b(?:printf|malloc|calloc|free|scanf|strlen|memcpy|fprintf|sizeof) ?\(",
        r"\bstruct \w+ ?\*",
        r"\bchar ?\*",
        r"\bNULL\b",
        r"\btypedef struct\b",
    ],
    Language.PHP: [
        r"<\?php",
        r"^[ \t]*\$\w+(?:\[[^\]\n]{0,60}\])? ?\.?= ?[^=\n]",
        r"\$this->",
        r"\bfunction \w*\([^)\n]{0,120}\$\w",
        r"\$\w+->\w+",
        r"\becho [\x22\x27$]",
        r"\bforeach ?\(\$",
        r"\bfn ?\(\$\w",
        r"\barray_\w+\(",
        r"^[ \t]*'\w+' +=> ",
        r"^[ \t]*add_(?:action|filter)\( ",
    ],
    Language.RUBY: [
        r"^[ \t]*(?:require|require_relative) ['\x22]",
        r"^[ \t]*puts\b",
        r"\bdo \|[\w, ]{1,60}\|",
        r"^[ \t]*attr_\w+ :",
        r"^[ \t]*def (?:self\.)?\w+[?!]?(?:\(.*\))?$",
        r"^[ \t]*class \w+(?: < [\w:]+)?$",
        r"^[ \t]*(?:elsif|unless)\b",
        r"\.each\b",
        r"\bdo$",
        r"\b\w+: :\w",
        r"#\{\w",
    ],
    Language.R: [
        r"<- ?function\(",
        r"^[ \t]*[\w.]+ <- ",
        r"%>%",
        r"^[ \t]*library\(\w+\)",
        r"\bdata\.frame\(",
        r"\bc\([\d\x22']",
        r"\bggplot\(",
        r"\bpaste0?\(",
        r"\b(?:sapply|lapply|tibble)\(",
    ],
    Language.PERL: [
        r"^[ \t]*use (?:strict|warnings)\b",
        r"^[ \t]*my [$@%(]",
        r"=~ ?[ms]?/",
        r"\bsub \w+ ?\{",
        r"^#!.*\bperl\b",
        r"@ARGV\b",
        r"\bforeach my \$",
    ],
    Language.KOTLIN: [
        r"^[ \t]*(?:override |private |suspend )*fun \w+\(",
        r"\bdata class\b",
        r"^[ \t]*val \w+(?:: \w+)? =",
        r"\blistOf\(",
        r"\bmutableListOf\(",
        r"\?\.let \{",
        r"\bwhen ?\(.*\) ?\{",
        r": \w+\? =",
    ],
    Language.SWIFT: [
        r"\bguard let\b",
        r"\bif let \w+ =",
        r"^import (?:Foundation|UIKit|SwiftUI)$",
        r"\bfunc \w+\([^)\n]*\) -> ",
        r"^[ \t]*let \w+(?:: \[?\w+\]?)? = [^;\n]*$",
        r"\\\(\w",
        r"@State\b",
        r": \w+\? \{",
    ],
    Language.SCALA: [
        r"\bobject \w+ (?:extends \w+ )?\{",
        r"\bextends App\b",
        r"\((?:_ ?[-+*/.]|_\.\w)|_\.\w+\b",
        r"\bmutable\.\w+|\bimport scala\b",
        r"\b[sf]\x22[^\x22\n]*\$",
        r"\bfor [({](?:\w+|\(\w+, \w+\)) <- \w",
        r"\bval \w+ = (?:List|Seq|Map|Vector|Some|Array)[(\[]",
        r"\bdef \w+(?:\[\w+\])?\([^)\n]*: ?[A-Z]\w*[^)\n]*\)(?:: [A-Z]\S*)? =",
        r"\bcase class\b",
        r"^[ \t]*def \w+(?:\[\w\])?(?:\(.*\))?(?:: \w+\S*)? =",
        r"^import scala\.",
        r"\bcase _ =>",
        r": (?:List|Seq|Option)\[",
    ],
    Language.JULIA: [
        r"^[ \t]*using [A-Z]\w+(?:, \w+)*$",
        r"^function \w+\(.*\)(?:::\w+)?$",
        r"::(?:Int|Float|String|Vector|Dict|Any|Bool|Abstract\w+|T)\w*\b",
        r"^(?:mutable )?struct \w+(?:\{[^}\n]*\})?(?: <: \w+)?$",
        r"<: ?[A-Z]\w+",
        r"^[ \t]*println\(\x22[^;\n]*\)$",
        r"^\w+!?\([^)=\n]*\) = \S",
        r"@(?:time|show|assert|btime|threads|inline)\b(?! ?\()",
        r"\b(?:eachrow|eachindex|push!|sort!)\(",
        r"\bfor \w+ in \d+:\w",
    ],
    Language.LUA: [
        r"^[ \t]*local (?:function )?\w+",
        r"^[ \t]*for \w+ ?= ?[^\n]+,[^\n]+ do$",
        r"\bthen$|\bthen .* end$",
        r"#\w+ ?[+\]]|= ?#\w",
        r"\b(?:table|string|math)\.\w+\(",
        r"\b(?:pcall|setmetatable)\(|== nil\b",
        r"\bfunction \w+[.:]?\w*\([^)\n]*\)$",
        r"^function \w+[.:]\w+\([^)\n]*\)$",
        r"\bipairs\(",
        r"\bpairs\(",
        r"~=",
        r"\.\. ?[\w\x22']",
    ],
    Language.POWERSHELL: [
        r"\b(?:Get|Set|New|Remove|Write|Import|Export|Invoke|Where|Select|ForEach|Start|Stop|Add|Test|Out)-[A-Z]\w+",
        r"^[ \t]*param ?\(",
        r"\$_\.\w",
        r"^[ \t]*\[Parameter\b",
        r"-(?:eq|ne|gt|lt|like|match)\b",
        r"\$PS\w+",
    ],
}

_PATTERNS: Final = {
    language: [re.compile(sign, re.MULTILINE) for sign in signs] for language, signs in _SIGNS.items()
}
UNSCANNED: Final = frozenset({*_SIGNS, Language.OTHER})
"""Languages of code that no scanner reads."""


def classify_unscanned(source: str) -> Language:
    """Return the language of code in none of those that are scanned; `OTHER` where it is open."""
    found = {
        language: sum(sign.search(source) is not None for sign in signs)
        for language, signs in _PATTERNS.items()
    }
    first, second = sorted(found, key=lambda language: found[language], reverse=True)[:2]
    if found[first] > found[second]:
        return first
    return Language.OTHER

"""Texts that are known by a frame: the prompts of an interpreter, a patch's envelope, the tags of a template.

In: a text without its fences. Out: the code in it, with its span. Only what no prose has is taken: prompts as
those of irb and julia, or a `>` with answers between whose commands are code.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from spanproof.evaluators.detect.language import find_language
from spanproof.trace import Language

_PROMPTS: Final = {
    Language.RUBY: re.compile(
        r"^(?:irb(?:\([^)\n]*\))?(?::\d+)*[>*]|\[\d+\] pry\([^)\n]*\)>) \S", re.MULTILINE
    ),
    Language.JULIA: re.compile(r"^julia> \S", re.MULTILINE),
    Language.SCALA: re.compile(r"^scala> \S", re.MULTILINE),
    Language.POWERSHELL: re.compile(r"^PS(?: [A-Z]:[^>\n]{0,80})?> ?\S", re.MULTILINE),
    Language.OTHER: re.compile(r"^(?:ghci|Prelude|iex\(\d+\))> \S", re.MULTILINE),
}
_PATCH_BEGINS: Final = re.compile(r"^\*\*\* Begin Patch$", re.MULTILINE)
_PATCH_ENDS: Final = re.compile(r"^\*\*\* End Patch$", re.MULTILINE)
# Behind a `>`, a line that a person may also quote.
_QUOTE_PROMPT: Final = re.compile(r"^> (?P<command>\S.*)$", re.MULTILINE)
_FEWEST_COMMANDS: Final = 2

_TEMPLATE_BEGINS: Final = re.compile(r"(?<![\"'`])\{%-?\s*(?:for|if|set|macro|block|call|filter)\s+\w")
_TEMPLATE_ENDS: Final = re.compile(r"\{%-?\s*end(?:for|if|set|macro|block|call|filter)\s*-?%\}")
_TEMPLATE_TAG: Final = re.compile(r"\{[{%]")
_MARKUP: Final = re.compile(r"</[a-z]\w*>")


class Framed(NamedTuple):
    """A span of code in a frame, and its language."""

    language: Language
    start: int
    end: int


def find_framed_code(text: str) -> Framed | None:
    """Return the first code in a frame, up to the end of the last line that belongs to it."""
    begin = _PATCH_BEGINS.search(text)
    close = begin and _PATCH_ENDS.search(text, begin.end())
    if begin and close:
        return Framed(Language.OTHER, begin.start(), close.end())
    end = len(text.rstrip())
    for language, prompt in _PROMPTS.items():
        first = prompt.search(text)
        if first is not None:
            return Framed(language, first.start(), end)
    return _find_answered_commands(text) or _find_template(text)


def _find_answered_commands(text: str) -> Framed | None:
    """Return a session whose prompt is `>`: each command has an answer, unlike the lines of a quote."""
    prompts = list(_QUOTE_PROMPT.finditer(text))
    if len(prompts) < _FEWEST_COMMANDS or prompts[0].start() != len(text) - len(text.lstrip()):
        return None
    lines = text.strip().splitlines()
    is_answered = all(
        not lines[number + 1].startswith(">")
        for number, line in enumerate(lines[:-1])
        if line.startswith(">")
    )
    if is_answered:
        language = find_language("\n".join(prompt["command"] for prompt in prompts))
    else:
        language = None
    if language:
        return Framed(language, prompts[0].start(), len(text.rstrip()))
    return None


def _find_template(text: str) -> Framed | None:
    """Return a template of Jinja or the like, from its first tag's line to its last's."""
    if not _TEMPLATE_BEGINS.search(text) or not _TEMPLATE_ENDS.search(text) or _MARKUP.search(text):
        return None
    tags = list(_TEMPLATE_TAG.finditer(text))
    start = text.rfind("\n", 0, tags[0].start()) + 1
    end = text.find("\n", tags[-1].start())
    return Framed(Language.OTHER, start, len(text.rstrip()) if end < 0 else end)

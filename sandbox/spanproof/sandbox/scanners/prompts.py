"""Text that goes to a model: markers of injected instructions and of jailbreaks.

In: text or Markdown. Out: findings for review; a model may still be given the text as data.
Markers are phrases with bounded gaps, so that the time is linear; a rewording passes them, so they are one
sign among others and no boundary.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.source import START, Source

_GAP = r"[\s\W]{1,6}"
_PHRASES: Final = {
    rule: re.compile(r"(?i)\b(?:" + "|".join(phrases.values()).replace(" ", _GAP) + ")")
    for rule, phrases in read_sections("prompts").items()
}
_MARKS: Final = re.compile(
    r"(?i)<\|(?:im_start|im_end|system|assistant|endoftext)\|>|\[/?INST\]|<</?SYS>>"
    r"|(?m:^#{1,4}\s{0,4}(?:system|assistant)\s{0,4}:)"
)


def scan(context: Context, source: Source) -> None:
    """Report markers, also where they are written in full-width or otherwise compatible letters."""
    text = source.text
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
    same = len(normal) == len(text)
    for rule, pattern, what in (
        ("prompt.injection", _PHRASES["injection"], "contains instructions to the model"),
        ("prompt.injection", _MARKS, "contains control tokens of a chat template"),
        ("prompt.jailbreak", _PHRASES["jailbreak"], "orders the model to ignore its restrictions"),
    ):
        for found in pattern.finditer(normal):
            context.add(rule, source.place(*found.span()) if same else START, what)

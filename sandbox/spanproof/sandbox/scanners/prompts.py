"""Text that goes to a model: markers of injected instructions and of jailbreaks.

In: text or Markdown. Out: findings for review; a model may still be given the text as data.
Markers are phrases with bounded gaps, so that the time is linear; a rewording passes them, so they are one
sign among others and no boundary.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.source import START, Source

_GAP = r"[\s\W]{1,6}"


def _phrase(*alternatives: str) -> re.Pattern[str]:
    return re.compile(r"(?i)\b(?:" + "|".join(one.replace(" ", _GAP) for one in alternatives) + ")")


_INJECTION: Final = _phrase(
    r"(?:ignore|disregard|forget|override) (?:\w{1,12} ){0,3}(?:previous|prior|above|earlier|system)"
    r" (?:\w{1,12} ){0,1}(?:instructions?|prompts?|rules|messages?|directions|context)",
    r"(?:reveal|print|repeat|show|output|leak) (?:\w{1,12} ){0,3}(?:system|hidden|initial|developer)"
    r" (?:prompt|instructions?|message)",
    r"(?:new|updated|real) (?:system )?instructions?\s{0,4}:",
    r"do not (?:tell|inform|mention|reveal)(?: \w{1,12}){0,3} (?:the )?user",
    r"send (?:\w{1,12} ){0,4}(?:api key|password|credentials|secrets?|conversation) (?:\w{1,12} ){0,2}to",
)
_MARKS: Final = re.compile(
    r"(?i)<\|(?:im_start|im_end|system|assistant|endoftext)\|>|\[/?INST\]|<</?SYS>>"
    r"|(?m:^#{1,4}\s{0,4}(?:system|assistant)\s{0,4}:)"
)
_JAILBREAK: Final = _phrase(
    r"(?:act|behave|respond|pretend)(?: \w{1,12}){0,4} (?:no|without(?: any)?)"
    r" (?:restrictions|filters?|rules|limits|guidelines)",
    r"you are (?:now )?(?:dan|an? (?:unrestricted|unfiltered|uncensored|jailbroken))\b",
    r"(?:enable|enter|activate) (?:developer|dan|god|jailbreak) mode",
    r"do anything now",
    r"(?:bypass|disable|turn off)(?: \w{1,12}){0,2} (?:safety|content|ethical)"
    r" (?:filters?|guidelines|policy|policies|checks)",
)


def scan(context: Context, source: Source) -> None:
    """Report markers, also where they are written in full-width or otherwise compatible letters."""
    text = source.text
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
    same = len(normal) == len(text)
    for rule, pattern, what in (
        ("prompt.injection", _INJECTION, "contains instructions to the model"),
        ("prompt.injection", _MARKS, "contains control tokens of a chat template"),
        ("prompt.jailbreak", _JAILBREAK, "orders the model to ignore its restrictions"),
    ):
        for found in pattern.finditer(normal):
            context.add(rule, source.place(*found.span()) if same else START, what)

"""Patterns of phrases, as the data files of the rails write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

# Within one sentence: a full stop before a blank ends it.
_GAP: Final = r"(?:(?![.!?]\s)[\s\W]){1,6}"
# A blank of a pattern, or a class of characters, in which a blank is itself.
_BLANK: Final = re.compile(r"\[[^\]]*\]| ")


def build_phrase_pattern(
    patterns: Iterable[str], words: Mapping[str, str], before: str = "", after: str = ""
) -> re.Pattern[str]:
    """Compile patterns of which any may match, with a pattern before and after all of them.

    A blank is a gap of one to six characters within a sentence, `{name}` an entry of `words`.
    """
    joined = "|".join(patterns)
    for name, pattern in words.items():
        joined = joined.replace(f"{{{name}}}", pattern)
    joined = _BLANK.sub(lambda found: _GAP if found[0] == " " else found[0], joined)
    return re.compile(f"{before}(?:{joined}){after}")

"""Keeping parts of the content back: by pattern, by key, or by a function of the user's.

In comes one text (a whole value, or a string inside a document); out comes the text to record. It fails
closed: what a pattern or function breaks on is replaced as a whole, and the error is counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from spanproof.instrumentors.diagnostics import swallowed
from spanproof.instrumentors.serialise import well_formed


@dataclass(frozen=True, slots=True)
class Redaction:
    """What must not leave the process.

    It is applied to every input, output, message, argument, result, code, observation, exception message,
    stack trace and status text.

    Attributes:
        patterns: regular expressions; each match is replaced.
        keys: names in documents whose values are replaced whole, upper or lower case alike.
        function: given each text after the patterns, returns what to record.
        replacement: stands in the place of what is kept back.
    """

    patterns: Sequence[str | re.Pattern[str]] = ()
    keys: Sequence[str] = ()
    function: Callable[[str], str] | None = None
    replacement: str = "[redacted]"
    _compiled: tuple[re.Pattern[str], ...] = field(init=False, repr=False, default=())
    _keys: frozenset[str] = field(init=False, repr=False, default=frozenset())

    def __post_init__(self) -> None:
        object.__setattr__(self, "_compiled", tuple(re.compile(pattern) for pattern in self.patterns))
        object.__setattr__(self, "_keys", frozenset(key.lower() for key in self.keys))

    def text(self, value: str) -> str:
        """The text without what must be kept back."""
        try:
            for pattern in self._compiled:
                value = pattern.sub(lambda _: self.replacement, value)
            return value if self.function is None else well_formed(str.__str__(self.function(value)))
        except Exception as error:  # noqa: BLE001 - whatever it is, the text must not go out
            swallowed("redaction", error)
            return self.replacement

    def hides_key(self, key: str) -> bool:
        """Whether the values of a key are kept back."""
        return key.lower() in self._keys

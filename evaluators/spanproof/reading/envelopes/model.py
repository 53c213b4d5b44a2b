"""What a result says of itself, as values; nothing here reads text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MAX_CHARS: Final = 20_000
"""Of a longer text the beginning and the end are read."""
MAX_BARE_CHARS: Final = 2_000
HTTP_ERRORS: Final = range(400, 600)


class EnvelopeStatus(StrEnum):
    """What a result says of itself; `partial`: of several items some were done and some were not."""

    WORKED = "worked"
    FAILED = "failed"
    EMPTY = "empty"
    PARTIAL = "partial"


class EnvelopeForm(StrEnum):
    """In which form it says so."""

    STRUCTURED = "structured"
    EXIT_STATUS = "exit_status"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """What became of one item of a batch."""

    name: str
    done: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a result says of itself.

    Attributes:
        quote: the words that say so; empty where it worked.
        error_type: the exception's name, where it is known.
        producer: who writes it so, as the table names them; empty where no row fits.
        items: of a batch, where the result names them.
        done_count, failed_count: of a batch, None where the result counts none.
    """

    status: EnvelopeStatus
    form: EnvelopeForm = EnvelopeForm.TEXT
    quote: str = ""
    error_type: str | None = None
    producer: str = ""
    items: tuple[ItemOutcome, ...] = ()
    done_count: int | None = None
    failed_count: int | None = None

    @property
    def failed(self) -> bool:
        """Whether it says that it failed."""
        return self.status is EnvelopeStatus.FAILED


WORKED: Final = Envelope(EnvelopeStatus.WORKED)
EMPTY: Final = Envelope(EnvelopeStatus.EMPTY)

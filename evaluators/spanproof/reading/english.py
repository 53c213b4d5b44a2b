"""The parser of English sentences: spaCy with its small English model, loaded when an answer first needs it.

`english_model` holds the files of en_core_web_sm 3.8.0 as published (MIT), without the components that find
sentences and names; `SHA256SUMS` has their checksums.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from spacy.language import Language

MODEL: Final = Path(__file__).parent / "english_model"
_LEFT_OUT: Final = ("ner", "senter")


class ParserUnavailableError(RuntimeError):
    """The parser cannot be loaded; the message says why and what to do."""


@cache
def load_english() -> Language:
    """Load the parser of English, once per process.

    Raises:
        ParserUnavailableError: spaCy is not installed, or a file of the model is not as it was published.
    """
    try:
        import spacy
    except ImportError as missing:
        raise ParserUnavailableError("spaCy is not installed: pip install 'spanproof[language]'") from missing
    for line in (MODEL / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        if hashlib.sha256((MODEL / name).read_bytes()).hexdigest() != digest:
            raise ParserUnavailableError(
                f"{MODEL / name} is not the file that was published: install Spanproof again"
            )
    return spacy.load(MODEL, exclude=_LEFT_OUT)

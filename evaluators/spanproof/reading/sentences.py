"""Read an answer as passages: sentences, headings, items and rows of tables, without the marks of Markdown.

In: the text of an answer. Out: passages in order, each with the places of its characters in the answer, what
is above it and its mood; and the words of a passage with their grammar. English is parsed with spaCy, which
is loaded when a passage first needs it. Of other languages words are only split.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spanproof.reading.english import parse_english
from spanproof.reading.words import get_base_form

MAX_CHARS: Final = 20_000
"""Characters of an answer that are read as sentences; the rest becomes one open passage."""
_MAX_LEAD_WORDS: Final = 7
PATH_MARKS: Final = "/@~"
"""Characters that a name may begin with and that its base form leaves out: `/docs`."""


class Form(StrEnum):
    """How a passage is set."""

    SENTENCE = "sentence"
    HEADING = "heading"
    ITEM = "item"
    ROW = "row"
    CODE = "code"


class Mood(StrEnum):
    """What a passage does."""

    ASSERTING = "asserting"
    QUESTION = "question"
    OFFER = "offer"
    GREETING = "greeting"
    PLAN = "plan"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence of an answer.

    Attributes:
        text: its characters without marks.
        places: for each character of `text`, its index in the answer.
        above: the indices of the heading, the introducing sentence or the item that it is under.
        lead: what `North` is of "**North**: 1,200": the characters `text[lead[0]:lead[1]]`.
        cells: of a row, the header of each cell and its characters in `text`.
    """

    text: str
    places: tuple[int, ...]
    form: Form
    mood: Mood = Mood.ASSERTING
    above: tuple[int, ...] = ()
    lead: tuple[int, int] | None = None
    cells: tuple[tuple[str, int, int], ...] = ()

    @property
    def start(self) -> int:
        """Return where it begins in the answer."""
        return self.places[0]

    @property
    def end(self) -> int:
        """Return where it ends in the answer."""
        return self.places[-1] + 1

    def get_place(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the answer of `text[start:end]`."""
        return self.places[start], self.places[max(start, end - 1)] + 1


# Words are never changed. They are not frozen: a frozen class takes three times as long to make.
@dataclass(slots=True, unsafe_hash=True)
class Word:
    """A word of a passage.

    Attributes:
        form: its base form, as names of fields are compared.
        part: its part of speech and `tag` the finer one, as spaCy names them; empty without a parser.
        relation: how it depends on `head`, the index of the word that it belongs to.
    """

    text: str
    form: str
    lemma: str
    part: str
    tag: str
    relation: str
    head: int
    start: int
    end: int


_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"\s*#{1,6}\s+")
_BULLET = re.compile(r"(?P<indent>[ \t]*)(?:[-*•+–]|\d{1,2}[.)]|\(?[a-z]\))\s+(?!\d{1,2}[.)]?\s*\Z)")
_QUOTE = re.compile(r"\s*>\s?")
_RULE = re.compile(r"\s*(?:[-*_=]\s*){3,}\Z")
_TABLE_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*\Z")
_LINK = re.compile(r"!?\[(?P<text>[^\]\n]*)\]\([^)\s]*\)")
_MARKS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|`+|~~|</?\w{1,6}/?>")
_SYMBOLS = re.compile(r"[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]+\s*")
_ARROWS = frozenset("→←⇒↑↓")
_BOLD_LINE = re.compile(r"\s*(?:\*\*|__)(?P<text>[^*_]+)(?:\*\*|__)\s*:?\s*\Z")
_SPLIT = re.compile(
    r"(?P<mark>[.!?…]+[\"'”’)\]*_]*)\s+(?=[\"'“‘(\[*_]*[A-ZÀ-ÞА-Я0-9¿¡£$€\u2600-\U0001faff])|(?<=[。！？])|(?<=[!?])\s+(?=[a-z`])"
)
_ABBREVIATIONS = frozenset(
    str.split(
        "e.g i.e approx no vs dr mr mrs ms st max min avg incl excl est fig jan feb mar apr jun jul aug sep sept"  # noqa: E501
        " oct nov dec mon tue wed thu fri sat sun inc ltd co bzw ca z.b u.a d.h nr str ca evtl inkl zzgl usw"
        " art p.ej ej sr sra dña av env tél m mme ref vol resp dept prof jr"
    )
)
_LEAD = re.compile(r"(?P<lead>[^:.!?;|]{1,70}?)\s*(?P<mark>:(?=\s)|\s[–—-]\s|\s=\s)")

_QUESTION = re.compile(r"[?？]\s*[\"')\]*_]*\s*\Z")
_OFFER = re.compile(
    r"(?:(?:please\s+)?(?:let me know|feel free|t(?:ell) me|just say|say the word|ping me|reach out)\b"
    r"|(?:if you(?:['’]d| would)? (?:like|want|prefer|need|wish)|if needed|if (?:that|this) (?:helps|works))\b"  # noqa: E501
    r"|(?:i|we)(?:['’]m| am| are| can| could|['’]d be| would be)(?: also)?\s+(?:happy|glad|able to help|here to|available)\b"  # noqa: E501
    r"|(?:happy|glad) to\b|(?:want|would you like|shall|should|do you want) (?:me|us|to|i)\b"
    r"|(?:i|we) can (?:also )?(?!not|['’]t)[^.]*\bif\b|just let me\b|anything else\b"
    r"|(?:sag|sagen sie|gib|geben sie|melde|melden sie)\b[^.]*\b(?:bescheid|sich|dich|mir)\b|soll ich\b|gerne?\b"  # noqa: E501
    r"|(?:dime|avísame|házmelo|dis-moi|dites-moi|n['’]hésite)\b|si (?:quieres|lo deseas|tu veux|vous (?:voulez|souhaitez))\b)",  # noqa: E501
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|question|catch)|thanks?|thank you|sure|of course|certainly|absolutely"  # noqa: E501
    r"|sorry|i['’]m sorry|apologies|you['’]re welcome|no problem|great|okay|ok|alright|cheers|got it|understood|enjoy|hope (?:this|that) helps"  # noqa: E501
    r"|here (?:is|are|you go)|here['’]s|short version|in short|quick (?:summary|overview)|summary|good news|bad news|heads[- ]up"  # noqa: E501
    r"|hallo|guten (?:tag|morgen)|danke|gern(?:e geschehen)?|klar|natürlich|hola|gracias|claro|bonjour|merci|bien sûr)\b"  # noqa: E501
    r"[^.!?:;,0-9]{0,40}[.!,:;)\s]*)+\Z",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"(?:(?:i|we)(?:['’]ll| will| would|['’]d|['’]m going to| am going to| suggest| recommend| propose| plan| can| could(?! not|n['’]t))\b"  # noqa: E501
    r"|(?:you|they) (?:may|might|could|should|can|need|will want|['’]ll want)\b|please\b|(?:it['’]s|it is|worth|might be|may be|would be) worth\b"  # noqa: E501
    r"|my (?:suggestion|recommendation|advice)\b|next steps?\b|consider\b|ich (?:würde|werde|empfehle|schlage)\b|bitte\b"  # noqa: E501
    r"|te recomiendo|recomiendo|je (?:recommande|suggère|vais)\b|ask me\b|keep an eye\b)",
    re.IGNORECASE,
)
_REFUSING = re.compile(r"\b(?:can|could|will|would|do|did)(?:not| not|n['’]t)\b", re.IGNORECASE)


def read_passages(answer: str) -> list[Passage]:
    """Return the passages of an answer, in order."""
    reader = _PassageReader(answer)
    lines = list(_iter_lines(answer[:MAX_CHARS]))
    for number, (start, line) in enumerate(lines):
        reader.add_line(line, start, lines[number + 1][1] if number + 1 < len(lines) else "")
    if len(answer) > MAX_CHARS:
        rest = answer[MAX_CHARS:]
        _add_passage(
            reader.found, (rest, tuple(range(MAX_CHARS, len(answer)))), Form.SENTENCE, Mood.ASSERTING, ()
        )
    return reader.found


class _PassageReader:
    """Reads an answer line by line, and knows what the next line is under."""

    def __init__(self, answer: str) -> None:
        self.found: list[Passage] = []
        self._answer = answer
        self._stack: list[tuple[int, int]] = []  # depth and index of what the next line is under
        self._header: list[str] | None = None
        self._in_code = False

    def add_line(self, line: str, start: int, following: str) -> None:
        if _FENCE.match(line):
            self._in_code = not self._in_code
        elif not line.strip():
            self._header = None
        elif self._in_code:
            _add_passage(self.found, _without_marks(line, start), Form.CODE, Mood.CODE, ())
        elif _RULE.match(line) and "|" not in line:
            self._stack = []
        elif not self._handle_row(line, start, following):
            self._header = None
            self._add_sentences(line, start)

    def _handle_row(self, line: str, start: int, following: str) -> bool:
        """Add a row of a table; return whether the line is one, or its head or rule."""
        bare = line.strip()
        is_row = "|" in bare.strip("|") or (bare.startswith("|") and self._header is not None)
        if not is_row:
            return False
        if _TABLE_RULE.match(line):
            return True
        if self._header is not None:
            above = tuple(index for _, index in self._stack)
            _add_row(self.found, self._answer, line, start, self._header, above)
            return True
        if _TABLE_RULE.match(following):
            cells = _iter_cells(line, start)
            self._header = [_without_marks(self._answer[low:high], low)[0].strip() for low, high in cells]
            return True
        return False

    def _add_sentences(self, line: str, start: int) -> None:
        depth, form, offset = _read_line_form(line)
        while self._stack and self._stack[-1][0] >= depth:
            self._stack.pop()
        above = tuple(index for _, index in self._stack)
        first = len(self.found)
        for text, places in _iter_sentences(*_without_marks(line[offset:], start + offset)):
            if text.strip():
                _add_passage(self.found, (text, places), form, None, above)
        if len(self.found) == first:
            return
        introduces = form is Form.HEADING or self.found[-1].text.rstrip().endswith((":", "："))
        if form is Form.ITEM:
            self._stack.append((depth, first))
        elif introduces:
            self._stack.append((depth, len(self.found) - 1))


def _iter_lines(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    for line in text.splitlines(keepends=True):
        yield at, line.rstrip("\r\n")
        at += len(line)


# Depths of what a line is under: a heading holds all that follows, an introducing sentence the items below.
_HEADING_DEPTH: Final = 0
_SENTENCE_DEPTH: Final = 10
_ITEM_DEPTH: Final = 20


def _read_line_form(line: str) -> tuple[int, Form, int]:
    """Return how deep a line is, its form, and where its text begins."""
    offset = 0
    if (quoted := _QUOTE.match(line)) is not None:
        offset = quoted.end()
    rest = line[offset:]
    if (heading := _HEADING.match(rest)) is not None:
        level = rest[: heading.end()].count("#")
        return _HEADING_DEPTH + level, Form.HEADING, offset + heading.end()
    if _BOLD_LINE.match(rest) is not None:
        return _SENTENCE_DEPTH - 1, Form.HEADING, offset
    if (bullet := _BULLET.match(rest)) is not None:
        indent = len(bullet["indent"].expandtabs(4))
        return _ITEM_DEPTH + indent, Form.ITEM, offset + bullet.end()
    indent = len(rest) - len(rest.lstrip())
    return (_ITEM_DEPTH + indent if indent else _SENTENCE_DEPTH), Form.SENTENCE, offset


def _without_marks(text: str, start: int) -> tuple[str, tuple[int, ...]]:
    """Return a text without marks, and for each character its place in the answer."""
    kept = [True] * len(text)
    for match in _LINK.finditer(text):
        low, high = match.span("text")
        kept[match.start() : match.end()] = [False] * (match.end() - match.start())
        kept[low:high] = [True] * (high - low)
    for pattern in (_MARKS, _SYMBOLS):
        for match in pattern.finditer(text):
            if not (pattern is _SYMBOLS and _ARROWS.intersection(match.group())):
                kept[match.start() : match.end()] = [False] * (match.end() - match.start())
    places = tuple(at for at, is_kept in enumerate(kept) if is_kept)
    return "".join(text[at] for at in places), tuple(start + at for at in places)


def _iter_sentences(text: str, places: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    at = 0
    for match in _SPLIT.finditer(text):
        words = text[at : match.start()].split()
        last = words[-1].lower().strip("(\"'") if words else ""
        if match.group("mark") == "." and _is_abbreviation(last):
            continue
        yield text[at : match.end()], places[at : match.end()]
        at = match.end()
    yield text[at:], places[at:]


def _is_abbreviation(word: str) -> bool:
    """Whether a full stop after a word ends no sentence: `approx.`, an initial, a day or an ordinal."""
    is_initial = len(word) == 1 and word.isalpha()
    is_ordinal = len(word) < 3 and word.isdigit()
    return word in _ABBREVIATIONS or is_initial or is_ordinal


def _add_passage(
    found: list[Passage],
    cleaned: tuple[str, tuple[int, ...]],
    form: Form,
    mood: Mood | None,
    above: tuple[int, ...],
) -> None:
    text, places = cleaned
    low = len(text) - len(text.lstrip())
    high = len(text.rstrip())
    if low >= high:
        return
    text, places = text[low:high], places[low:high]
    found.append(Passage(text, places, form, mood or read_mood(text), above, _find_lead(text, form)))


def _add_row(
    found: list[Passage], answer: str, line: str, start: int, header: list[str], above: tuple[int, ...]
) -> None:
    text, places, cells = "", list[int](), list[tuple[str, int, int]]()
    for number, (low, high) in enumerate(_iter_cells(line, start)):
        cell, cell_places = _without_marks(answer[low:high], low)
        name = header[number] if number < len(header) else ""
        if not cell.strip():
            continue
        if text:
            text, places = text + " | ", [*places, cell_places[0], cell_places[0], cell_places[0]]
        cells.append((name, len(text), len(text) + len(cell)))
        text, places = text + cell, [*places, *cell_places]
    if text.strip():
        lead = cells[0][1:] if cells else None
        found.append(Passage(text, tuple(places), Form.ROW, Mood.ASSERTING, above, lead, tuple(cells)))


def _iter_cells(line: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the place in the answer of each cell of a row."""
    stripped = line.strip()
    at = start + line.index(stripped)
    inner = stripped.strip("|")
    at += stripped.index(inner) if inner else 0
    for cell in inner.split("|"):
        low = at + len(cell) - len(cell.lstrip())
        yield low, low + len(cell.strip())
        at += len(cell) + 1


def _find_lead(text: str, form: Form) -> tuple[int, int] | None:
    """Return what a passage begins with and sets apart as its subject."""
    match = _LEAD.match(text)
    if match is None or match.end() >= len(text):
        return None
    is_short = len(match["lead"].split()) <= _MAX_LEAD_WORDS
    if is_short and form in (Form.ITEM, Form.SENTENCE):
        return match.span("lead")
    return None


def read_mood(text: str) -> Mood:
    """Return what a sentence does: an offer, a question, a greeting or a plan asserts nothing."""
    stripped = text.lstrip("\"'“‘(¿¡ ")
    if _QUESTION.search(text):
        return Mood.QUESTION
    if _GREETING.fullmatch(stripped):
        return Mood.GREETING
    if _OFFER.match(stripped):
        return Mood.OFFER
    if _PLAN.match(stripped) and not _REFUSING.match(stripped.partition(" ")[2]):
        return Mood.PLAN
    return Mood.ASSERTING


_LANGUAGE_WORDS: Final = {
    "en": "a what how which who does did many much the is are was and of to in that for with it on not you i have has this be by from at which were your",  # noqa: E501
    "de": "der die das und ist nicht mit von auf ein eine für sind wurde den dem im zu sie ich auch noch bei wird",  # noqa: E501
    "fr": "le la les des est et une pour dans que pas sur avec vous du au sont été ce qui il elle nous votre",
    "es": "el la los las es y una para en que no con por del se su son fue está al un más han como hay",
    "pt": "o a os as é e uma para em que não com por do da se seu são foi no um mais na dos",
    "it": "il lo la gli è e una per in che non con di del si sono stato al un più nel della ha",
    "nl": "de het een en is van niet met voor op zijn dat te er aan bij ook naar die werd",
}
_WORDS_BY_LANGUAGE: Final = {name: frozenset(words.split()) for name, words in _LANGUAGE_WORDS.items()}
_OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LETTERS = re.compile(r"[^\W\d_]+")
_FOREIGN_LETTERS = re.compile(r"[äöüßéèêçñáíóúãõ¿¡]", re.IGNORECASE)


def classify_language(text: str) -> str:
    """Return the language of a text by its function words; empty where it is written in another script."""
    if len(_OTHER_SCRIPT.findall(text)) > len(text) / 20:
        return ""
    words = [word.lower() for word in _LETTERS.findall(text[:4_000])]
    counts = {name: sum(word in common for word in words) for name, common in _WORDS_BY_LANGUAGE.items()}
    best = max(counts.values())
    if counts["en"] == best and (best > 0 or not _FOREIGN_LETTERS.search(text)):
        return "en"
    return max(counts, key=lambda name: counts[name])


_SURROGATE = re.compile("[\ud800-\udfff]")
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_PLAIN_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:['’][^\W\d_]+)?")


def parse_words(passages: Sequence[Passage], language: str) -> list[list[Word]]:
    """Return the words of each passage; with their grammar where the language is English."""
    if language != "en":
        return [_split_plainly(passage.text) for passage in passages]
    # The parser takes no lone surrogates; each is replaced by one character, so that places stay.
    texts = [_SURROGATE.sub("\ufffd", passage.text) for passage in passages]
    found: list[list[Word]] = []
    with parse_english(texts) as docs:
        for doc in docs:
            words = [
                Word(token.text, get_base_form(token.text.lstrip(PATH_MARKS)), token.lemma_.lower(),
                     token.pos_, token.tag_, token.dep_, token.head.i, token.idx, token.idx + len(token.text))
                for token in doc
            ]  # fmt: skip
            found.append(words)
    return found


def _split_plainly(text: str) -> list[Word]:
    return [
        Word(
            match.group(), get_base_form(match.group()), match.group().lower(), "", "", "", at, *match.span()
        )
        for at, match in enumerate(_PLAIN_WORD.finditer(text))
    ]


# A passage with fewer words has no grammar.
_FEWEST_WORDS_TO_PARSE: Final = 2


def has_words(passage: Passage) -> bool:
    """Return whether a passage has so many words that it is worth parsing."""
    return sum(word[:1].isalpha() for word in passage.text.split()) >= _FEWEST_WORDS_TO_PARSE

"""Orders to a model by their structure: an address (`Note to AI agents:`), and behind it an order.

In: text in lower case. Out: orders. The nouns, the verbs and what is hostile are in
`data/addresses.txt`. Each noun is judged by a bounded stretch of text on both
sides, so that the time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.phrases import compile_phrases

# Characters before a noun in which its clause begins, and behind it in which its address ends.
_LEAD: Final = 110
_TAIL: Final = 150
# Characters behind an address in which its order begins, and in which a hostile one shows itself.
_ORDER: Final = 200
_HOSTILE: Final = 400

_SECTIONS: Final = read_sections("addresses")
_WORDS: Final = _SECTIONS["words"]


def _compile(section: str, before: str = "", after: str = "") -> re.Pattern[str]:
    return compile_phrases(_SECTIONS[section].values(), _WORDS, before, after)


_NOUN: Final = re.compile(
    r"(?<![\w./-])(?:"
    + "|".join(
        f"(?P<{kind}>{compile_phrases([pattern], _WORDS).pattern})"
        for kind, pattern in _SECTIONS["nouns"].items()
    )
    + rf")(?!\w|{compile_phrases(_SECTIONS['not-models'].values(), _WORDS).pattern})"
)
_MODEL_KIND: Final = _compile("after-sure", r"(?<![\w-])", r"(?:[ -]\w{1,14}){0,2}[ -]$")
_PEOPLE: Final = _compile("people", r"(?<![\w-])", r"[ -]$")
# What one does with a model that is not spoken to: `if you are using an AI assistant`.
_USING: Final = re.compile(
    r"\b(?:us(?:e|es|ing)|have|has|work(?:s|ing)? with|build(?:s|ing)?|run(?:s|ning)?|ask(?:s|ing)?)\b"
)
# What makes a clause one of a statement: `how often the agent may call`.
_EMBEDDED: Final = re.compile(r"\b(?:how|whether|what|where|why|which)\b")
# Where a clause begins: at a mark, a comment's beginning or a new line.
_CLAUSE: Final = re.compile(r"[\n.!?;:>\"'“”‘«»()\[\]{}|*#=<`,@★–—•]|//|--|/\*")
_NOTE: Final = _compile("note", r"^(?:.{0,40}\b)?", r"\s?$")
_DIRECTED: Final = _compile("directed", r"^", r"\s?$")
_GREETING: Final = _compile("greeting", r"^", r"\s?$")
_CONDITION: Final = _compile("condition", r"(?:^|\b)", r"\s?$")
_VOCATIVE: Final = re.compile(
    r"^(?:(?:the|any|every|all|each|other|this|an?) )?(?:[\w'&/-]{1,16} {1,3}){0,3}$"
)
# One or two words that say which model is called: `notetaker ai, …`, `grading assistant, …`.
_NAMED: Final = re.compile(r"^(?:the )?(?:[\w-]{2,16} ){1,2}$")
_STATEMENT: Final = _compile("statement")

_TAILS: Final = {name: compile_phrases([pattern], _WORDS) for name, pattern in _SECTIONS["tail"].items()}
# Characters behind a noun in which a statement says what models must do.
_MODAL_WITHIN: Final = 70
_SENTENCE_END: Final = re.compile(r"[\n.:!?]")
_VERB: Final = _compile(
    "verbs",
    compile_phrases([_WORDS["asked"]], _WORDS).pattern,
    r"(?:e?d)?(?![\w'])|\bwould you mind (?:also )?[a-z]{3,14}ing\b"
    r"|\byou are (?:now )?[a-z]{2,12}(?: now)?[,.]",
)
_BARE: Final = _compile("verbs", r"[\s,:;!–—-]{1,3}(?:please |now |to )?", r"(?![\w'])")
_MILD: Final = _compile("mild", r"^[\s\W]{0,4}", r"\b")
_TO_MODELS: Final = _compile("to-models", r"(?<!\w)")
_HOSTILE_WORDS: Final = _compile("hostile", r"(?<!\w)")
_MARK: Final = _compile("mark")
_MINE: Final = _compile("mine")
_OURS: Final = _compile("ours")
_THIRD: Final = _compile("third", r"(?<!\w)")


class Order(NamedTuple):
    """An order to a model: where its address begins, and where its verb ends."""

    start: int
    end: int


class _Address(NamedTuple):
    end: int
    form: str
    is_for_models: bool


def iter_orders(text: str, is_hostile: Callable[[str], bool]) -> Iterator[Order]:
    """Yield the orders in a text in lower case; `is_hostile` knows further signs of a hostile one."""
    readable = text.replace("_", " ").replace("’", "'")
    for noun in _NOUN.finditer(readable):
        address = _find_address(readable, noun)
        if address is None:
            continue
        order = readable[address.end : address.end + _HOSTILE]
        verb = _VERB.search(order[:_ORDER])
        if verb is None:
            continue
        is_spoken = address.form in {"greeting", "called"}
        if is_spoken and is_own_request(order, is_for_models=address.is_for_models):
            continue
        is_for_models = _TO_MODELS.search(order) is not None
        if address.form == "modal":
            if is_for_models:
                yield Order(noun.start(), address.end + verb.end())
            continue
        hostile = is_for_models or _HOSTILE_WORDS.search(order) is not None or is_hostile(order)
        is_mild = not address.is_for_models or _MILD.match(order[verb.start() :]) is not None
        if hostile or not is_mild:
            yield Order(noun.start(), address.end + verb.end())
    for mark in _MARK.finditer(readable):
        if has_order_to_model(readable, mark.end()):
            yield Order(*mark.span())
    yield from _iter_foreign_orders(readable)


def has_order_to_model(text: str, start: int) -> bool:
    """Whether an order that only a model is given begins behind a place in a text in lower case."""
    order = text[start : start + _HOSTILE]
    return _TO_MODELS.search(order) is not None


def is_hostile_order(text: str) -> bool:
    """Whether a text in lower case begins with an order, and a hostile one."""
    return _BARE.match(" " + text[:_ORDER]) is not None and (
        _HOSTILE_WORDS.search(text) is not None or _TO_MODELS.search(text) is not None
    )


def is_own_request(order: str, *, is_for_models: bool) -> bool:
    """Whether an order is a customer's to a bot, or a colleague's to an assistant, on an own affair."""
    is_own = _MINE.search(order) or (not is_for_models and _OURS.search(order))
    return bool(is_own) and _THIRD.search(order) is None


def _find_address(text: str, noun: re.Match[str]) -> _Address | None:
    """Return the address that a noun is, or None where it is only mentioned."""
    window = text[max(noun.start() - _LEAD, 0) : noun.start()]
    marks = list(_CLAUSE.finditer(window))
    lead = window[marks[-1].end() :].lstrip() if marks else window.lstrip()
    is_model = noun["sure"] is not None or (
        noun["shared"] is not None and _MODEL_KIND.search(lead) is not None
    )
    if noun["shared"] is not None and not is_model and _PEOPLE.search(lead):
        return None
    tail = text[noun.end() : noun.end() + _TAIL]
    workers = _TAILS["listed"].match(tail) or _TAILS["workers"].match(tail)
    rest = tail[workers.end() :] if workers else tail
    if len(rest) < len(tail) and noun["product"]:
        is_model = True
    found = _find_form(lead, rest, marks[-1][0] if marks else "")
    if found is None:
        return None
    form, length = found
    end = noun.end() + len(tail) - len(rest) + length
    return _Address(end, form, is_model and form not in {"modal", "called"})


def _find_form(lead: str, rest: str, before: str) -> tuple[str, int] | None:
    """Return the form of an address and its length behind the noun; `before` is the mark before it."""
    colon, comma = _TAILS["colon"].match(rest), _TAILS["comma"].match(rest)
    if before == "@" and not lead:
        return "called", comma.end() if comma else 0
    conditional = _TAILS["condition"].match(rest)
    if conditional and _CONDITION.search(lead) and not _USING.search(lead):
        return "condition", conditional.end()
    modal = _find_modal(rest)
    if modal and not _EMBEDDED.search(lead) and (colon is None or modal.end() < colon.end()):
        return ("reader" if _TAILS["reader"].match(rest) else "modal"), modal.start()
    return _find_opening(lead, rest, colon or comma) or _find_call(lead, colon, comma, before)


def _find_opening(lead: str, rest: str, separator: re.Match[str] | None) -> tuple[str, int] | None:
    """Return the form of an address that opens as a note or a letter does: `Note to …:`, `Dear …,`."""
    stated = _TAILS["stated"].match(rest) if not lead else None
    if stated is not None:
        return "note", stated.end()
    if separator is None:
        return None
    if _NOTE.search(lead) or _DIRECTED.search(lead):
        return "note", separator.end()
    if _GREETING.search(lead):
        return ("greeting", separator.end())
    return None


def _find_modal(rest: str) -> re.Match[str] | None:
    """Return the `should` or `must` behind the noun, in its own sentence."""
    sentence = _SENTENCE_END.search(rest, 0, _MODAL_WITHIN)
    found: re.Match[str] | None = _TAILS["modal"].search(
        rest, 0, sentence.start() if sentence else _MODAL_WITHIN
    )
    return found


def _find_call(
    lead: str, colon: re.Match[str] | None, comma: re.Match[str] | None, before: str
) -> tuple[str, int] | None:
    """Return the form of an address that is the name alone: `Assistant: …`, or `the assistant, …`."""
    is_vocative = _VOCATIVE.match(lead) is not None and _STATEMENT.search(lead) is None
    # The heading of a page may be the name of the product that it is about.
    mentions = (")", "]", "\n") if before + lead == "#" else (")", "]")
    if is_vocative and colon and not colon[0].endswith(mentions):
        return "vocative", colon.end()
    if comma and lead in {"", "the "} and before not in {"(", "[", "{", "=", "<"}:
        return "greeting", comma.end()
    if (
        comma
        and _NAMED.match(lead)
        and not _STATEMENT.search(lead)
        and before not in {",", "(", "[", "{", "=", "<"}
    ):
        return "called", comma.end()
    return None


# In other languages a model is called on at the beginning of a clause, and a colon or comma follows.
_FOREIGN_NOUN: Final = _compile("foreign-noun", r"(?<![\w-])", r"(?!\w)")
# What says what a model does that is called on: `IA que resume …`.
_RELATIVE: Final = re.compile(
    r",? (?:que|qui|che|die|der|das|která|który|которая|который)\b|,? \w{3,16}(?:ющ|вш)(?:ий|ая|ие)\b"
)
_COMMENT_OPENS: Final = re.compile(r"(?:<!--|/\*|//|--|#)\s{0,4}$")
_FOREIGN_LEAD: Final = _compile("foreign-lead", r"^", r"$")
_ABSTRACT_NOUN: Final = _compile("abstract-noun")
# Not before a particle that makes it a topic: `AI的应用`.
_UNSPACED_NOUN: Final = _compile("unspaced-noun", after="(?![的のがはを은는이가을를])")
_FOREIGN_TAIL: Final = re.compile(r"[^\n.!?:;,。]{0,60}?(?:[:,;!：，、；！。\])»”]|\s[–—-]\s|\s\.\s)")
# At the beginning of a clause, as imperatives are.
_FOREIGN_ORDER: Final = _compile(
    "foreign-order",
    r"(?:^|[.;:!?,\n(«“\"]|\b(?:und|oder|y|o|e|et|ou|и|i|en|ve|dan)\b)\s{0,3}(?:(?:bitte|dann|nun|immer|siempre|ahora|toujours|sempre|ora|proszę)\s)?",
)
_OTHER_ORDER: Final = _compile("other-order", r"(?<!\w)")
_UNSPACED_ORDER: Final = _compile("unspaced-order")
_FOREIGN_MINE: Final = _compile("foreign-mine")
# Characters before a noun of a script without blanks in which its sentence begins.
_UNSPACED_LEAD: Final = 16


def _iter_foreign_orders(text: str) -> Iterator[Order]:
    """Yield the orders in other languages than English."""
    for noun in _FOREIGN_NOUN.finditer(text):
        window = text[max(noun.start() - _LEAD, 0) : noun.start()]
        marks = list(_CLAUSE.finditer(window))
        lead = window[marks[-1].end() :] if marks else window
        is_alone = not lead.strip() and not window.endswith("'")
        is_headline = (
            is_alone
            and _COMMENT_OPENS.search(window) is None
            and _ABSTRACT_NOUN.fullmatch(noun[0]) is not None
            and _RELATIVE.match(text, noun.end()) is None
        )
        if _FOREIGN_LEAD.match(lead.lstrip()) and not is_headline:
            yield from _iter_orders_behind(text, noun, _FOREIGN_ORDER)
            yield from _iter_orders_behind(text, noun, _OTHER_ORDER)
    for noun in _UNSPACED_NOUN.finditer(text):
        window = text[max(noun.start() - _UNSPACED_LEAD, 0) : noun.start()]
        if len(window) < _UNSPACED_LEAD or _CLAUSE.search(window) or "。" in window or "：" in window:
            yield from _iter_orders_behind(text, noun, _UNSPACED_ORDER)


def _iter_orders_behind(text: str, noun: re.Match[str], orders: re.Pattern[str]) -> Iterator[Order]:
    tail = _FOREIGN_TAIL.match(text[noun.end() : noun.end() + _TAIL])
    start = noun.end() + (tail.end() if tail else 0)
    order = text[start : start + _ORDER]
    verb = orders.search(order)
    if tail and verb and _FOREIGN_MINE.search(order) is None:
        yield Order(noun.start(), start + verb.end())

"""Find the typed values that a text writes: numbers, amounts with units, dates, times, identifiers.

In: a text. Out: mentions, in order, that do not overlap. One pass of one regular expression over the folded
text; it also consumes the words that write no value, so that each word is looked at once. Numbers inside
longer words belong to identifiers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import isfinite
from typing import Final

from spanproof.reading.dates import (
    CRON,
    DATE_FORMS,
    DIGIT_FORMS,
    LETTER_FORMS,
    MONTHS,
    find_date,
    parse_duration,
    parse_iso_duration,
    parse_time,
)
from spanproof.reading.numerals import NUMERAL, normalise_text, read_numeral, read_power
from spanproof.reading.patterns import build_word_pattern
from spanproof.reading.spelled import CJK_NUMBER, SPELLED, SPELLED_WORDS, parse_cjk_number, parse_spelled
from spanproof.reading.text_cache import cache_short_texts
from spanproof.reading.units import CASED_UNITS, CURRENCIES, MONEY_WORDS, SCALES, UNITS
from spanproof.reading.values import Kind, Mention, Value

MAX_MENTIONS = 20_000

# A letter of a script that parts words: Chinese and Japanese write numbers right after words.
_CJK = r"\u3040-\u30ff\u4e00-\u9fff"
_LETTER = rf"[^\W\d_{_CJK}½¼¾⅓⅔]"
_WORD = rf"[^\W{_CJK}]"
_CURRENCY = build_word_pattern(CURRENCIES)
_MONEY = build_word_pattern(MONEY_WORDS)
_SCALE = build_word_pattern(SCALES)
_UNIT = build_word_pattern(UNITS)
# Words that a mention may begin with; all others are skipped.
_BEGINS = build_word_pattern(
    {**MONTHS, **dict.fromkeys(SPELLED_WORDS, 0), **dict.fromkeys(filter(str.isalpha, CURRENCIES), 0)}
)
# Words after a number that may belong to it.
_NUMBER_TAILS = str.split(
    "am pm a.m p.m per percent percentage prozent prozentpunkte basis bp pp of de us u.s x and h"
)
_FOLLOWS = build_word_pattern([*UNITS, *SCALES, *CURRENCIES, *MONEY_WORDS, *MONTHS, *_NUMBER_TAILS])
# An identifier may be long, but what makes it one is near its beginning: a bound keeps the search linear.
_ID_PART = r"[a-z0-9_#./:-]{0,80}?"

_MENTION = re.compile(
    rf"""
      (?P<skip>(?>(?:[^\S\n]+|(?!(?:{_BEGINS})\b|an?\s(?:dozen|hundred|[mb]illion|thousand|third|quarter|fifth|half|tenth)\b)
          {_LETTER}+(?=[\s,;!?)]|[.:](?:\s|\Z)|\Z)[,;!?).:]*|[{_CJK}](?<![〇零一二两三四五六七八九十百千万億亿]))+))
    | (?=\d)(?:
        (?P<plain>(?<![\w.])\d{{1,8}}(?:\.\d{{1,8}})?(?:(?=[)\]}}|;"'\n\t]|,(?:\s|\Z)|\.?\Z|\.\s)(?!'\d|\)\s?%|\.\s(?:of\s|de\s)?{_LETTER}{{3}})
            |(?=[ ][a-z("'])(?![ ](?:{_FOLLOWS})(?:s|es)?\b)))
      | {DIGIT_FORMS}
      | (?=\d[\d,/-]{{0,20}}[ ][\d*])(?P<cron_from_digit>{CRON})
      | (?P<id_from_digit>(?<!{_WORD})(?<!\.)(?!\d{{1,3}}(?:_\d{{3}})+(?!\w))(?={_ID_PART}[a-z_])(?!\d+(?:\.\d+)?[-_]?(?:(?:{_UNIT}|{_SCALE})(?:s|es)?|st|nd|rd|th|x|way|stop|e[+-]?\d+)(?!{_WORD}))
          [a-z0-9_]+(?:[-_./:]+[a-z0-9_]+)*)
      | (?=\d{{9}}|\d+[-.])(?P<long>(?<![\w.,$€£-])(?:\d{{9,}}|(?!\d{{1,3}}(?:\.\d{{3}})+(?:,\d+)?(?![.\d]))\d+(?:\.\d+){{2,3}}(?::\d+)?(?!\.\d)|\d+(?:-\d+){{2,}}|\d+-0\d{{2,}})(?!\w|,\d|\.\d))
      )
    | (?={_LETTER}|_)(?:
        (?P<url>\bhttps?://[^\s<>"')\]]+|\b[a-z0-9.+_-]{{1,64}}@[\w-]+(?:\.[\w-]+)+)
      | {LETTER_FORMS}
      | (?P<id_from_letter>(?<!{_WORD})(?<!\.)(?={_ID_PART}\d)(?!(?:{_CURRENCY})\s?\d)[a-z0-9_]+(?:[-_./:]+[a-z0-9_]+)*)
      | {SPELLED}
      )
    | {CJK_NUMBER}
    | (?P<cron>(?=\*){CRON})
    | (?P<id>\#(?<!{_WORD}\#)(?={_ID_PART}\d)[a-z0-9_]+(?:[-_./:]+[a-z0-9_]+)*)
    | (?P<num>(?P<open>\((?!\d+\.\d{{1,2}}\.)(?=[^():]{{1,20}}\)))?(?<!{_WORD})(?P<about>[~≈≃∼]\s?)?(?P<sign>[-–+](?=[\d.$€£¥]))?
        (?:(?P<cur>{_CURRENCY})\s{{0,3}}(?:(?P<sign2>-)|(?P<owed>\((?=[\d.,]{{1,20}}\))))?)?
        (?<![\d.])(?P<n>{NUMERAL})(?!\d)(?(owed)\))
        (?P<power>\s?[x×*·]\s?10(?:\^\{{?[-+]?\d{{1,3}}\}}?|\*\*-?\d{{1,3}}|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,3}})|(?<=10)(?:\^\{{?-?\d{{1,3}}\}}?|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,3}})(?!\w))?
        (?P<lost>(?(open)(?:\)(?=\s?(?:%|(?:{_SCALE})\b)))?))
        (?:[\s\u202f]?(?P<percent>%(?:[-\s]points?\b)?|\b(?:p(?:er(?:cent(?:age\s+points?)?|\s?cent)|rozent(?:punkte)?|p)|b(?:asis\s+points?|p))\b)
          |(?:[\s\u202f-]?(?P<scale>{_SCALE})(?<=[{_CJK}])|[\s\u202f-]?(?P<scale2>{_SCALE})\b(?!/[sh]\b)\.?(?:\sde\b)?)?
           (?:[\s\u202f]?(?P<cur2>{_CURRENCY})(?!\w)|[\s\u202f-](?P<money>(?:u\.?s\.?\s)?{_MONEY})\b)?
           (?:[\s\u202f-]?(?!(?:vs|has)\b)(?P<unit>{_UNIT})(?:s|es)?(?!{_WORD}))?
        )?)
    | (?P<rest>{_LETTER}+|\d+)
    """,  # noqa: E501
    re.VERBOSE,
)
_NO_VALUE = frozenset(("skip", "rest"))
# Kinds of which one says what a number next to it measures.
_RELATED = frozenset((Kind.DATE, Kind.QUANTITY, Kind.MONEY, Kind.PERCENT))
_NAMED_MONTHS = frozenset(("named_date", "month_date", "cjk_date"))
_POINTS_PER_PERCENT = 0.01  # a basis point is a hundredth of a per cent
# Scale words that are units as well: "5 m" is five metres, "$5m" five million dollars.
_SINGLE_LETTER_SCALES = frozenset("mkb") | {"mm"}


def list_mentions(text: str) -> list[Mention]:
    """Return the typed values of a text, in order."""
    folded = normalise_text(text)
    found: list[Mention] = []
    kinds: set[Kind] = set()
    names_month = False
    for match in _MENTION.finditer(folded):
        form = match.lastgroup or ""
        if form in _NO_VALUE:
            continue
        if form == "plain":
            found.append(Mention(_build_plain_number(match[0]), *match.span()))
            kinds.add(Kind.NUMBER)
            continue
        names_month = names_month or form in _NAMED_MONTHS
        mention = _find_mention(form, match, text, folded)
        if mention is None:
            continue
        found.append(mention)
        kinds.add(mention.value.kind)
        if len(found) >= MAX_MENTIONS:
            break
    if len(found) < 2 or kinds.isdisjoint(_RELATED):
        return found
    if Kind.QUANTITY in kinds:
        found = _with_joined_durations(text, found)
    if names_month and Kind.NUMBER in kinds:
        found = _with_shared_months(text, found)
    if _RANGE.search(text):
        return _with_shared_units(text, found)
    return found


def _find_mention(form: str, match: re.Match[str], text: str, folded: str) -> Mention | None:
    """Return the value that a form of the pattern matched; None where it is none."""
    written, (start, end) = match[0], match.span()
    if form == "num":
        number = _parse_number(match, text)
        # One that no float holds is compared with none: it stays a word.
        if isfinite(number.value.number) and isfinite(number.value.step):
            return number
        return None
    if form in DATE_FORMS:
        date = find_date(form, written)
        if date:
            return Mention(Value(Kind.DATE, date=date), start, _get_trimmed_end(folded, end))
        return None
    if form in ("time", "clock", "compact_time"):
        return Mention(parse_time(form, written), start, _get_trimmed_end(folded, end, ""))
    if form == "letters":
        return Mention(parse_spelled(written), start, end, spelled=True)
    if form == "cjk_number":
        return Mention(parse_cjk_number(written), start, end, spelled=True)
    if form == "duration":
        return Mention(parse_duration(written), start, end)
    if form == "iso_duration":
        return Mention(parse_iso_duration(written), start, end)
    return _parse_identifier(written, start)


@cache_short_texts(8192)
def list_cached_mentions(text: str) -> tuple[Mention, ...]:
    """Return what `list_mentions` returns; for the short texts of cells and sentences, which repeat."""
    return tuple(list_mentions(text))


def _build_plain_number(digits: str) -> Value:
    """Return the value of digits with at most a point among them."""
    if "." not in digits:
        return Value(Kind.NUMBER, float(digits), 1.0)
    amount, step, other = read_numeral(digits)
    return Value(Kind.NUMBER, amount, step, other=other)


def _get_trimmed_end(text: str, end: int, marks: str = ".") -> int:
    """Return the end without blanks and full stops, which end the sentence as well."""
    while text[end - 1].isspace() or text[end - 1] in marks:
        end -= 1
    return end


# Durations as programs print them: `4h30m`, `2m05s`.
_SPENT = re.compile(
    r"(?=\d+h\d|\d+m\d|\d+d\d)(?:(?P<d>\d+)d)?(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+(?:\.\d+)?)s)?"
)
_SPENT_UNITS = (("d", 86400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0))
# Bytes as `df -h` and `kubectl top` print them: `22T`, `873Mi`.
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<prefix>[gtp]i?|[km]i)")


def _parse_identifier(text: str, start: int) -> Mention:
    """Return an identifier, or the size or duration that is written like one."""
    size = _SIZE.fullmatch(text)
    if size is not None:
        return Mention(_build_size(size["number"], size["prefix"]), start, start + len(text))
    spent = _SPENT.fullmatch(text)
    if spent is not None:
        parts = [(float(spent[name]), seconds) for name, seconds in _SPENT_UNITS if spent[name]]
        total = sum(number * seconds for number, seconds in parts)
        value = Value(Kind.QUANTITY, total, parts[-1][1], "time", symbol="s")
        return Mention(value, start, start + len(text))
    stripped = text.rstrip(".,;:/")
    return Mention(Value(Kind.ID, text=stripped.lstrip("#")), start, start + len(stripped))


def _build_size(number: str, prefix: str) -> Value:
    amount, step, _ = read_numeral(number)
    binary = prefix.endswith("i")
    factor = float((1024 if binary else 1000) ** ("kmgtp".index(prefix[0]) + 1))
    symbol = ("k" if prefix == "k" else prefix[0].upper()) + ("iB" if binary else "B")
    return Value(Kind.QUANTITY, amount * factor, step * factor, "data", factor=factor, symbol=symbol)


def _parse_number(match: re.Match[str], text: str) -> Mention:
    """Return a number with its sign, currency, scale word and unit."""
    start, end = match.span()
    size = _SIZE.fullmatch(match[0])
    if size is not None:
        return Mention(_build_size(size["number"], size["prefix"]), start, end)
    amount, step, other = _read_amount(match)
    start, is_negative = _read_sign(match)
    unit = _read_unit(match, text)
    signed = -amount if is_negative else amount
    if unit.scale_word == "mil" and unit.kind is not Kind.QUANTITY:
        other = signed * 1e6  # a thousand in Spanish and Portuguese, a million to traders
    elif other is not None:
        other = (-other if is_negative else other) * unit.factor
    value = Value(
        unit.kind, (signed - unit.offset) * unit.factor, step * unit.factor, unit.dimension, unit.scale,
        other, factor=unit.factor, grouped="," in match["n"], offset=unit.offset, symbol=unit.symbol,
        approximate=match["about"] is not None,
    )  # fmt: skip
    return Mention(value, start, _get_trimmed_end(match.string, end))


_BARE_POWER: Final = "^⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹"


def _read_amount(match: re.Match[str]) -> tuple[float, float, float | None]:
    """Return a number's amount with its power of ten, the unit of its last digit, and its other reading."""
    amount, step, other = read_numeral(match["n"])
    power = match["power"]
    if not power:
        return amount, step, other
    if power[0] in _BARE_POWER:
        # `10⁻¹⁵` is the power itself.
        times = read_power(power)
        return times, times, other
    times = read_power(power if power[0].isdigit() else power.lstrip(" x×*·").removeprefix("10"))
    return amount * times, step * times, other


def _read_sign(match: re.Match[str]) -> tuple[int, bool]:
    """Return where a number begins, and whether it is negative.

    Accounts write a loss as "$(2,085)", "(4.3)%" or "(168) thousand"; "in USD (2,085)" is none.
    """
    start, end = match.span()
    folded = match.string
    currency, is_opened = match["cur"], match["open"] is not None
    is_loss = bool(match["lost"]) or (match["owed"] is not None and not currency.isalpha())
    if is_opened and not is_loss:
        start += 1
        is_bracketed = folded[end : end + 1] == ")"
        is_loss = is_bracketed and currency is not None and not folded[: start - 1].strip(" (")
    sign = "-" if is_loss else match["sign"] or match["sign2"]
    is_dash_at_start = sign == "–" and not folded[:start].rstrip()
    return start, sign == "-" or is_dash_at_start


@dataclass(frozen=True, slots=True)
class _NumberUnit:
    """What the signs and words about a number say of its unit; `factor` turns it into the dimension's own."""

    kind: Kind = Kind.NUMBER
    dimension: str = ""
    symbol: str = ""
    factor: float = 1.0
    offset: float = 0.0
    scale: float = 1.0
    scale_word: str = ""


def _read_unit(match: re.Match[str], text: str) -> _NumberUnit:
    """Return a number's unit: a percentage, a currency, a unit of measure, or none."""
    word = match["scale"] or match["scale2"] or ""
    scale = SCALES[word] if word else 1.0
    code = _get_currency(match)
    name = match["unit"] or ""
    if word in _SINGLE_LETTER_SCALES and not code and word in UNITS:
        name, scale = word, 1.0
    percent = match["percent"]
    if percent:
        return _build_percent_unit(percent, scale, word)
    if code:
        is_minor = (match["money"] or "").startswith("cent")
        return _NumberUnit(Kind.MONEY, code, code, scale * (0.01 if is_minor else 1.0), 0.0, scale, word)
    if not name:
        return _NumberUnit(factor=scale, scale=scale, scale_word=word)
    low, high = match.span("unit") if match["unit"] else match.span("scale2")
    unit = CASED_UNITS.get(text[low:high], UNITS[name])
    return _NumberUnit(
        Kind.QUANTITY, unit.dimension, unit.symbol, scale * unit.factor, unit.offset, scale, word
    )


def _build_percent_unit(percent: str, scale: float, word: str) -> _NumberUnit:
    if percent.startswith("b"):
        return _NumberUnit(Kind.PERCENT, "%", "bp", _POINTS_PER_PERCENT, 0.0, scale, word)
    is_points = "point" in percent or percent in ("pp", "prozentpunkte")
    return _NumberUnit(Kind.PERCENT, "%", "pp" if is_points else "%", scale, 0.0, scale, word)


def _get_currency(match: re.Match[str]) -> str:
    written = match["cur"] or match["cur2"]
    if written:
        return CURRENCIES[written]
    word = match["money"]
    return MONEY_WORDS[word.rpartition(" ")[2]] if word else ""


_BETWEEN_PARTS = ("", "and", ",", "und", "et", "y")


def _with_joined_durations(text: str, mentions: list[Mention]) -> list[Mention]:
    """Return mentions with the parts of a duration as one: `2 h 45 min`, `4 and a half hours`."""
    found: list[Mention] = [mentions[0]]
    for mention in mentions[1:]:
        last, value = found[-1], mention.value
        between = text[last.end : mention.start].strip(" \u00a0").lower()
        if between == "and a" and _is_half(text, mention) and last.value.kind is Kind.NUMBER:
            unit = 2 * value.number
            joined = replace(value, number=last.value.number * unit + value.number, step=unit / 4)
            found[-1] = Mention(joined, last.start, mention.end)
            continue
        whole = None
        if (
            value.kind is Kind.QUANTITY
            and value.unit == "time"
            and between in _BETWEEN_PARTS
            and not mention.spelled
        ):
            whole = _find_duration(text, last, mention.start)
        if (
            whole is None
            or whole.factor <= value.factor
            or value.amount >= round(whole.factor / value.factor)
        ):
            found.append(mention)
            continue
        joined = Value(
            Kind.QUANTITY,
            whole.number + value.number,
            value.step,
            "time",
            factor=value.factor,
            symbol=value.symbol,
        )
        found[-1] = Mention(joined, last.start, mention.end)
    return found


def _is_half(text: str, mention: Mention) -> bool:
    return mention.spelled and text[mention.start : mention.end].lower().startswith("half")


def _find_duration(text: str, mention: Mention, following: int) -> Value | None:
    """Return a mention's duration; a metre is a minute right before seconds."""
    value = mention.value
    if value.kind is not Kind.QUANTITY or mention.spelled:
        return None
    if value.symbol == "m" and text[mention.start : following].strip().endswith("m"):
        return replace(value, unit="time", number=value.number * 60, step=value.step * 60, factor=60.0)
    return value if value.unit == "time" else None


_TO = re.compile(r"\s*(?:to|until|through|bis|[-–—])\s*(?:the\s+)?")
_RANGE = re.compile(r"\d\s?(?:[-–—]|to\b|bis\b|until\b)\s?\S?\d")
_AND = re.compile(r"\s*(?:,|and|&|or)\s*(?:the\s+)?")


def _with_shared_months(text: str, mentions: list[Mention]) -> list[Mention]:
    """Return mentions with days that share a month as dates: `December 18 to 22`, `14, 15 and 18 July`."""
    found = list(mentions)
    for at in range(1, len(found)):
        _update_month(text, found, at - 1, at)
    for at in range(len(found) - 1, 0, -1):
        _update_month(text, found, at, at - 1)
    return found


def _update_month(text: str, found: list[Mention], dated: int, bare: int) -> None:
    """Make a plain number a date of the month of the mention next to it, where it is a day of that."""
    date, day = found[dated].value.date, found[bare]
    if date is None or date[1] is None or date[2] is None:
        return
    low, high = sorted((dated, bare))
    between = text[found[low].end : found[high].start]
    # Behind a month "and 3" counts something; of "14, 15 and 18 July" the comma is before a day already read.
    listed = (
        bare < dated
        and _AND.fullmatch(between)
        and ("," not in between or found[dated].end - found[dated].start <= 2)
    )
    if not (_TO.fullmatch(between) or listed):
        return
    if text[day.start : day.end].isdigit() and day.value.kind is Kind.NUMBER and 1 <= day.value.number <= 31:
        value = Value(Kind.DATE, date=(*date[:2], int(day.value.number)))
        found[bare] = Mention(value, day.start, day.end)


_MAX_RANGE_SIGN = len(" through the ")


def _with_shared_units(text: str, mentions: list[Mention]) -> list[Mention]:
    """Return mentions with the unit of a range at both of its ends: `12–15 km`, `$3 to $5 million`."""
    for at in range(len(mentions) - 1):
        low, high = mentions[at], mentions[at + 1]
        if high.start - low.end > _MAX_RANGE_SIGN:
            continue
        one, other = low.value, high.value
        shares = other.kind in (Kind.QUANTITY, Kind.MONEY, Kind.PERCENT) and one.kind in (
            Kind.NUMBER,
            Kind.MONEY,
        )
        if not shares or one.factor != 1.0 or (one.kind is Kind.MONEY and one.unit != other.unit):
            continue
        if high.end - high.start <= len(str(int(abs(other.amount)))) or not _TO.fullmatch(
            text[low.end : high.start]
        ):
            continue
        value = replace(
            other, number=(one.number - other.offset) * other.factor, step=one.step * other.factor,
            other=None, grouped=one.grouped,
        )  # fmt: skip
        mentions[at] = Mention(value, low.start, low.end)
    return mentions

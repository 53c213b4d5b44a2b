"""Find the typed values that a text writes.

In: a text. Out: mentions, in order, that do not overlap. One pass of one regular expression; what a mention
means is worked out from its named group. Numbers inside longer words belong to identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache
from importlib import resources

from spanproof.reading.values import Kind, Mention, Value

CURRENCIES = {
    "$": "USD",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "₹": "INR",
    "kr": "SEK",
    "zł": "PLN",
    "₽": "RUB",
}
_CODES = str.split("USD EUR GBP JPY INR SEK NOK DKK CHF CAD AUD CNY PLN BRL RUB")
_MONEY_WORDS = {"dollar": "USD", "euro": "EUR", "yen": "JPY", "rupee": "INR", "buck": "USD", "franc": "CHF"}
_SCALES = {
    "k": 1e3, "thousand": 1e3, "tsd": 1e3, "mille": 1e3, "mil": 1e6, "m": 1e6, "mn": 1e6, "mm": 1e6,
    "million": 1e6, "mio": 1e6, "millionen": 1e6, "millones": 1e6, "milhões": 1e6, "bn": 1e9, "b": 1e9,
    "billion": 1e9, "mrd": 1e9, "milliarden": 1e9, "milliard": 1e9, "trillion": 1e12, "crore": 1e7, "lakh": 1e5,  # noqa: E501
}  # fmt: skip
NUMBER_WORDS = str.split(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty"
)
_SPELLED = {word: number for number, word in enumerate(NUMBER_WORDS)} | {
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "hundred": 100, "dozen": 12, "once": 1, "twice": 2, "both": 2, "half": 0.5, "single": 1,
}  # fmt: skip


def _read_resource(name: str) -> list[list[str]]:
    text = (resources.files(__package__) / name).read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


UNITS: dict[str, tuple[str, float]] = {}
MONTHS: dict[str, int] = {}
for _dimension, _factor, *_names in _read_resource("units.txt"):
    if _dimension == "month":
        MONTHS.update({name: number for number, name in enumerate(_names, 1)})
    else:
        UNITS.update(dict.fromkeys(_names, (_dimension, float(_factor))))
_MONTH = "|".join(sorted(map(re.escape, MONTHS), key=len, reverse=True))
# A word character of a script that parts words: Chinese and Japanese write numbers right behind words.
_WORD = r"[^\W\u3040-\u30ff\u4e00-\u9fff]"
_NUMERAL = (
    r"(?:\d{1,3}(?:[ ]\d{3})+,\d{1,2}(?!\d)|"
    r"\d{1,3}(?:,\d{2,3})+(?:\.\d+)?|\d{1,3}(?:[\u00a0\u202f'’]\d{3})+(?:[.,]\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)|"
    r"\d+,\d{1,2}(?!\d)|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+)"
)
_CUR = "|".join(map(re.escape, sorted((*CURRENCIES, "US$", "R$", *_CODES), key=len, reverse=True)))
_UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
_SCALE = "|".join(sorted(map(re.escape, _SCALES), key=len, reverse=True))
_SPELLED_ONE = "|".join(sorted(_SPELLED, key=len, reverse=True))

_LETTERS = rf"""
    (?P<word>\b(?:(?P<w1>{_SPELLED_ONE})(?:[-\s](?P<w2>hundred|one|two|three|four|five|six|seven|eight|nine|dozen))?)\b
        (?:[\s-](?P<wscale>thousand|million|billion)\b)?(?:[\s-](?P<wpct>percent)\b)?(?:[\s-](?P<wunit>{_UNIT})(?:s|es)?\b)?)
"""
_MENTION = re.compile(
    rf"""
    (?P<url>\bhttps?://[^\s<>"')\]]+|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
    | (?P<iso>(?<![\d/-])(?P<y>[12]\d{{3}})[-/.](?P<mo>\d{{1,2}})[-/.](?P<d>\d{{1,2}})(?![\d/-]))
    | (?P<numeric>(?<![\d/.-])(?P<a>\d{{1,2}})(?P<sep>[/.])(?P<b>\d{{1,2}})(?P=sep)(?P<c>\d{{4}}|\d{{2}})(?![\d/]))
    | (?P<cjk>(?:(?P<cy>\d{{4}})年)?(?P<cm>\d{{1,2}})月(?P<cd>\d{{1,2}})日)
    | (?P<md>\b(?P<m1>{_MONTH})\b\.?\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:\d)(?:,?\s+(?P<y1>[12]\d{{3}})\b)?)
    | (?P<dm>(?<![\w.])(?P<d2>\d{{1,2}})(?:st|nd|rd|th|\.|er|º)?\s+(?:of\s+|de\s+)?(?P<m2>{_MONTH})\b\.?(?:,?\s+(?:de\s+)?(?P<y2>[12]\d{{3}})\b)?)
    | (?P<my>\b(?P<m3>{_MONTH})\b\.?,?\s+(?:of\s+|de\s+)?(?P<y3>[12]\d{{3}})\b)
    | (?P<time>(?:(?<=\d)T|(?<![\w:.]))(?P<h>\d{{1,2}}):(?P<mi>[0-5]\d)(?::(?P<s>[0-5]\d)(?:\.\d+)?)?\s*(?P<ap>[ap]\.?m\b\.?)?(?P<next>\+\d)?(?:Z\b|\+\d\d:\d\d)?(?![\d:]))
    | (?P<clock>(?<![\w.])(?P<h2>1[0-2]|0?[1-9])\s?(?P<ap2>[ap]\.?m\b\.?))
    | (?P<id>\#?(?<!{_WORD})(?<!\.)(?=[\w\#./:-]*\d)(?=[\w\#./:-]*[A-Za-z_])(?!\d+(?:\.\d+)?[-_]?(?:(?:{_UNIT}|{_SCALE})s?|st|nd|rd|th|x|way|stop|e-?\d+)(?!{_WORD}))[A-Za-z0-9_]+(?:[-_./:]+[A-Za-z0-9_]+)*)
    | (?P<long>(?<![\w.,$€£-])(?:\#\d+|\d{{9,}}|\d+(?:-\d+){{2,}}|\d+-0\d{{2,}})(?![\w,]|\.\d))
    | (?P<num>(?P<open>\((?=[^():]{{1,20}}\)))?(?<!{_WORD})(?P<sign>[-−–+](?=[\d.$€£]))?(?:(?P<cur>{_CUR})\s{{0,3}}(?:(?P<sign2>[-−])|(?P<owed>\((?=[\d.,]{{1,20}}\))))?)?
        (?<![\d.])(?P<n>{_NUMERAL})(?!\d)(?(owed)\))(?P<lost>(?(open)(?:\)(?=\s?(?:%|(?:{_SCALE})\b)))?))
        (?:\s?(?P<pct>%|\bpercent(?:age\s+points?)?\b|\bper\s?cent\b|\bProzent\b|\bpp\b)
          |(?:[\s-]?(?P<scale>{_SCALE})\b\.?)?(?:\s?(?P<cur2>{_CUR})(?!\w)|[\s-](?P<curw>(?:U\.?S\.?\s)?dollars?|euros?|yen|rupees?|bucks|francs?|cents?)\b)?
           (?:[\s-]?(?!vs\b)(?P<unit>{_UNIT})(?:s|es)?(?!{_WORD}))?
        )?)
    | {_LETTERS}
    """,  # noqa: E501
    re.VERBOSE | re.IGNORECASE,
)
_IN_LETTERS = re.compile(_LETTERS, re.VERBOSE | re.IGNORECASE)
_DIGIT = re.compile(r"\d")
MAX_MENTIONS = 20_000


def scan(text: str) -> list[Mention]:
    """Return the typed values of a text, in order."""
    found: list[Mention] = []
    # Most sentences write no digit: only numbers in letters are left to find, by a much smaller expression.
    pattern = _MENTION if _DIGIT.search(text) or "@" in text or "://" in text else _IN_LETTERS
    for match in pattern.finditer(text):
        found.extend(_read(match))
        if len(found) >= MAX_MENTIONS:
            break
    return _with_ranges(text, _with_durations(text, found))


def _with_durations(text: str, mentions: list[Mention]) -> list[Mention]:
    """Return mentions with the parts of a duration as one: `2 h 45 min`, `1m 05s`."""
    found: list[Mention] = []
    for mention in mentions:
        last = found[-1] if found else None
        if last is not None and _is_half_more(last, mention, text):
            unit = 2 * mention.value.number
            more = replace(
                mention.value, number=last.value.number * unit + mention.value.number, step=unit / 4
            )
            found[-1] = Mention(more, last.start, mention.end)
            continue
        if (
            last is None
            or mention.spelled
            or last.spelled
            or text[last.end : mention.start].strip(" \u00a0") not in ("", "and")
        ):
            found.append(mention)
            continue
        one, two = _to_duration(last, text, mention.start), mention.value
        whole = (
            one is not None and two.kind is Kind.QUANTITY and two.unit == "time" and one.factor > two.factor
        )
        if one is None or not whole or two.amount >= round(one.factor / two.factor):
            found.append(mention)
            continue
        value = Value(Kind.QUANTITY, one.number + two.number, two.step, "time", factor=two.factor)
        found[-1] = Mention(value, last.start, mention.end)
    return found


def _is_half_more(whole: Mention, half: Mention, text: str) -> bool:
    """Return whether two mentions are one amount: `four and a half hours`."""
    between = text[whole.end : half.start].strip().lower()
    plain = whole.value.kind is Kind.NUMBER and float(whole.value.number).is_integer()
    return plain and between == "and a" and text[half.start : half.end].lower().startswith("half")


_TO = re.compile(r"\s*(?:to|until|through|[-–—])\s*(?:the\s+)?")
_AND = re.compile(r"\s*(?:,|and|&|or)\s*(?:the\s+)?")


def _with_ranges(text: str, mentions: list[Mention]) -> list[Mention]:
    """Return mentions with days that share a month as dates: `December 18 to 22`, `14, 15 and 18 July`."""
    found = list(mentions)
    for at in range(1, len(found)):
        _share_month(text, found, at - 1, at)
    for at in range(len(found) - 1, 0, -1):
        _share_month(text, found, at, at - 1)
    return found


def _share_month(text: str, found: list[Mention], dated: int, bare: int) -> None:
    """Make a plain number a date of the month of the mention beside it, where it is a day of that."""
    known, day = found[dated].value.date, found[bare]
    low, high = sorted((dated, bare))
    between = text[found[low].end : found[high].start]
    if known is None or known[1] is None or known[2] is None:
        return
    # Behind a month "and 3" counts something; of "14, 15 and 18 July" the comma is before a day already read.
    listed = (
        bare < dated
        and _AND.fullmatch(between)
        and ("," not in between or found[dated].end - found[dated].start <= 2)
    )
    if not (_TO.fullmatch(between) or listed):
        return
    if text[day.start : day.end].isdigit() and day.value.kind is Kind.NUMBER and 1 <= day.value.number <= 31:
        value = Value(Kind.DATE, date=(*known[:2], int(day.value.number)))
        found[bare] = Mention(value, day.start, day.end)


def _to_duration(mention: Mention, text: str, following: int) -> Value | None:
    """Return a duration; a metre is a minute right before seconds."""
    value = mention.value
    if value.kind is not Kind.QUANTITY:
        return None
    if (
        value.unit == "length"
        and text[mention.start : following].strip().endswith("m")
        and value.factor == 1.0
    ):
        return replace(value, unit="time", number=value.number * 60, step=value.step * 60, factor=60.0)
    return value if value.unit == "time" else None


@lru_cache(maxsize=8192)
def scan_cached(text: str) -> tuple[Mention, ...]:
    """Return what `scan` returns; for the short texts of cells, which repeat."""
    return tuple(scan(text))


def _read(match: re.Match[str]) -> Iterator[Mention]:
    name = (
        "word" if match.re is _IN_LETTERS else next(each for each in _GROUPS if match.group(each) is not None)
    )
    start, end = match.span()
    if name in ("url", "id", "long"):
        text = match.group()
        if (size := _SIZE.fullmatch(text)) is not None:
            yield Mention(_parse_size(size["n"], size["prefix"]), start, end)
            return
        if (spent := _SPENT.fullmatch(text)) is not None:
            parts = [(int(spent[name] or 0), size) for name, size in (("h", 3600), ("m", 60), ("s", 1))]
            step = next(
                float(size)
                for (_, size), given in zip(parts[::-1], spent.groups()[::-1], strict=True)
                if given
            )
            yield Mention(
                Value(Kind.QUANTITY, float(sum(n * size for n, size in parts)), step, "time"), start, end
            )
            return
        stripped = text.rstrip(".,;:/")
        yield Mention(Value(Kind.ID, text=stripped.lower().lstrip("#")), start, start + len(stripped))
    elif name in _DATES:
        date = _parse_date(match, name)
        if date is not None:
            yield Mention(Value(Kind.DATE, date=date), start, end)
    elif name in ("time", "clock"):
        value = _parse_time(match, name) or _parse_duration(match)
        if value is not None:
            yield Mention(value, start, end - (len(match.group()) - len(match.group().rstrip())))
    elif name == "num":
        yield _parse_number(match)
    else:
        yield _parse_spelled(match)


_GROUPS = ("url", "iso", "numeric", "cjk", "md", "dm", "my", "time", "clock", "id", "long", "num", "word")
_DATES = frozenset(("iso", "numeric", "cjk", "md", "dm", "my"))


def _parse_date(match: re.Match[str], name: str) -> tuple[int | None, int | None, int | None] | None:
    def part(group: str) -> int | None:
        return int(match.group(group)) if match.group(group) else None

    if name == "iso":
        year, month, day = part("y"), part("mo"), part("d")
    elif name == "cjk":
        year, month, day = part("cy"), part("cm"), part("cd")
    elif name == "numeric":
        first, second, year = part("a"), part("b"), part("c")
        year = year + 2000 if year is not None and year < 100 else year
        # 05/20 is American, 20/05 and 20.05. European; where both read, only the separator decides.
        american = match.group("sep") == "/" and (first or 0) <= 12
        month, day = (first, second) if american else (second, first)
    else:
        number = {"md": "1", "dm": "2", "my": "3"}[name]
        month = MONTHS[match.group(f"m{number}").lower()]
        day = None if name == "my" else part(f"d{number}")
        year = part(f"y{number}")
    valid = (month is None or 1 <= month <= 12) and (day is None or 1 <= day <= 31)
    return (year, month, day) if valid else None


def _parse_time(match: re.Match[str], name: str) -> Value | None:
    hour = int(match.group("h" if name == "time" else "h2"))
    minute = int(match.group("mi")) if name == "time" else 0
    second = int(match.group("s")) if name == "time" and match.group("s") else None
    half = (match.group("ap") or match.group("ap2") or "").lower()
    if hour > 24:
        return None
    if half.startswith("p"):
        hour = hour % 12 + 12
    elif half.startswith("a"):
        hour %= 12
    return Value(Kind.TIME, time=(hour % 24, minute, second), unit="" if half or hour > 12 else "12h?")


def _parse_duration(match: re.Match[str]) -> Value | None:
    """Return minutes and seconds, or hours with them, that are no time of day: `28:47`."""
    if match.group("ap") or match.group("ap2") or not match.group("mi"):
        return None
    parts = [int(match.group(group)) for group in ("h", "mi", "s") if match.group(group)]
    seconds = sum(part * 60**place for place, part in enumerate(reversed(parts)))
    return Value(Kind.QUANTITY, float(seconds), 1.0, "time")


# Durations as programs print them: `4h30m`, `2m05s`.
_SPENT = re.compile(r"(?=\d+h\d|\d+m\d)(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s)?")

# Bytes as `df -h` and `kubectl top` print them: `22T`, `873Mi`.
_SIZE = re.compile(r"(?P<n>\d+(?:\.\d+)?)(?P<prefix>[GTP]i?|[KM]i)")


def _parse_size(number: str, prefix: str) -> Value:
    (amount, step, _), place = read_numeral(number), "KMGTP".index(prefix[0]) + 1
    factor = float(1024**place if prefix.endswith("i") else 1000**place)
    return Value(Kind.QUANTITY, amount * factor, step * factor, "data", factor=factor)


def _parse_number(match: re.Match[str]) -> Mention:
    start, end = match.span()
    if (size := _SIZE.fullmatch(match.group())) is not None:
        return Mention(_parse_size(size["n"], size["prefix"]), start, end)
    amount, step, other = read_numeral(match.group("n"))
    bracketed = (
        match.group("open") is not None and match.string[end : end + 1] in ")" and end < len(match.string)
    )
    # Accounts write a loss as "$(2,085)", "(4.3)%" or "(168) thousand"; "in USD (2,085)" is none.
    symbol = match.group("owed") and not match.group("cur").isalpha()
    lost = bool(symbol or match.group("lost"))
    if match.group("open") is not None and not lost:
        start += 1
    sign = "-" if lost else match.group("sign") or match.group("sign2")
    if bracketed and match.group("cur") is not None and match.string[:start].strip(" (") == "":
        sign = "-"
    scale = _SCALES[match.group("scale").lower()] if match.group("scale") else 1.0
    code = _find_currency(match)
    unit = (match.group("unit") or "").lower()
    # "5 m" is five metres without a currency, "$5m" five million dollars.
    if match.group("scale") and match.group("scale").lower() in ("m", "k", "b", "mm") and not code:
        plain = match.group("scale").lower()
        if plain in UNITS:
            unit, scale = plain, 1.0
    cents = (match.group("curw") or "").lower().startswith("cent")
    factor = -1.0 if sign in ("-", "−") or (sign == "–" and not match.string[:start].rstrip()) else 1.0
    kind, dimension = Kind.NUMBER, ""
    if match.group("pct"):
        kind, dimension = Kind.PERCENT, "%"
    elif code:
        kind, dimension = Kind.MONEY, code
        factor *= 0.01 if cents else 1.0
    elif unit:
        kind, (dimension, times) = Kind.QUANTITY, UNITS[unit]
        factor *= times
    factor *= scale
    second = None if other is None else other * factor
    value = Value(
        kind, amount * factor, step * abs(factor), dimension, scale, second,
        factor=abs(factor), grouped="," in match.group("n"),
    )  # fmt: skip
    # A full stop after an abbreviated unit ends the sentence as well.
    while match.string[end - 1].isspace() or match.string[end - 1] == ".":
        end -= 1
    return Mention(value, start, end)


def _find_currency(match: re.Match[str]) -> str:
    written = match.group("cur") or match.group("cur2")
    if written:
        return {"US$": "USD", "R$": "BRL"}.get(
            written.upper(), CURRENCIES.get(written.lower(), written.upper())
        )
    word = (match.group("curw") or "").lower()
    if word.startswith("cent"):
        return "USD"
    return next((code for base_form, code in _MONEY_WORDS.items() if base_form in word), "")


def read_numeral(text: str) -> tuple[float, float, float | None]:
    """Return a numeral's amount, its last written place and its other reading."""
    plain = re.sub(r"[\u00a0\u202f'’ ]", "", text)
    other: float | None = None
    if "," in plain and "." in plain:
        decimal = max(plain.rfind(","), plain.rfind("."))
        plain = plain[:decimal].replace(",", "").replace(".", "") + "." + plain[decimal + 1 :]
    elif "," in plain:
        head, tail = plain.rsplit(",", 1)
        if len(tail) == 3 or plain.count(",") > 1:  # noqa: SIM108
            plain = plain.replace(",", "")
        else:
            plain = f"{head}.{tail}"
    elif re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", plain):
        other = float(plain.replace(".", ""))
    amount = float(plain)
    mantissa, _, exponent = plain.lower().partition("e")
    places = len(mantissa.partition(".")[2])
    return amount, 10.0 ** (int(exponent or 0) - places), other


def _parse_spelled(match: re.Match[str]) -> Mention:
    amount = _SPELLED[match.group("w1").lower()]
    second = (match.group("w2") or "").lower()
    if second in ("hundred", "dozen"):
        amount *= _SPELLED[second]
    elif second and amount >= 20:
        amount += _SPELLED[second]
    amount *= _SCALES.get((match.group("wscale") or "").lower(), 1.0)
    kind, dimension, times = Kind.NUMBER, "", 1.0
    if match.group("wpct"):
        kind, dimension = Kind.PERCENT, "%"
    elif match.group("wunit"):
        dimension, times = UNITS[match.group("wunit").lower()]
        kind, amount = Kind.QUANTITY, amount * times
    return Mention(Value(kind, float(amount), 0.0, dimension), *match.span(), spelled=True)


_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SMALL = NUMBER_WORDS[:11]
_RELATIVE = re.compile(
    rf"""\b(?:(?P<near>today|tonight|tomorrow|yesterday)
    |in\s+(?P<in>\d{{1,3}}|{"|".join(_SMALL)})\s+(?P<in_unit>days?|weeks?)\b(?!\s+ago)
    |(?P<ago>\d{{1,3}}|{"|".join(_SMALL)})\s+(?P<ago_unit>days?|weeks?)\s+ago
    |(?P<side>next|last|this)\s+(?P<day>{"|".join(_DAYS)}))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_NEAR = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1}


def with_relatives(text: str, mentions: list[Mention], today: date, known: Sequence[Value]) -> list[Mention]:
    """Return a text's mentions with those of relative dates, which take the place of their numbers."""
    found = []
    for match in _RELATIVE.finditer(text):
        day = _resolve_day(match, today)
        counted = match.group("in") or match.group("ago")
        # "in four days" is a duration as well: it is a date only where a source has that date.
        if day is not None and (
            not counted or any(each.date == (day.year, day.month, day.day) for each in known)
        ):
            found.append(Mention(Value(Kind.DATE, date=(day.year, day.month, day.day)), *match.span()))
    kept = [each for each in mentions if not any(one.start <= each.start < one.end for one in found)]
    return sorted([*kept, *found], key=lambda mention: mention.start)


def _resolve_day(match: re.Match[str], today: date) -> date | None:
    near = match.group("near")
    if near:
        return today + timedelta(days=_NEAR[near.lower()])
    for name, sign in (("in", 1), ("ago", -1)):
        count = match.group(name)
        if count:
            number = int(count) if count.isdigit() else _SMALL.index(count.lower())
            weeks = match.group(f"{name}_unit").lower().startswith("week")
            return today + timedelta(days=sign * number * (7 if weeks else 1))
    weekday = _DAYS.index(match.group("day").lower())
    ahead = (weekday - today.weekday()) % 7
    side = match.group("side").lower()
    if side == "last":
        return today - timedelta(days=(today.weekday() - weekday) % 7 or 7)
    # "next Monday" is the coming one to some and the one after to others: of the two only the first is read.
    return today + timedelta(days=ahead or (7 if side == "next" else 0))

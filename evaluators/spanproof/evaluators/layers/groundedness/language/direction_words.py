"""Words of direction: "rose", "fell from", "improved", and the idioms in which "up" tells none.

In: a match in prose. Out: whether it says that a value grew, None where only what is measured could tell.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from spanproof.evaluators.layers.groundedness.language.words import canonical_set, plain_set

_UP = (
    "increases|increased|increasing|rose|rises|risen|rising|grew|grow|grows|grown|growing|climbed"
    "|gained|gains|jumped|jumps|widened|widens|surged|soared"
)
_UP_OF = "increase|rise|gain|growth|jump"
_GREATER = "warmer|hotter|higher|bigger|larger|longer"
_DOWN = (
    "decreases|decreased|decreasing|fell|falls|fallen|falling|dropped|drops|declined|declines"
    "|declining|shrank|shrinks|shrink|shrunk|slipped|dipped|dips|narrowed|narrows"
    "|plunged|plummeted|reduced"
)
_DOWN_OF = "decrease|fall|drop|decline|reduction"
_SMALLER = "cooler|colder|lower|smaller|shorter|cheaper"
_TURNED = "slower|faster|quicker|dearer|pricier|costlier|wetter|drier|heavier|lighter"
_MOVED_UP = "raised|raises|lifted|lifts|boosted|boosts|pushed|drove"
_MOVED_DOWN = "lowered|lowers|cut|cuts|brought down|pulled down"
_BETTER = "improved|improves"
_WORSE = "worsened|worsens|deteriorated"
_ENDS = r"(?!\s+up)(?!\s+down)(?:\s+[\w-]+){1,5}\s+from\s+\S+\s+to\s+\S"
"""What follows where one thing moves another: "raised the mean from 3.1 to 3.4"."""
_TURNS = r"(?:gets?|got|becomes?|became|turns?)\s+"
DIRECTION = re.compile(
    rf"\b(?:(?P<up>{_UP}|went up|gone up|up by|up from|up(?=\s+\d)|{_TURNS}(?:{_GREATER})"
    rf"|(?:{_UP_OF})(?=\s+of\b)|(?:{_MOVED_UP})(?={_ENDS}))"
    rf"|(?P<down>{_DOWN}|went down|gone down|down by|down from|down(?=\s+\d)|{_TURNS}(?:{_SMALLER})"
    rf"|(?:{_DOWN_OF})(?=\s+of\b)|(?:{_MOVED_DOWN})(?={_ENDS}))"
    rf"|{_TURNS}(?P<turned>{_TURNED}|more expensive|less expensive)"
    rf"|(?P<better>{_BETTER}|{_TURNS}better)|(?P<worse>{_WORSE}|{_TURNS}worse))\b",
    re.IGNORECASE,
)
DIRECTION_CUES = plain_set("up down expensive better worse") | frozenset(
    "|".join(
        (_UP, _UP_OF, _MOVED_UP, _GREATER, _DOWN, _DOWN_OF, _MOVED_DOWN, _SMALLER, _TURNED, _BETTER, _WORSE)
    ).split("|")
)
"""One of these stands in every text that tells a direction."""
RELATIVE = re.compile(
    r"\s+(?:(?P<up>higher|more|larger|greater|longer|slower)|(?P<down>lower|less|fewer|smaller|shorter|faster))\b(?![^.;\n]*\bthan\b)",
    re.IGNORECASE,
)
"""A difference told without its other end: "168 ms lower after the change"."""
THAN_BEFORE = re.compile(
    r"\b(?:(?P<up>more|higher|greater|longer|warmer)|(?P<down>fewer|less|lower|smaller|shorter|colder))\b[^.;,\n]{0,20}?"
    r"\bthan\s+(?:before\b|yesterday\b|(?:in\s+|on\s+)?(?:the\s+)?(?:last|previous|prior|preceding)\s+"
    r"(?:year|quarter|month|week|day|run|season)|(?:a|the|one)\s+(?:year|quarter|month|week|day)\s+(?:ago|before|earlier))",
    re.IGNORECASE,
)
"""A value set beside the one before it, which is not told: "fewer than last year"."""
NOW = (
    re.compile(r"\b(?:now|currently|today)\s+(?:it\s+)?(?:is\s+|at\s+|only\s+)?$", re.IGNORECASE),
    re.compile(r"\s*(?:now|today|currently|at present)\b", re.IGNORECASE),
)
THEN = (
    re.compile(r"\b(?:was|were|had been|used to be|previously|before)\s+(?:at\s+|only\s+)?$", re.IGNORECASE),
    re.compile(
        r"\s*(?:before|previously|earlier|at first|yesterday|(?:a|one|last|the previous)\s+"
        r"(?:year|quarter|month|week|day)(?:\s+(?:ago|before|earlier))?)\b",
        re.IGNORECASE,
    ),
)
"""What stands before and behind a value that is told as the one of today, or of before."""
_MORE_IS_BETTER = canonical_set(
    "revenue sales profit income ebitda margin score accuracy rate balance earnings conversion rating recall"
    " convert precision f1 auc marks throughput uptime yield"
)
_LESS_IS_BETTER = canonical_set(
    "latency error errors loss cost costs churn time failures delay debt unemployment rmse mae mse defects"
)
ATTRIBUTE = re.compile(r"\b(?:the|an?|at|of)\s+$", re.IGNORECASE)
"""A state, and no change: "the reduced ticket", "a rising market"."""
_RAIN = re.compile(r"\b(?:rain|snow|hail|sleet|precipitation|night)\s+(?:that\s+)?$", re.IGNORECASE)
"""What falls without a change of any value."""
_AT_AN_HOUR = re.compile(r"\s+at\s+(?:about\s+)?\d{1,2}(?::\d\d|\s?[ap]m)", re.IGNORECASE)
"""What follows where the sun rises, and no value."""
_IDIOM = re.compile(
    r"\b(?:ma[dk]e|makes|making|set|sets|came|comes?|coming|sign\w*|add\w*|back\w*|end\w*|pick\w*|look\w*|follow\w*"
    r"|tak\w*|took|g[ai]ve\w*|br[io]\w*|show\w*|turn\w*|sum\w*|round\w*|cut\w*|wrap\w*|speed\w*|start\w*|clean\w*"
    r"|boil\w*|narrow\w*|writ\w*|wrote)\s+$",
    re.IGNORECASE,
)
"""Verbs with which "up" and "down" tell no direction: "made up 74 %", "set up 3 jobs", "broken down"."""
FROM_TO = re.compile(r"\b(from|to)\s+$", re.IGNORECASE)


def is_idiom(match: re.Match[str], text: str) -> bool:
    """Whether a bare "up" or "down" belongs to a verb that tells no direction, or it is rain that fell."""
    before, word = text[max(0, match.start() - 20) : match.start()], match.group().lower()
    if _AT_AN_HOUR.match(text, match.end()):
        return True
    if word in {"fell", "fall", "falls"} and text[match.end() :].lstrip().startswith(
        ("through", "short", "apart")
    ):
        return True
    idiom = _IDIOM if word in {"up", "down"} else _RAIN if word.startswith("f") else None
    return idiom is not None and idiom.search(before) is not None


def goes_up(match: re.Match[str], words: Collection[str]) -> bool | None:
    """Whether the word says that a value grew; None where only what it measures could tell."""
    if match["up"] or match["down"]:
        return match["up"] is not None
    return None if not (side := better_side(words)) else (side > 0) == (match["better"] is not None)


def better_side(words: Iterable[str]) -> int:
    """1 where more of what the words name is better, -1 where less is, 0 where nothing tells."""
    said = frozenset(words)
    return int(not _MORE_IS_BETTER.isdisjoint(said)) - int(not _LESS_IS_BETTER.isdisjoint(said))

"""Where the values of an answer come from.

In: the answer, the executed code of its run, what the sources hold, and what the run was to do. Out: an
`Origin` per number of the answer, and per name that only invented data holds. A value that a source holds,
or that is worked out from one, is no finding. What rests on invented data alone is fabricated (`inventing.py`
has what that takes), and so is a number of an answer where nothing the run did gave anything. Where neither
is sure there is no finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from spanproof.evaluators.outcomes.context import RunContext
from spanproof.evaluators.outcomes.flow import CodeStep, DataFlow, Roots, ShownValue
from spanproof.evaluators.outcomes.inventing import is_invented, is_made_up, replaces_source
from spanproof.evaluators.outcomes.literals import FROM_SOURCE, SMALL, Role, ValueRoot
from spanproof.evaluators.outcomes.model import Origin, OriginKind
from spanproof.reading.answer_words import (
    QUOTED,
    discloses,
    extract_topics,
    is_readable,
    reports_nothing,
)
from spanproof.reading.numerals import find_numbers, iter_numbers, rounds_to
from spanproof.reading.source_values import SourceValues

_MAX_ANSWER = 20_000
# A small number and the two words behind it.
_COUNTED = re.compile(r"(?<![\w.,:/-])(?P<number>\d{1,2}) (?P<things>[^\W\d][\w'-]*(?: [^\W\d][\w'-]*)?)")

# Numbers of a task from which people reckon others.
_ENOUGH_TO_RECKON = 2

_COMPUTED = frozenset({Role.TABLE, Role.SERIES, Role.SCALAR, Role.DRAW, Role.DRAWS, Role.CLOCK})


@dataclass(frozen=True, slots=True)
class ValueTrace:
    """The values of an answer and the code of its run, traced back.

    Attributes:
        origins: those that a source holds first.
        made_up: span ids of code all of whose shown values are invented.
    """

    origins: tuple[Origin, ...] = ()
    made_up: frozenset[str] = frozenset()


def trace_back(
    answer: str, steps: Sequence[CodeStep], known: SourceValues, context: RunContext
) -> ValueTrace:
    """Return where each value of the answer comes from, and which code shows nothing but inventions.

    Args:
        answer: as the run gave it; empty where it gave none.
        steps: its executed Python, in order.
        known: what the sources hold; what sourced code shows is added.
        context: what the run was to do and had for it.
    """
    tracer = _Tracer(answer, steps, DataFlow(known), context)
    tracer.follow()
    if not answer.strip() or discloses(answer):
        return ValueTrace((), frozenset(tracer.made_up))
    found = [*tracer.numbers(), *tracer.names(), *tracer.defaults()]
    if not any(origin.fabricated for origin in found):
        found += tracer.counts()
    if not is_readable(answer):
        found = [_leave_open(origin) for origin in found]
    return ValueTrace(tuple(sorted(found, key=lambda origin: origin.fabricated)), frozenset(tracer.made_up))


@dataclass(slots=True)
class _Tracer:
    """The one pass over a run's code, and the questions put to it."""

    answer: str
    steps: Sequence[CodeStep]
    flow: DataFlow
    context: RunContext
    by_span: dict[str, list[ShownValue]] = field(default_factory=dict)
    made_up: set[str] = field(default_factory=set)
    by_rates: dict[str, ValueRoot] = field(default_factory=dict)

    def follow(self) -> None:
        """Follow the values through all code, in order."""
        for code in self.steps:
            before = len(self.flow.shown)
            self.flow.read(code)
            own = self.flow.shown[before:]
            self.by_span.setdefault(code.span_id, []).extend(own)
            rooted = [shown for shown in own if shown.roots]
            if rooted and all(self._is_made_up(shown.roots) for shown in rooted):
                self.made_up.add(code.span_id)
            elif not (code.is_stopped or code.hands_over) and not any(
                self._is_doubtful(shown.roots, code) for shown in rooted
            ):
                self.by_rates.update(self._find_rated_numbers(code))
                self.flow.known.add_result(code.printed)

    def numbers(self) -> Iterator[Origin]:
        """Yield the origins of the numbers that the answer states."""
        for number, written in _find_stated_numbers(self.answer).items():
            yield self._find_origin(number, written)
        if self.context.nothing_worked and not self.context.allows_invention:
            yield from self._find_small_counts()

    def _find_small_counts(self) -> Iterator[Origin]:
        """Yield small counts of what the task is about ("6 microscopes"), where nothing done gave any."""
        if self.context.answer_reports_failure or reports_nothing(self.answer, self.flow.known.task):
            return
        for found in _COUNTED.finditer(self.answer[:_MAX_ANSWER]):
            number = found["number"]
            about = extract_topics(found["things"]) & self.context.task_topics
            if about and 0 < int(number) <= SMALL and not self.flow.known.holds(number):
                nothing = Origin(number, OriginKind.NOTHING, fabricated=True)
                yield self._find_in_line(number, number) or nothing

    def names(self) -> Iterator[Origin]:
        """Yield the origins of texts of invented tables that the answer repeats."""
        lowered = self.answer[:_MAX_ANSWER].casefold()
        for mark in dict.fromkeys(self._list_shown_marks()):
            if (
                mark.role is Role.TABLE
                and mark.kind is not OriginKind.SOURCE
                and is_invented(mark, self.context)
            ):
                for cell in mark.cells:
                    if re.search(rf"(?<!\w){re.escape(cell.casefold())}(?!\w)", lowered):
                        yield _make_fabricated(cell, mark)
                        break

    def defaults(self) -> Iterator[Origin]:
        """Yield the origin of the first text put in place of what failed that the answer repeats."""
        if self.context.answer_reports_failure or self.context.allows_invention:
            return
        lowered = self.answer[:_MAX_ANSWER].casefold()
        for mark in dict.fromkeys(self._list_shown_marks()):
            if mark.kind is OriginKind.DEFAULT and mark.role is Role.TEXT and mark.instead:
                for cell in mark.cells:
                    if re.search(rf"(?<!\w){re.escape(cell.casefold().rstrip('.'))}(?!\w)", lowered):
                        yield _make_fabricated(cell, mark)
                        return

    def counts(self) -> Iterator[Origin]:
        """Yield small counts, where all the run showed is invented and they are all that was printed."""
        working = [
            code
            for code in self.steps
            if any(s.roots and not s.answers for s in self._find_shown_values(code))
        ]
        if (
            self.context.has_source
            or not working
            or any(code.span_id not in self.made_up for code in working)
        ):
            return
        for written, number in iter_numbers(self.answer[:_MAX_ANSWER]):
            for code in working:
                if number in find_numbers(code.printed) and not self.flow.known.holds(number):
                    mark = self._choose_blamed_mark(shown.roots for shown in self._find_shown_values(code))
                    if mark is not None and mark.role is Role.TABLE:
                        yield _make_fabricated(written, mark)
                        return

    def _find_origin(self, number: str, written: str) -> Origin:
        sourced = Origin(written, OriginKind.SOURCE, fabricated=False)
        if self.flow.known.holds(number):
            rate = next((mark for each, mark in self.by_rates.items() if rounds_to(each, number)), None)
            if rate is not None:
                return _leave_open(_make_fabricated(written, rate))
            return self._find_drawn_origin(number, written) or sourced
        default = self._find_default(number)
        if default is not None:
            return _make_fabricated(written, default)
        for code in self.steps:
            if any(rounds_to(each, number) for each in find_numbers(code.printed)):
                given = [
                    shown for shown in self._select_giving_values(code, number) if number not in shown.said
                ]
                if code.is_stopped and not given:
                    return Origin(
                        written, OriginKind.PARTIAL, fabricated=True, step=code.step, span_id=code.span_id
                    )
                if given:
                    return self._decide_origin(written, [shown.roots for shown in given])
        handed = [shown.roots for shown in self.flow.shown if shown.answers and number not in shown.said]
        if any(handed):
            return self._decide_origin(written, handed)
        return self._find_written_origin(number, written) or sourced

    def _find_drawn_origin(self, number: str, written: str) -> Origin | None:
        """Return the draw behind a number that the task or a prompt happens to hold, and no tool gave."""
        if self.flow.known.gave(number) or self.context.allows_invention:
            return None
        giving = [shown for code in self.steps for shown in self._select_computed_values(code, number)]
        if not giving or not all(_is_chance(shown.roots) for shown in giving):
            return None
        mark = self._choose_blamed_mark(shown.roots for shown in giving)
        return _make_fabricated(written, mark) if mark is not None else None

    def _select_computed_values(self, code: CodeStep, number: str) -> Iterator[ShownValue]:
        """Yield the computed values of a snippet that may have printed a number, or handed it over."""
        if any(rounds_to(each, number) for each in find_numbers(code.printed)):
            yield from (
                each
                for each in self._select_giving_values(code, number)
                if each.roots and number not in each.said
            )

    def _find_default(self, number: str) -> ValueRoot | None:
        """Return the default that gave a number which no source holds."""
        for mark in self._list_shown_marks():
            is_value = mark.kind is OriginKind.DEFAULT and mark.specific and mark.role is not Role.TEXT
            if is_value and number in mark.numbers and not self.context.allows_invention:
                return mark
        return None

    def _decide_origin(self, written: str, roots: Sequence[Roots]) -> Origin:
        """Decide the origin of a number that these values gave: fabricated where all are invented."""
        rooted = [each for each in roots if each]
        if rooted and all(map(self._is_made_up, rooted)):
            mark = self._choose_blamed_mark(rooted)
            if mark is not None:
                return _make_fabricated(written, mark)
        by_heart = self._find_code_only_mark(rooted) or self._find_rate(rooted)
        if by_heart is not None:
            return _leave_open(_make_fabricated(written, by_heart))
        return Origin(written, OriginKind.SOURCE, fabricated=False)

    def _find_code_only_mark(self, rooted: Sequence[Roots]) -> ValueRoot | None:
        """Return the data that these values rest on if only code holds it; None if one has a source."""
        if self.context.allows_invention or any(FROM_SOURCE in each for each in rooted):
            return None
        marks = sorted(frozenset[ValueRoot]().union(*rooted), key=lambda mark: (mark.step, mark.line))
        return next((mark for mark in marks if mark.role in _COMPUTED - {Role.CLOCK} and mark.weighs), None)

    def _find_rated_numbers(self, code: CodeStep) -> Iterator[tuple[str, ValueRoot]]:
        """Yield numbers that code prints and no source holds, with the rate of its own that gave each."""
        if any(self._find_rate([shown.roots]) is not None for shown in self._find_shown_values(code)):
            for number in find_numbers(code.printed):
                giving = [shown.roots for shown in self._select_giving_values(code, number) if shown.roots]
                rate = self._find_rate(giving)
                if rate is not None and not self.flow.known.holds(number):
                    yield number, rate

    def _find_rate(self, rooted: Sequence[Roots]) -> ValueRoot | None:
        """Return the number, held by no source, by which code works these values out of a source."""
        if self.context.allows_invention:
            return None
        found = [
            min(_select_rates(roots), key=lambda mark: (mark.step, mark.line), default=None)
            for roots in rooted
        ]
        return found[0] if found and None not in found else None

    def _fills_in(self, roots: Roots) -> bool:
        """Whether a rate in the code takes the place of one that could not be looked up.

        No tool gave anything: what else the value rests on is given by the task.
        """
        of = self.context
        if self.context.has_source or of.allows_invention or of.answer_reports_failure:
            return False
        about = QUOTED | of.failed_topics
        return any(of.lacked_data(mark.step) and mark.words & about for mark in _select_rates(roots))

    def _find_written_origin(self, number: str, written: str) -> Origin | None:
        """Return the origin of a number that nothing computed: the line that writes it down, or nothing."""
        marks = [mark for mark in self._list_shown_marks() if number in mark.numbers]
        for mark in marks:
            invented = is_invented(mark, self.context) or replaces_source(mark, self.context)
            if mark.role in _COMPUTED and invented:
                return _make_fabricated(written, mark)
        if self.context.nothing_worked or (self.context.did_nothing and self.context.should_look_up):
            if marks:
                return _make_fabricated(written, marks[0])
            written_down = self._find_in_line(number, written)
            if written_down is None and self.context.has_report:
                return None  # It may follow from the report: "over 90 % pass" where 44 of 48 do.
            return written_down or Origin(written, OriginKind.NOTHING, fabricated=True)
        if self._has_brought_nothing():
            return Origin(written, OriginKind.NOTHING, fabricated=True, step=self.context.first_lack)
        if not self.context.has_source and self.made_up:
            blamed = self._choose_blamed_mark(
                shown.roots for span in self.made_up for shown in self.by_span[span]
            )
            if blamed is not None:
                return _make_fabricated(written, blamed)
        return None

    def _has_brought_nothing(self) -> bool:
        """Whether some step brought nothing, none brought a number, and the task has none to reckon with."""
        of = self.context
        if of.first_lack is None or of.allows_invention or self.flow.known.gave_values:
            return False
        return len(find_numbers(self.flow.known.task)) < _ENOUGH_TO_RECKON

    def _find_in_line(self, number: str, written: str) -> Origin | None:
        for code in self.steps:
            for at, line in enumerate(code.source.splitlines(), 1):
                if number in find_numbers(line):
                    place = ValueRoot(
                        OriginKind.LITERAL, Role.TEXT, code.step, code.span_id, at, line.strip()[:160]
                    )
                    return _make_fabricated(written, place)
        return None

    def _select_giving_values(self, code: CodeStep, number: str) -> Sequence[ShownValue]:
        """Return the values that may have printed a number: by the label on its line, else all."""
        own = [shown for shown in self._find_shown_values(code) if not shown.answers]
        lines = [
            line
            for line in code.printed.splitlines()
            if any(rounds_to(each, number) for each in find_numbers(line))
        ]
        labelled = [shown for shown in own if shown.label and any(shown.label in line for line in lines)]
        bare = [shown for shown in own if not any(shown.label in line for line in code.printed.splitlines())]
        return labelled or [shown for shown in own if not shown.label] or bare or own

    def _find_shown_values(self, code: CodeStep) -> Sequence[ShownValue]:
        return self.by_span.get(code.span_id, ())

    def _list_shown_marks(self) -> Iterator[ValueRoot]:
        """Yield the marks that something shown rests on, in order."""
        for shown in self.flow.shown:
            yield from sorted(shown.roots, key=lambda mark: (mark.step, mark.line))

    def _is_made_up(self, roots: Roots) -> bool:
        return is_made_up(roots, self.context) or self._fills_in(roots)

    def _is_doubtful(self, roots: Roots, code: CodeStep) -> bool:
        """Whether a value is invented, a default, or only written down: its print bears nothing out."""
        defaults = [mark for mark in roots if mark.kind is OriginKind.DEFAULT]
        if any(number in find_numbers(code.printed) for mark in defaults for number in mark.numbers):
            return True
        texts = FROM_SOURCE not in roots and all(mark.role is Role.TEXT for mark in roots)
        return texts or self._is_made_up(roots) or self._find_code_only_mark([roots]) is not None

    def _choose_blamed_mark(self, roots: Iterable[Roots]) -> ValueRoot | None:
        """Return the mark to name: one that spoils, else the first that is invented."""
        marks = sorted(frozenset[ValueRoot]().union(*roots), key=lambda mark: (mark.step, mark.line))
        marks = [mark for mark in marks if mark.kind is not OriginKind.SOURCE]
        spoiling = [mark for mark in marks if replaces_source(mark, self.context)]
        return next(iter(spoiling or [mark for mark in marks if is_invented(mark, self.context)]), None)


def _make_fabricated(written: str, mark: ValueRoot) -> Origin:
    return Origin(
        written,
        mark.kind,
        fabricated=True,
        step=mark.step,
        span_id=mark.span_id,
        line=mark.line,
        source=mark.text,
    )


def _is_chance(roots: Roots) -> bool:
    return FROM_SOURCE not in roots and any(mark.kind is OriginKind.CHANCE for mark in roots)


def _select_rates(roots: Iterable[ValueRoot]) -> Iterator[ValueRoot]:
    """Yield the single numbers of its own by which code changes a value that has a source."""
    marks = list(roots)
    if FROM_SOURCE in marks:
        yield from (
            mark
            for mark in marks
            if mark.role is Role.SCALAR and mark.specific and mark.kind is not OriginKind.SOURCE
        )


def _leave_open(origin: Origin) -> Origin:
    return replace(origin, fabricated=False, unsettled=origin.fabricated or origin.unsettled)


def _find_stated_numbers(answer: str) -> dict[str, str]:
    """Return the numbers an answer states, as written, by their plain form, but small counts and years."""
    found: dict[str, str] = {}
    for written, number in iter_numbers(answer[:_MAX_ANSWER]):
        if not _is_small(number, written):
            found.setdefault(number, written)
    return found


def _is_small(number: str, written: str) -> bool:
    """Whether a number is a small count or a year: alone it says nothing of where it comes from."""
    value = float(number)
    return value.is_integer() and "." not in written and (value <= SMALL or 1900 <= value <= 2100)

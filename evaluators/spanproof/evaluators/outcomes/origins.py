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
from itertools import chain

from spanproof.evaluators.outcomes.context import RunContext
from spanproof.evaluators.outcomes.flow import CodeStep, DataFlow, Roots, ShownValue
from spanproof.evaluators.outcomes.inventing import is_invented, is_made_up, replaces_source
from spanproof.evaluators.outcomes.literals import FROM_SOURCE, SMALL, Role, ValueRoot
from spanproof.evaluators.outcomes.model import Origin, OriginKind
from spanproof.reading.answer_words import (
    QUOTED,
    discloses,
    is_readable,
    list_topics,
    reports_nothing,
)
from spanproof.reading.numerals import gives_number, iter_numbers, list_numbers, rounds_to
from spanproof.reading.source_values import SourceValues

_MAX_ANSWER = 20_000
# A small number and the two words after it.
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


def build_value_trace(
    answer: str, steps: Sequence[CodeStep], sources: SourceValues, context: RunContext
) -> ValueTrace:
    """Return where each value of the answer comes from, and which code shows nothing but inventions.

    Args:
        answer: as the run gave it; empty where it gave none.
        steps: its executed Python, in order.
        sources: what the sources hold; what sourced code shows is added.
        context: what the run was to do and had for it.
    """
    tracer = _Tracer(answer, steps, DataFlow(sources), context)
    tracer.handle_steps()
    if not answer.strip() or discloses(answer):
        return ValueTrace((), frozenset(tracer.made_up))
    found = [*tracer.iter_number_origins(), *tracer.iter_name_origins(), *tracer.iter_default_origins()]
    if not any(origin.fabricated for origin in found):
        found += tracer.iter_count_origins()
    if not is_readable(answer):
        found = [_build_open_origin(origin) for origin in found]
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

    def handle_steps(self) -> None:
        """Follow the values through all code, in order."""
        for code in self.steps:
            before = len(self.flow.shown)
            self.flow.handle_code(code)
            own = self.flow.shown[before:]
            self.by_span.setdefault(code.span_id, []).extend(own)
            rooted = [shown for shown in own if shown.roots]
            is_doubtful = any(self._is_doubtful(shown.roots, code) for shown in rooted)
            if rooted and all(self._is_made_up(shown.roots) for shown in rooted):
                self.made_up.add(code.span_id)
            elif not (code.is_stopped or code.hands_over or is_doubtful):
                self.by_rates.update(self._iter_rated_numbers(code))
                self.flow.sources.add_result(code.printed)

    def iter_number_origins(self) -> Iterator[Origin]:
        """Yield the origins of the numbers that the answer states."""
        for number, written in _get_stated_numbers(self.answer).items():
            yield self._get_origin(number, written)
        if self.context.nothing_worked and not self.context.allows_invention:
            yield from self._iter_small_counts()

    def _iter_small_counts(self) -> Iterator[Origin]:
        """Yield small counts of what the task is about ("6 microscopes"), where nothing done gave any."""
        if self.context.answer_reports_failure or reports_nothing(self.answer, self.flow.sources.task):
            return
        for found in _COUNTED.finditer(self.answer[:_MAX_ANSWER]):
            number = found["number"]
            about = list_topics(found["things"]) & self.context.task_topics
            if about and 0 < int(number) <= SMALL and not self.flow.sources.holds(number):
                nothing = Origin(number, OriginKind.NOTHING, fabricated=True)
                yield self._find_in_line(number, number) or nothing

    def iter_name_origins(self) -> Iterator[Origin]:
        """Yield the origins of texts of invented tables that the answer repeats."""
        lowered = self.answer[:_MAX_ANSWER].casefold()
        for mark in self._list_shown_marks():
            is_own_table = mark.role is Role.TABLE and mark.kind is not OriginKind.SOURCE
            if is_own_table and is_invented(mark, self.context):
                for cell in mark.cells:
                    if re.search(rf"(?<!\w){re.escape(cell.casefold())}(?!\w)", lowered):
                        yield _build_fabricated_origin(cell, mark)
                        break

    def iter_default_origins(self) -> Iterator[Origin]:
        """Yield the origin of the first text put in place of what failed that the answer repeats."""
        if self.context.answer_reports_failure or self.context.allows_invention:
            return
        lowered = self.answer[:_MAX_ANSWER].casefold()
        for mark in self._list_shown_marks():
            if mark.kind is OriginKind.DEFAULT and mark.role is Role.TEXT and mark.instead:
                for cell in mark.cells:
                    if re.search(rf"(?<!\w){re.escape(cell.casefold().rstrip('.'))}(?!\w)", lowered):
                        yield _build_fabricated_origin(cell, mark)
                        return

    def iter_count_origins(self) -> Iterator[Origin]:
        """Yield small counts, where all the run showed is invented and they are all that was printed."""
        printing = [
            code
            for code in self.steps
            if any(shown.roots and not shown.answers for shown in self._get_shown_values(code))
        ]
        is_made_up = all(code.span_id in self.made_up for code in printing)
        if self.context.has_source or not printing or not is_made_up:
            return
        for written, number in iter_numbers(self.answer[:_MAX_ANSWER]):
            for code in printing:
                if number in list_numbers(code.printed) and not self.flow.sources.holds(number):
                    mark = self._find_blamed_mark(self._get_shown_values(code))
                    if mark is not None and mark.role is Role.TABLE:
                        yield _build_fabricated_origin(written, mark)
                        return

    def _get_origin(self, number: str, written: str) -> Origin:
        sourced = Origin(written, OriginKind.SOURCE, fabricated=False)
        if self.flow.sources.holds(number):
            origin = self._find_rated_origin(number, written) or self._find_drawn_origin(number, written)
            return origin or sourced
        default = self._find_default(number)
        if default is not None:
            return _build_fabricated_origin(written, default)
        printed = self._find_printed_origin(number, written)
        if printed is not None:
            return printed
        handed_over = [shown for shown in self.flow.shown if shown.answers and number not in shown.written]
        if any(shown.roots for shown in handed_over):
            return self._build_origin(written, handed_over)
        return self._find_written_origin(number, written) or sourced

    def _find_printed_origin(self, number: str, written: str) -> Origin | None:
        """Return the origin of a number that code printed, by the values which it printed."""
        for code in self.steps:
            if gives_number(code.printed, number):
                values = self._select_giving_values(code, number)
                giving = [shown for shown in values if number not in shown.written]
                if giving:
                    return self._build_origin(written, giving)
                if code.is_stopped:
                    return Origin(
                        written, OriginKind.PARTIAL, fabricated=True, step=code.step, span_id=code.span_id
                    )
        return None

    def _find_rated_origin(self, number: str, written: str) -> Origin | None:
        """Return the rate, held by no source, by which code works a number out of a source."""
        for rated, mark in self.by_rates.items():
            if rounds_to(rated, number):
                return _build_open_origin(_build_fabricated_origin(written, mark))
        return None

    def _find_drawn_origin(self, number: str, written: str) -> Origin | None:
        """Return the random draw of a number that the task or a prompt happens to hold, and no tool gave."""
        if self.flow.sources.has_given(number) or self.context.allows_invention:
            return None
        giving = [shown for code in self.steps for shown in self._iter_computed_values(code, number)]
        if not giving or not all(_is_chance(shown.roots) for shown in giving):
            return None
        mark = self._find_blamed_mark(giving)
        if mark is not None:
            return _build_fabricated_origin(written, mark)
        return None

    def _iter_computed_values(self, code: CodeStep, number: str) -> Iterator[ShownValue]:
        """Yield the computed values of a snippet that may have printed a number, or handed it over."""
        if gives_number(code.printed, number):
            for shown in self._select_giving_values(code, number):
                if shown.roots and number not in shown.written:
                    yield shown

    def _find_default(self, number: str) -> ValueRoot | None:
        """Return the default that gave a number which no source holds."""
        for mark in self._list_shown_marks():
            is_value = mark.kind is OriginKind.DEFAULT and mark.specific and mark.role is not Role.TEXT
            if is_value and number in mark.numbers and not self.context.allows_invention:
                return mark
        return None

    def _build_origin(self, written: str, values: Sequence[ShownValue]) -> Origin:
        """Decide the origin of a number that these values gave: fabricated where all are invented."""
        rooted = [shown.roots for shown in values if shown.roots]
        if rooted and all(map(self._is_made_up, rooted)):
            mark = self._find_blamed_mark(values)
            if mark is not None:
                return _build_fabricated_origin(written, mark)
        by_heart = self._find_code_only_mark(rooted) or self._find_rate(rooted)
        if by_heart is not None:
            return _build_open_origin(_build_fabricated_origin(written, by_heart))
        return Origin(written, OriginKind.SOURCE, fabricated=False)

    def _find_code_only_mark(self, rooted: Sequence[Roots]) -> ValueRoot | None:
        """Return the data that these values rest on if only code holds it; None if one has a source."""
        marks = _list_sorted_marks(frozenset[ValueRoot]().union(*rooted))
        if self.context.allows_invention or FROM_SOURCE in marks:
            return None
        return next((mark for mark in marks if mark.role in _COMPUTED - {Role.CLOCK} and mark.weighs), None)

    def _iter_rated_numbers(self, code: CodeStep) -> Iterator[tuple[str, ValueRoot]]:
        """Yield numbers that code prints and no source holds, with the rate of its own that gave each."""
        if any(self._find_rate([shown.roots]) is not None for shown in self._get_shown_values(code)):
            for number in sorted(list_numbers(code.printed)):
                giving = [shown.roots for shown in self._select_giving_values(code, number) if shown.roots]
                rate = self._find_rate(giving)
                if rate is not None and not self.flow.sources.holds(number):
                    yield number, rate

    def _find_rate(self, rooted: Sequence[Roots]) -> ValueRoot | None:
        """Return the number, held by no source, by which code works these values out of a source."""
        if self.context.allows_invention:
            return None
        rates = [next(iter(_list_sorted_marks(_iter_rates(roots))), None) for roots in rooted]
        return rates[0] if rates and None not in rates else None

    def _fills_in(self, roots: Roots) -> bool:
        """Whether a rate in the code takes the place of one that could not be looked up.

        No tool gave anything: what else the value rests on is given by the task.
        """
        of = self.context
        if self.context.has_source or of.allows_invention or of.answer_reports_failure:
            return False
        about = QUOTED | of.failed_topics
        return any(of.was_without_data(mark.step) and mark.words & about for mark in _iter_rates(roots))

    def _find_written_origin(self, number: str, written: str) -> Origin | None:
        """Return the origin of a number that nothing computed: the line that writes it down, or nothing."""
        marks = [mark for mark in self._list_shown_marks() if number in mark.numbers]
        invented = next(filter(self._is_computed_invention, marks), None)
        if invented is not None:
            return _build_fabricated_origin(written, invented)
        skipped_look_up = self.context.did_nothing and self.context.should_look_up
        if self.context.nothing_worked or skipped_look_up:
            origin = (
                _build_fabricated_origin(written, marks[0]) if marks else self._find_in_line(number, written)
            )
            if origin is None and self.context.has_report:
                return None  # It may follow from the report: "over 90 % pass" where 44 of 48 do.
            return origin or Origin(written, OriginKind.NOTHING, fabricated=True)
        if self._has_brought_nothing():
            return Origin(written, OriginKind.NOTHING, fabricated=True, step=self.context.first_lack)
        if not self.context.has_source:
            blamed = self._find_blamed_mark(chain.from_iterable(map(self.by_span.__getitem__, self.made_up)))
            if blamed is not None:
                return _build_fabricated_origin(written, blamed)
        return None

    def _is_computed_invention(self, mark: ValueRoot) -> bool:
        is_invention = is_invented(mark, self.context) or replaces_source(mark, self.context)
        return mark.role in _COMPUTED and is_invention

    def _has_brought_nothing(self) -> bool:
        """Whether some step gave no result, none gave a number, and the task has none to calculate with."""
        of = self.context
        if of.first_lack is None or of.allows_invention or self.flow.sources.gave_values:
            return False
        return len(list_numbers(self.flow.sources.task)) < _ENOUGH_TO_RECKON

    def _find_in_line(self, number: str, written: str) -> Origin | None:
        for code in self.steps:
            for at, line in enumerate(code.source.splitlines(), 1):
                if number in list_numbers(line):
                    mark = ValueRoot(
                        OriginKind.LITERAL, Role.TEXT, code.step, code.span_id, at, line.strip()[:160]
                    )
                    return _build_fabricated_origin(written, mark)
        return None

    def _select_giving_values(self, code: CodeStep, number: str) -> Sequence[ShownValue]:
        """Return the values that may have printed a number: by the label on its line, else all."""
        own = [shown for shown in self._get_shown_values(code) if not shown.answers]
        lines = code.printed.splitlines()
        giving = [line for line in lines if gives_number(line, number)]
        labelled = [shown for shown in own if shown.label and any(shown.label in line for line in giving)]
        unlabelled = [shown for shown in own if not shown.label]
        bare = [shown for shown in own if not any(shown.label in line for line in lines)]
        return labelled or unlabelled or bare or own

    def _get_shown_values(self, code: CodeStep) -> Sequence[ShownValue]:
        return self.by_span.get(code.span_id, ())

    def _list_shown_marks(self) -> Sequence[ValueRoot]:
        """Return the marks that something shown rests on, in order."""
        return list(
            dict.fromkeys(mark for shown in self.flow.shown for mark in _list_sorted_marks(shown.roots))
        )

    def _is_made_up(self, roots: Roots) -> bool:
        return is_made_up(roots, self.context) or self._fills_in(roots)

    def _is_doubtful(self, roots: Roots, code: CodeStep) -> bool:
        """Whether a value is invented, a default, or only written down: its output supports nothing."""
        defaults = [mark for mark in roots if mark.kind is OriginKind.DEFAULT]
        if any(number in list_numbers(code.printed) for mark in defaults for number in mark.numbers):
            return True
        texts = FROM_SOURCE not in roots and all(mark.role is Role.TEXT for mark in roots)
        return texts or self._is_made_up(roots) or self._find_code_only_mark([roots]) is not None

    def _find_blamed_mark(self, values: Iterable[ShownValue]) -> ValueRoot | None:
        """Return the mark to name: one that spoils, else the first that is invented."""
        marks = _list_sorted_marks(frozenset[ValueRoot]().union(*(shown.roots for shown in values)))
        marks = [mark for mark in marks if mark.kind is not OriginKind.SOURCE]
        spoiling = [mark for mark in marks if replaces_source(mark, self.context)]
        return next(iter(spoiling or [mark for mark in marks if is_invented(mark, self.context)]), None)


def _list_sorted_marks(marks: Iterable[ValueRoot]) -> list[ValueRoot]:
    """Return marks by their place; those of one place in an order that does not depend on the process."""
    return sorted(
        marks, key=lambda mark: (mark.step, mark.line, mark.kind, mark.role, mark.numbers, mark.cells)
    )


def _build_fabricated_origin(written: str, mark: ValueRoot) -> Origin:
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


def _iter_rates(roots: Iterable[ValueRoot]) -> Iterator[ValueRoot]:
    """Yield the single numbers of its own by which code changes a value that has a source."""
    marks = list(roots)
    if FROM_SOURCE in marks:
        for mark in marks:
            is_own = mark.role is Role.SCALAR and mark.kind is not OriginKind.SOURCE
            if is_own and mark.specific:
                yield mark


def _build_open_origin(origin: Origin) -> Origin:
    return replace(origin, fabricated=False, unsettled=origin.fabricated or origin.unsettled)


def _get_stated_numbers(answer: str) -> dict[str, str]:
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

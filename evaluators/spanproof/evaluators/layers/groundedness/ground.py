"""Ground an answer: read its passages, bind what each asserts, and enter the verdicts in a ledger.

In: the outputs in the order of the turns, the answer, and what is known beside them. Out: a `Ledger`.
Deterministic, nothing executed, no service called. What is not bound is open, never contradicted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from itertools import chain
from typing import Final

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness import alarms, bind, relations, unread, wrong_results
from spanproof.evaluators.layers.groundedness.absence import AbsenceBinder
from spanproof.evaluators.layers.groundedness.bind import ValueBinder
from spanproof.evaluators.layers.groundedness.derive import derive
from spanproof.evaluators.layers.groundedness.doings import Doing, DoingBinder
from spanproof.evaluators.layers.groundedness.doubts import may_mean_other
from spanproof.evaluators.layers.groundedness.ledger import Ledger, Part, Sentence, SentenceVerdict
from spanproof.evaluators.layers.groundedness.model import Cause, Claim, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.printed_results import find_printed_result
from spanproof.evaluators.layers.groundedness.prose import ProseIndex
from spanproof.evaluators.layers.groundedness.reader import Reading, Stated, read_passage
from spanproof.evaluators.layers.groundedness.states import StateBinder
from spanproof.evaluators.layers.groundedness.world import World, build_world
from spanproof.reading.agreement import Hedge, are_comparable
from spanproof.reading.answer_sources import Context, SourceKind, gather
from spanproof.reading.lexicon import is_of
from spanproof.reading.numerals import find_numbers
from spanproof.reading.records import Fact
from spanproof.reading.sentences import (
    Form,
    Mood,
    Passage,
    detect_language,
    has_words,
    parse_words,
    read_passages,
)
from spanproof.reading.statements import is_polar_answer, is_subordinating
from spanproof.reading.values import NUMERIC, Kind, Value, is_same_date
from spanproof.reading.words import STOP, base_forms_of

ALL_RULES: Final = frozenset(GroundednessRule)
# Kinds of claims that say something of their subject; a name alone says nothing.
_VALUE_KINDS: Final = frozenset(ClaimKind) - {ClaimKind.NAME, ClaimKind.IDENTIFIER}
# Words before a rate that the task gave, and that the answer starts from.
_STARTING_FROM: Final = frozenset(("with", "at", "after", "including", "plus"))
# How a passage begins that says only what its author will or would do.
_OWN_PLAN: Final = re.compile(r"(?:i['’](?:d|ll)|i (?:would|will|suggest|recommend)|we['’]d) ", re.IGNORECASE)
# A day or a month, as arguments of calls have them.
_DATE_OR_MONTH: Final = re.compile(r"\b(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b")
_PLAIN_PARTS: Final = frozenset(("PUNCT", "NOUN", "DET", "ADP", "PRON", "AUX", "CCONJ"))
# Characters up to which the task's words say of what language an answer is.
_LONGEST_SHORT: Final = 60


def ground(
    outputs: Sequence[str],
    answer: str,
    task: str | None = None,
    synonyms: Mapping[str, Sequence[str]] | None = None,
    now: datetime | None = None,
    *,
    system: str | None = None,
    arguments: Sequence[str] = (),
    errors: Sequence[str] = (),
    code: Sequence[str] = (),
    earlier: Sequence[str] = (),
    without_rules: Collection[GroundednessRule] = (),
    doings: Sequence[Doing] = (),
) -> Ledger:
    """Return the ledger of an answer.

    Args:
        outputs: what execution returned, as text, in the order of the turns.
        answer: what the agent says.
        task: the task.
        synonyms: a user's own words for states, by the state's usual name.
        now: when the answer was given, for "yesterday" and "in three days".
        system: the system prompt.
        arguments: what the agent handed to tools.
        errors: texts of calls that failed.
        code: what the agent ran before it answered; a value that it writes down is no misquote.
        earlier: what the user said in the turns before.
        without_rules: rules that contradict nothing.
        doings: the calls of the run, for what the answer says was done.
    """
    context = Context(task or "", system or "", tuple(arguments), tuple(errors), tuple(code), tuple(earlier))
    passages = read_passages(answer)
    asserting = [passage for passage in passages if _may_assert(passage)]
    if not asserting:
        return Ledger(tuple(_enter_silent(passage, answer) for passage in passages))
    calls = {doing.output: (doing.tool, doing.arguments) for doing in doings if doing.output is not None}
    world = build_world(gather(outputs, context, calls), code)
    grounder = _Grounder(world, context, StateBinder(world, synonyms), doings)
    grounder.today = now.date() if now is not None else None
    grounder.rules = ALL_RULES.difference(without_rules)
    return Ledger(tuple(grounder.judge(answer, passages)))


def _may_assert(passage: Passage) -> bool:
    return passage.mood in (Mood.ASSERTING, Mood.PLAN)


def _enter_silent(passage: Passage, answer: str) -> Sentence:
    start, end = passage.start, passage.end
    return Sentence(answer[start:end], start, end, SentenceVerdict.NO_ASSERTION)


class _Grounder:
    """Judges the passages of one answer, in order."""

    rules: frozenset[GroundednessRule] = ALL_RULES
    today: date | None = None

    def __init__(self, world: World, context: Context, states: StateBinder, doings: Sequence[Doing]) -> None:
        self.world = world
        # Nouns of the task and of the code say what the outputs are about: `print(refund())`.
        self.task_words = base_forms_of(" ".join((*context.earlier, context.task, *context.code)))
        self.task = context.task.lower()
        self.binder = ValueBinder(world, self.task_words, context.task)
        self.states = states
        self.doings = DoingBinder(world, doings, (*context.arguments, *context.code, *context.errors))
        self.prose = ProseIndex(world)
        calls = tuple(f"{doing.tool} {doing.arguments}" for doing in doings)
        self.absence = AbsenceBinder(world, self.task_words, tuple(context.errors), calls)
        self.written = {float(number) for source in context.code for number in find_numbers(source)}

    def judge(self, answer: str, passages: Sequence[Passage]) -> list[Sentence]:
        """Return the sentences of an answer with their verdicts."""
        # A short answer has too few function words of its own.
        is_short = len(answer) <= _LONGEST_SHORT
        self.language = detect_language(f"{self.task} {answer}" if is_short else answer)
        readings = self._read(passages)
        self.printed = None
        spoken = [other for other in readings if other is not None]
        self.binder.stated = tuple(stated for other in spoken for stated in other.stated)
        self.binder.is_task_polar |= is_polar_answer(answer)
        if not any(other.stated for other in spoken):
            self.printed = self.prose.find_printed(spoken, self.task_words)
        found = []
        for index, passage in enumerate(passages):
            reading = readings[index]
            if reading is None:
                found.append(_enter_silent(passage, answer))
                continue
            self._set_scope(reading, index, readings)
            found.append(
                self._evaluate_reading(answer, reading, [other for other in readings if other is not None])
            )
        return found

    def _read(self, passages: Sequence[Passage]) -> list[Reading | None]:
        chosen = [index for index, passage in enumerate(passages) if _may_assert(passage)]
        worded = [index for index in chosen if has_words(passages[index])]
        parsed = dict(
            zip(worded, parse_words([passages[index] for index in worded], self.language), strict=True)
        )
        readings: list[Reading | None] = [None] * len(passages)
        for index in chosen:
            words = parsed.get(index) or parse_words([passages[index]], "")[0]
            reading = read_passage(passages[index], words, self.world, self.today)
            if len(passages) == 1 or not _is_silent(reading, self.language, self.task_words):
                readings[index] = reading
        return readings

    def _set_scope(self, reading: Reading, index: int, readings: Sequence[Reading | None]) -> None:
        """Set what is above a passage; else what the passage before it is about."""
        above = [other for at in reading.passage.above if (other := readings[at]) is not None]
        reading.scope_words = frozenset(word.form for other in above for word in other.words)
        nearest = next((other.names for other in reversed(above) if other.names), [])
        before = readings[index - 1] if index else None
        if nearest:
            reading.scope = [name for name in nearest if len(name.rows) == 1][:1] or []
        elif (
            before is not None
            and before.names
            and not reading.names
            and reading.passage.form is Form.SENTENCE
        ):
            reading.scope = before.names[:1]

    def _evaluate_reading(self, answer: str, reading: Reading, readings: Sequence[Reading]) -> Sentence:
        start, end = reading.passage.start, reading.passage.end
        absent = self.absence.bind(reading) if self.language == "en" else None
        if absent is not None:
            return Sentence(answer[start:end], start, end, SentenceVerdict.CHECKED, (absent,))
        quoted = self.printed or self.prose.find_sentence(reading)
        if quoted is not None:
            reading.cover(*range(len(reading.words)))
        self._judge_values(reading, readings, is_quoted=quoted is not None)
        if self.language == "en":
            self._judge_relations(reading)
        for claim in unread.bind_names(reading, self.binder, self.states.fields):
            self._enter(claim, reading)
        if quoted is not None:
            whole = (0, len(reading.text))
            claim = bind.build_claim(reading, *whole, ClaimKind.QUOTE, Verdict.GROUNDED, Cause.STATED, quoted)
            reading.claims.append(claim)
        stretches = unread.list_unread(reading, self.binder)
        claims = tuple(sorted(reading.claims, key=lambda claim: (claim.start, claim.end)))
        parts = tuple(Part(answer[low:high], low, high) for low, high in stretches)
        return Sentence(answer[start:end], start, end, _decide(claims, parts), claims, parts)

    def _judge_values(self, reading: Reading, readings: Sequence[Reading], *, is_quoted: bool) -> None:
        """Enter the claims of a passage's values and states; a quoted passage has no unsettled ones."""
        pending: list[tuple[Stated, list[Fact]]] = []
        for stated, fact, matches in self.binder.bind(reading):
            if fact is None:
                pending.append((stated, matches))
                continue
            self._enter_value(stated, fact, reading)
        if self.language == "en":
            for claim in self.states.bind(reading):
                self._enter(claim, reading)
        for stated, matches in () if is_quoted else pending:
            self._settle_unbound(stated, matches, reading, readings)

    def _judge_relations(self, reading: Reading) -> None:
        """Enter the claims of what an English passage says of several rows, or that the agent did."""
        unread.cover_cues(reading, self.task)
        unread.cover_requested(reading, self.binder, self.task)
        relations.cover_whole(reading)
        related = relations.verify_relations(reading, self.binder)
        quantified = relations.verify_quantifiers(reading, self.binder, self.states)
        for claim in chain(related, quantified, self.doings.bind(reading)):
            self._enter(claim, reading)

    def _enter(self, claim: Claim, reading: Reading) -> None:
        if claim.verdict is not Verdict.CONTRADICTED or claim.rule in self.rules:
            reading.claims.append(claim)

    def _enter_value(self, stated: Stated, fact: Fact, reading: Reading) -> None:
        overtaken = alarms.find_overtaken(stated, fact, reading, self.binder)
        if overtaken is not None:
            self._enter(overtaken, reading)
            return
        if may_mean_other(stated, fact, reading, self.world):
            reading.claims.append(bind.build_open_claim(stated, reading, fact, self.world))
            return
        reading.by_stated[stated.start] = fact
        self._enter_agreeing(stated, bind.get_claim_kind(stated), (fact,), reading)

    def _enter_agreeing(
        self, stated: Stated, kind: ClaimKind, facts: Sequence[Fact], reading: Reading, program: str = ""
    ) -> None:
        """Enter the claim of a value that facts bear out, the first of them as its evidence."""
        reading.cover(*stated.words)
        reading.bound += facts
        span = (stated.start, stated.end)
        reading.claims.append(bind.build_agreeing_claim(reading, span, kind, facts[0], self.world, program))

    def _settle_unbound(
        self, stated: Stated, matches: list[Fact], reading: Reading, readings: Sequence[Reading]
    ) -> None:
        """Enter the claim of a value of no named field: derived, counted, given, contradicted or open."""
        span = (stated.start, stated.end)
        kind = bind.get_claim_kind(stated)
        is_english = self.language == "en"
        derived = derive(stated, reading, self.binder) if is_english else None
        if derived is not None:
            self._enter_agreeing(stated, kind, derived.facts, reading, derived.program)
            return
        counted = relations.count_rows(stated, reading, self.binder, self.states) if is_english else None
        if counted is not None:
            reading.cover(*counted.words)
            self._enter_agreeing(stated, ClaimKind.COUNT, counted.facts[:1], reading, counted.program)
            return
        provided = [fact for fact in matches if not self.world.is_output(fact)]
        if provided and self._is_given(stated, provided, reading):
            reading.cover(*stated.words)
            reading.claims.append(bind.build_agreeing_claim(reading, span, kind, provided[0], self.world))
            return
        words = frozenset(word.form for word in reading.words)
        certain = [fact for fact in matches if not self.world.is_example(fact, words)]
        alarm = self._find_alarm(stated, certain, reading, readings)
        if alarm is not None and alarm.rule in self.rules:
            reading.claims.append(alarm)
            return
        # A number that names a field, such as the 3 of `{3: 120.5}`, is in a source.
        is_name = stated.text.lower() in self.world.names_of_fields
        cause = Cause.OPEN if matches or is_name else Cause.NOT_FOUND
        nearest = matches[-1] if matches else None
        reading.claims.append(bind.build_open_claim(stated, reading, nearest, self.world, cause))

    def _is_given(self, stated: Stated, provided: Sequence[Fact], reading: Reading) -> bool:
        """Return whether what the run was given bears a value out: a thing's name or an argument's amount."""
        kinds = {self.world.sources[fact.source].kind for fact in provided}
        before = reading.words[stated.words[0] - 1].text.lower() if stated.words[0] else ""
        if stated.mention.value.kind is Kind.PERCENT and before in _STARTING_FROM and reading.bound:
            return True
        if stated.mention.value.kind is Kind.DATE and self._is_of_other_dates(stated, reading):
            return False
        if stated.mention.value.kind in (Kind.ID, Kind.DATE, Kind.TIME):
            return True
        words = {
            reading.words[at].form
            for at in (stated.words[0] - 1, stated.words[-1] + 1)
            if 0 <= at < len(reading.words)
        }
        if any(not words.isdisjoint(fact.words - STOP) for fact in provided):
            return True
        return stated.is_precise and not kinds.isdisjoint((SourceKind.ARGUMENTS, SourceKind.ERROR))

    def _is_of_other_dates(self, stated: Stated, reading: Reading) -> bool:
        """Return whether the call that gave the bound values was made for other dates than a stated one."""
        calls = {self.world.sources[fact.source].arguments for fact in reading.bound}
        for arguments in calls:
            dates = [
                Value(
                    Kind.DATE, date=(int(match["year"]), int(match["month"]), int(match["day"] or 0) or None)
                )
                for match in _DATE_OR_MONTH.finditer(arguments)
            ]
            if dates and not any(is_same_date(stated.mention.value, date) for date in dates):
                return True
        return False

    def _find_alarm(
        self, stated: Stated, matches: list[Fact], reading: Reading, readings: Sequence[Reading]
    ) -> Claim | None:
        number = stated.mention.value
        alarm = find_printed_result(stated, reading, self.binder, readings)
        if alarm is None and self.language == "en":
            alarm = alarms.find_other_record(stated, matches, reading, self.binder)
            alarm = alarm or alarms.find_named_field(stated, matches, reading, self.binder)
        if alarm is None and not matches:
            numbers = {number.number, number.amount} if number.kind in NUMERIC else set()
            if self.language == "en" and self.written.isdisjoint(numbers):
                alarm = wrong_results.find_wrong_change(stated, reading, self.binder)
                alarm = alarm or wrong_results.find_wrong_share(stated, reading, self.binder)
                alarm = alarm or wrong_results.find_wrong_total(stated, reading, self.binder)
                alarm = alarm or alarms.find_misquote(stated, reading, self.binder)
                alarm = alarm or self._find_misquoted_sentence(stated, reading)
            alarm = alarm or alarms.find_unknown_identifier(stated, reading, self.binder)
        return alarm

    def _find_misquoted_sentence(self, stated: Stated, reading: Reading) -> Claim | None:
        """Return the claim that a sentence of an output has another value than the one that repeats it."""
        value = stated.mention.value
        fact = self.prose.find_repeated(stated, reading)
        if fact is None and stated.is_precise:
            fact = self.prose.find_other_value(stated, reading)
        if fact is None or stated.hedge is not Hedge.NONE or not are_comparable(value, fact):
            return None
        if alarms.is_derivable(stated, self.binder, reading):
            return None
        return bind.build_contradicting_claim(stated, reading, self.binder, fact, GroundednessRule.MISQUOTE)


def _is_silent(reading: Reading, language: str, task_words: frozenset[str]) -> bool:
    """Return whether a heading or a plan states nothing that could be false."""
    passage = reading.passage
    if passage.mood is Mood.PLAN:
        is_empty = not reading.stated and not reading.names
        is_own = _OWN_PLAN.match(passage.text) is not None
        has_amounts = any(stated.mention.value.kind is not Kind.ID for stated in reading.stated)
        return is_empty or (is_own and not has_amounts and not any(map(is_subordinating, reading.words)))
    if passage.form is Form.HEADING and language == "en":
        is_said = any(word.part in ("VERB", "ADJ", "ADV", "AUX") for word in reading.words)
        return not is_said and not any(_is_amount(stated) for stated in reading.stated)
    return (
        passage.text.rstrip().endswith(":")
        and not reading.stated
        and not reading.names
        and _is_plain(reading, task_words)
    )


def _is_amount(stated: Stated) -> bool:
    value = stated.mention.value
    return value.kind in NUMERIC and (value.kind is not Kind.NUMBER or value.step < 1 or value.grouped)


def _is_plain(reading: Reading, task_words: frozenset[str]) -> bool:
    """Return whether a passage has only words of the task or without content: "Here are the numbers:"."""
    meaning = [word for word in reading.words if word.part not in _PLAIN_PARTS and not is_of(word, "carrier")]
    return all(word.form in task_words and not is_of(word, "negation") for word in meaning)


def _decide(claims: Sequence[Claim], unread: Sequence[Part]) -> SentenceVerdict:
    """Return the verdict on a sentence of its claims and the words that none of them covers."""
    verdicts = {claim.verdict for claim in claims}
    if Verdict.CONTRADICTED in verdicts:
        return SentenceVerdict.CONTRADICTED
    says_something = any(claim.kind in _VALUE_KINDS for claim in claims)
    if unread or verdicts != {Verdict.GROUNDED} or not says_something:
        return SentenceVerdict.OPEN
    return SentenceVerdict.CHECKED

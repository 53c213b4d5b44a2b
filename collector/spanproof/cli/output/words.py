"""Words for numbers, times and outcomes, as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

from spanproof.trace import Errored, Label, Outcome, Scored, Skipped


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 case`, `2 cases`, `1,000 queries`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def format_amount(amount: float, unit: str) -> str:
    """Return an amount with its unit: `1 step`, `10,476 tokens`, `0.031 USD`."""
    # Units are plurals of words (`steps`) or symbols, which have one or two letters or none to lose.
    singular = unit.removesuffix("s") if amount == 1 and len(unit) > 2 else unit
    return f"{amount:,.0f} {singular}" if amount.is_integer() else f"{amount:,.4g} {singular}"


def format_duration(nanoseconds: int) -> str:
    """Return a duration with three digits at most: `0.4 ms`, `12 ms`, `2.4 s`, `3 min 5 s`."""
    seconds = nanoseconds / 1e9
    if seconds >= 60:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{seconds * 1e3:.0f} ms" if seconds >= 0.01 else f"{seconds * 1e3:.1f} ms"


def format_time(unix_ns: int, pattern: str = "%Y-%m-%d %H:%M:%S") -> str:
    """Return a time in UTC, `?` for one that no calendar has."""
    try:
        return datetime.fromtimestamp(unix_ns // 10**9, UTC).strftime(pattern)
    except (OverflowError, ValueError, OSError):
        return "?"


def describe_outcome(outcome: Outcome) -> str:
    """Return the explanation, the reason or the error of an outcome."""
    match outcome:
        case Scored(explanation=explanation):
            return explanation
        case Skipped(reason=reason):
            return reason
        case Errored(error_type=error_type, message=message):
            return f"{error_type}: {message}"


def name_verdict(outcome: Outcome) -> str:
    """Return `pass`, `fail`, `open` (scored without a verdict), `skipped` or `errored`."""
    if isinstance(outcome, Scored):
        return outcome.label.value if outcome.label else "open"
    return type(outcome).__name__.lower()


def to_outcome_row(outcome: Outcome) -> dict[str, object]:
    """Return an outcome as JSON data: `reason` says why it was skipped or what errored."""
    match outcome:
        case Scored(value=value, label=label, explanation=explanation):
            verdict = label.value if isinstance(label, Label) else None
            return {"outcome": "scored", "value": value, "label": verdict, "explanation": explanation}
        case Skipped():
            return {"outcome": "skipped", "reason": describe_outcome(outcome)}
        case Errored():
            return {"outcome": "errored", "reason": describe_outcome(outcome)}

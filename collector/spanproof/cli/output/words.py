"""Words for numbers, times and outcomes, as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

from spanproof.trace import Errored, Outcome, Scored, Skipped, get_state


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 case`, `2 cases`, `1,000 queries`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def format_amount(amount: float, unit: str) -> str:
    """Return an amount with its unit: `1 step`, `10,476 tokens`, `0.031 USD`."""
    # Units are plurals of words (`steps`) or symbols, which have one or two letters or none to lose.
    if amount == 1 and len(unit) > 2:
        singular = unit.removesuffix("s")
    else:
        singular = unit
    if amount.is_integer():
        return f"{amount:,.0f} {singular}"
    return f"{amount:,.4g} {singular}"


def format_duration(nanoseconds: int) -> str:
    """Return a duration with three digits at most: `0.4 ms`, `12 ms`, `2.4 s`, `3 min 5 s`."""
    seconds = nanoseconds / 1e9
    if seconds >= 60:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    if seconds >= 1:
        return f"{seconds:.1f} s"
    if seconds >= 0.01:
        return f"{seconds * 1e3:.0f} ms"
    return f"{seconds * 1e3:.1f} ms"


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


def to_outcome_row(outcome: Outcome) -> dict[str, object]:
    """Return a layer's own outcome as JSON data: `reason` says why it was skipped or what errored.

    What is open or skipped has its `cause`, and in `detail` what that is about.
    """
    row: dict[str, object] = {"state": get_state(outcome).value}
    match outcome:
        case Scored(value=value, label=label, explanation=explanation):
            verdict = label.value if label is not None else None
            row |= {"outcome": "scored", "value": value, "label": verdict, "explanation": explanation}
        case Skipped(reason=reason):
            row |= {"outcome": "skipped", "reason": reason}
        case Errored():
            row |= {"outcome": "errored", "reason": describe_outcome(outcome)}
    if isinstance(outcome, Scored | Skipped) and outcome.cause is not None:
        row |= {"cause": outcome.cause.value, "detail": outcome.detail}
    return row

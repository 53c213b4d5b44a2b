"""Typed values as texts write them: numbers, money, dates, times, durations, identifiers."""

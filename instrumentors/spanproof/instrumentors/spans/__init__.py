"""Spans of agents, steps, model calls and tool calls."""

"""Outcomes: how each step, tool call and snippet ended, decided once for all layers."""

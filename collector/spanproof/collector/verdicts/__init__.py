"""Verdicts while an agent runs: code is scanned first, and a failing agent is routed elsewhere."""

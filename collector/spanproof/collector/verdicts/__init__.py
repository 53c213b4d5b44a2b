"""Verdicts while an agent runs: code is scanned before it runs, and an agent that fails is led elsewhere."""

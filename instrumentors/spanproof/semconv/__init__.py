"""Attribute names and values, each written once: ours, OTel GenAI's, OpenInference's."""

from spanproof.semconv import genai, openinference, spanproof

__all__ = ["genai", "openinference", "spanproof"]

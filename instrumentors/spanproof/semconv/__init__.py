"""Attribute names and values, each defined once: ours, OTel GenAI's, OpenInference's."""

from spanproof.semconv import genai, openinference, spanproof
from spanproof.semconv.definition import Attribute, attributes

__all__ = ["Attribute", "attributes", "genai", "openinference", "spanproof"]

"""Traces as other products export them: Phoenix, Langfuse, LangSmith, MLflow, Weave, Jaeger; and OTLP.

Comes in: a file. Goes out: OTLP requests, and what could not be read. The product is known by the shape of
its rows, which are alone, one a line, in a list, or in the envelopes of the product's API.
"""

from spanproof.trace.exports.files import read_file

__all__ = ["read_file"]

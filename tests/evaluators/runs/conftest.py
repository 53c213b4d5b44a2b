"""The builder of traces that the tests of detection use."""

from ..detect.conftest import TraceBuilder, call, trace

__all__ = ["TraceBuilder", "call", "trace"]

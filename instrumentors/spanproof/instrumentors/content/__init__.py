"""Content of spans: what is captured, cut and redacted."""

"""The tracer provider: built by OpenTelemetry's variables, or the one that is there."""

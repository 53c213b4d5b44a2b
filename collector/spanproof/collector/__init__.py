"""The long-running service around the engine: OTLP in, evaluated traces to the store, scores back out."""

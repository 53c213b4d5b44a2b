"""Where spans come in: OTLP over gRPC and HTTP, on disk before they are acknowledged."""

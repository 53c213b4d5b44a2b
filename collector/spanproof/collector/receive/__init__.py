"""The receivers: OTLP over gRPC and HTTP; spans are on disk before they are acknowledged."""

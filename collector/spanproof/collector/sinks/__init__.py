"""Sinks: scores sent to the products that show the traces, from a durable queue each."""

"""Sinks: scores sent to the products whose traces people already look at, from a durable queue each."""

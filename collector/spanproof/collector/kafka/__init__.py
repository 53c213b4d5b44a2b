"""Kafka between receivers and workers: spans by trace, in the form of the Collector's exporter."""

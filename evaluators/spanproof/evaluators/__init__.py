"""The engine: it runs detection, scan, replay and the evaluators for one trace."""

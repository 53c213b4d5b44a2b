"""The configuration: its keys, defaults, checks and origins."""

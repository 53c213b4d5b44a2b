"""Scanners: what a snippet would do, judged by a policy before it runs."""

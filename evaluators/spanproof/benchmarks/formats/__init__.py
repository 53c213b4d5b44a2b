"""The published formats: a reader for each, from files to problems."""

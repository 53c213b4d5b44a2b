"""Input of commands: files, standard input and JSON lines."""

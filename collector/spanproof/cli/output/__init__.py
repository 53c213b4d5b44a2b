"""Output of commands: tables, pages, files and problems."""

"""The process of an agent under test: its module, its recorded tools, and nothing that judges."""

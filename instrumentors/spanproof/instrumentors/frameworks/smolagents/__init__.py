"""smolagents, 1.24 to 1.26: runs, steps, model calls, tool calls and executed code as spans."""

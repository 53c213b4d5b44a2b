"""What happened: the outcome of each step, tool call and snippet, decided once for all layers."""

"""What an answer may rest on: outputs, the task, the system prompt, arguments of calls."""

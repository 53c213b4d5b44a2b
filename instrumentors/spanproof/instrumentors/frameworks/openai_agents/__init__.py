"""The OpenAI Agents SDK, through a tracing processor of its own kind."""

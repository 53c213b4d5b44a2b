"""The OpenAI Agents SDK, through a tracing processor of its own kind."""

from spanproof.instrumentors.frameworks.openai_agents.instrumentor import OpenAIAgentsInstrumentor

__all__ = ["OpenAIAgentsInstrumentor"]

"""LangChain and LangGraph, through langchain-core's callbacks alone."""

from spanproof.instrumentors.frameworks.langchain.instrumentor import LangChainInstrumentor

__all__ = ["LangChainInstrumentor"]

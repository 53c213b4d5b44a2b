"""LangChain and LangGraph, through langchain-core's callbacks alone."""

from spanproof.instrumentors.langchain.instrumentor import LangChainInstrumentor

__all__ = ["LangChainInstrumentor"]

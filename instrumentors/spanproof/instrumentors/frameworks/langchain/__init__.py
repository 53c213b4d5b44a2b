"""LangChain and LangGraph, through langchain-core's callbacks alone."""

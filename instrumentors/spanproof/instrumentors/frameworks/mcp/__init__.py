"""The instrumentor of the Model Context Protocol's SDK: tool calls of clients and servers."""

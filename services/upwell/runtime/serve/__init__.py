"""The read side on the network: search and what follows from it, over HTTP and MCP, for whoever a token proves."""

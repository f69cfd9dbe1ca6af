"""The read side as MCP: tools and resources over `ReadApi`, by streamable HTTP and by standard input and output."""

"""Bytes in, blocks out: detect the true type, route to a parser, in a sandboxed child."""

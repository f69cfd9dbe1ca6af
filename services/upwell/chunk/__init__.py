"""Blocks in, matching chunks out: layout-aware, content-defined, every character accounted for."""

"""Other parsers behind one adapter each: their items as our blocks."""

"""Books and journal articles."""

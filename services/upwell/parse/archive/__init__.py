"""Archives, their members as children."""

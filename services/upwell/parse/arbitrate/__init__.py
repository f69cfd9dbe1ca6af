"""Two readings of one document, and which is kept."""

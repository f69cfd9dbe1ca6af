"""From bytes to letters, and which language they are in."""

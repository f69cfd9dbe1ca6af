"""Words in pictures."""

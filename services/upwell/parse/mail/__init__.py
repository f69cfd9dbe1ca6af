"""Mail (EML, MSG)."""

"""Who did what: append-only, one hash chain a writer, sealed in batches."""

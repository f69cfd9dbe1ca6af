"""OpenDocument texts, workbooks and slides."""

"""What stands before a chunk when it is embedded, so that it can be understood alone."""

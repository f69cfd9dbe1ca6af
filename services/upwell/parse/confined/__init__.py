"""Parsing in children that a document can do nothing to but end."""

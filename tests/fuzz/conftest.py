"""Stands here so that this folder's modules are on the import path."""

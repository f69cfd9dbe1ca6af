"""Upwell keeps a governed context lake fresh: a change in a source becomes a change in what may be found."""

__version__ = "0.1.0"

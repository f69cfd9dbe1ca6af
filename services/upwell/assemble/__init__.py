"""Assemble: what matched, or all there is, becomes a context for a model within a budget of tokens. Pure functions."""

from upwell.assemble.counting import Counter, counter_of
from upwell.assemble.excerpts import Candidate, Excerpt, Origin, Piece
from upwell.assemble.fitting import Assembled, assemble_best, assemble_whole, floor_of, window
from upwell.assemble.policy import DEFAULT_ASSEMBLY, AssemblyPolicy

__all__ = [
    "DEFAULT_ASSEMBLY",
    "Assembled",
    "AssemblyPolicy",
    "Candidate",
    "Counter",
    "Excerpt",
    "Origin",
    "Piece",
    "assemble_best",
    "assemble_whole",
    "counter_of",
    "floor_of",
    "window",
]

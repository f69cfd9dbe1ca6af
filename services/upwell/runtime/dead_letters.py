"""Which dead letters a filter means: the same for every log, a pure function of what is there."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from upwell.answers import DeadFilter
from upwell.errors import NotFound
from upwell.ports import DeadLetter


def matching(letters: Iterable[DeadLetter], which: DeadFilter) -> list[DeadLetter]:
    """The letters that `which` means, oldest first; NotFound for an id that there is not."""
    known = sorted(letters, key=lambda letter: letter.id)
    ids = set(which.ids)
    if unknown := sorted(ids - {letter.id for letter in known}):
        raise NotFound(f"no dead letter {unknown[0]}; `upwell dead list` shows which there are")
    return [letter for letter in known if (not ids or letter.id in ids) and _meant(letter, which)][: which.limit]


def _meant(letter: DeadLetter, which: DeadFilter) -> bool:
    """True if every criterion but the ids holds; one that is None does."""
    named = ("tenant", "source", "stage", "reason")
    return (
        all(getattr(which, name) in (None, getattr(letter, name)) for name in named)
        and (which.doc is None or fnmatchcase(letter.doc_id, which.doc))
        and (which.since is None or letter.at >= which.since)
        and (which.before is None or letter.at < which.before)
    )

"""Symbolic links: one to a document of the same folder is that document once more; all others are left out."""

import os
from collections.abc import Iterable, Sequence

from upwell.records import Record
from upwell.sources.folder.records import Entry, Notice


class Link(Record, frozen=True, kw_only=True):
    """A symbolic link found at `path`."""

    doc_id: str
    path: str
    waits_until: int = 0


def resolve(root: str, links: Sequence[Link], entries: Iterable[Entry]) -> tuple[list[Entry], list[Notice]]:
    """The links that lead to one of `entries`, as entries that read the target, and notices of the others.

    Since the target must itself be listed, no link leads outside, into an ignored file, or to an access file.
    """
    by_path = {entry.path: entry for entry in entries} if links else {}
    linked: list[Entry] = []
    notices: list[Notice] = []
    for link in links:
        real = os.path.realpath(f"{root}/{link.path}")
        target = by_path.get(real[len(root.rstrip("/")) + 1 :]) if _is_below(real, root) else None
        if target is not None:
            linked.append(
                Entry(
                    doc_id=link.doc_id,
                    path=target.path,
                    signature=target.signature,
                    target=target.doc_id,
                    waits_until=max(link.waits_until, target.waits_until),
                )
            )
        elif _is_below(real, root):
            detail = "leads to a folder, to nothing, or to what is never indexed"
            notices.append(Notice(code="link_skipped", path=link.doc_id, detail=detail))
        else:
            detail = "leads outside the folder"
            notices.append(Notice(code="link_outside", path=link.doc_id, detail=detail))
    return linked, notices


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")

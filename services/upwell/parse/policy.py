"""What of a document is read where there is a choice: a person's decisions, apart from the limits."""

from typing import Literal

from upwell.records import Record


class ParsePolicy(Record, frozen=True, kw_only=True):
    """Decisions about reading. What is left out is still a block, dropped with its reason.

    `arbitrate`: where two parsers can, run both and keep the better. `comments`: whether reviewers' comments in office
    files are searchable. `revisions`: tracked changes as if `accepted`, or with `both` the deleted words too.
    `ocr` and `layout`: use these extras where they are installed.
    """

    arbitrate: bool = True
    comments: bool = False
    revisions: Literal["accepted", "both"] = "accepted"
    ocr: bool = True
    layout: bool = True


DEFAULT_POLICY = ParsePolicy()

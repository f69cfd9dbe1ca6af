"""What a lake answers: the shapes that commands print with `--json`, HTTP returns, and others build on.

`LakeApi` is everything a command can ask of a lake. The owner's process implements it on the real parts, and a command
that finds an owner running forwards to it through a client that implements the same Protocol.
"""

from upwell.answers.api import FollowingLake, LakeApi
from upwell.answers.dead import ALL_LETTERS, DeadAnswer, DeadFilter
from upwell.answers.erase import Certificate, EraseAnswer, ErasedDocument, EraseWish, Remainder, Scope, VerifyAnswer
from upwell.answers.ingest import ApproveAnswer, ChunkCounts, DocumentCounts, IngestAnswer, Progress, WaitingDeletes
from upwell.answers.search import Hit, SearchAnswer
from upwell.answers.show import HistoryLine, ShowAnswer, ShownAcl, ShownChild, ShownChunk
from upwell.answers.status import (
    Check,
    GroupState,
    InitAnswer,
    MemberAnswer,
    SourceStatus,
    StatusAnswer,
    TopicMismatch,
    TopicsAnswer,
    TopicsCheck,
    TopicState,
)

__all__ = [
    "ALL_LETTERS",
    "ApproveAnswer",
    "Certificate",
    "Check",
    "ChunkCounts",
    "DeadAnswer",
    "DeadFilter",
    "DocumentCounts",
    "EraseAnswer",
    "EraseWish",
    "ErasedDocument",
    "FollowingLake",
    "GroupState",
    "HistoryLine",
    "Hit",
    "IngestAnswer",
    "InitAnswer",
    "LakeApi",
    "MemberAnswer",
    "Progress",
    "Remainder",
    "Scope",
    "SearchAnswer",
    "ShowAnswer",
    "ShownAcl",
    "ShownChild",
    "ShownChunk",
    "SourceStatus",
    "StatusAnswer",
    "TopicMismatch",
    "TopicState",
    "TopicsAnswer",
    "TopicsCheck",
    "VerifyAnswer",
    "WaitingDeletes",
]

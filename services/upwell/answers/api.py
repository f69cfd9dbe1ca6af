"""What a command can ask of a lake, whoever holds it."""

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Protocol

from upwell.answers.dead import ALL_LETTERS, DeadAnswer, DeadFilter
from upwell.answers.erase import EraseAnswer, EraseWish
from upwell.answers.ingest import ApproveAnswer, IngestAnswer, Progress
from upwell.answers.search import SearchAnswer
from upwell.answers.show import ShowAnswer
from upwell.answers.status import MemberAnswer, StatusAnswer


class LakeApi(Protocol):
    """Everything a command can ask of a lake. Raises only `upwell.errors`."""

    def ingest(
        self,
        folder: Path,
        *,
        owner: str,
        source: str | None = None,
        tenant: str = "default",
        progress: Callable[[Progress], None] | None = None,
    ) -> IngestAnswer: ...

    def search(
        self,
        query: str,
        *,
        principals: frozenset[str],
        k: int = 5,
        tenant: str = "default",
        sources: frozenset[str] = frozenset(),
    ) -> SearchAnswer: ...

    def show(self, doc: str, *, tenant: str = "default", source: str | None = None) -> ShowAnswer:
        """NotFound for an unknown document; Misconfigured when two sources have one of that id and none is named."""
        ...

    def status(self) -> StatusAnswer: ...

    def dead_list(self, which: DeadFilter = ALL_LETTERS) -> tuple[DeadAnswer, ...]:
        """The dead letters that `which` means, oldest first. NotFound for an id that there is not."""
        ...

    def dead_show(self, dead_id: int) -> DeadAnswer: ...

    def dead_replay(self, which: DeadFilter) -> int:
        """Accept these dead letters again; returns how many had an event to accept."""
        ...

    def dead_discard(self, which: DeadFilter) -> int:
        """Forget these dead letters for good; their events stay ended. Returns how many."""
        ...

    def erase(self, doc: str, *, tenant: str = "default", source: str | None = None) -> EraseAnswer: ...

    def erase_all(self, wish: EraseWish) -> EraseAnswer:
        """Erase what is wished for. NotFound when nothing is known of it, Misconfigured while its source is followed,
        Retryable when it could not be seen through: the same wish again goes on with it."""
        ...

    def principals_set(
        self, principal: str, *, member_of: frozenset[str] = frozenset(), gone: bool = False, tenant: str = "default"
    ) -> MemberAnswer:
        """Tell the tenant's directory of a principal; in force when it returns."""
        ...

    def principals_list(self, *, tenant: str = "default") -> tuple[MemberAnswer, ...]:
        """All that the tenant's directory knows, by name."""
        ...

    def approve(self, *, tenant: str = "default", source: str | None = None, discard: bool = False) -> ApproveAnswer:
        """Let the deletes pass that wait for a person, of one source or all; or keep their documents (`discard`)."""
        ...

    def close(self) -> None: ...


class FollowingLake(LakeApi, Protocol):
    """The owner's lake, which can also follow a folder (what `run` does)."""

    def follow(
        self,
        folder: Path,
        *,
        owner: str,
        stop: Event,
        source: str | None = None,
        tenant: str = "default",
        progress: Callable[[Progress], None] | None = None,
        on_ready: Callable[[IngestAnswer], None] | None = None,
        on_change: Callable[[str], None] | None = None,
    ) -> None:
        """Ingest, call `on_ready`, then follow changes until `stop` is set; `on_change` gets a line for a person."""
        ...

    def listen(self, host: str, port: int) -> str:
        """Serve events, hooks, health and metrics on the network until `close`; the URL where.

        Raises Misconfigured for an address or a source's settings that cannot be.
        """
        ...

"""A lake that another process owns, asked over its socket: the same `LakeApi`, so commands need not know which."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from upwell.answers import (
    ALL_LETTERS,
    ApproveAnswer,
    DeadAnswer,
    DeadFilter,
    EraseAnswer,
    EraseWish,
    IngestAnswer,
    MemberAnswer,
    Progress,
    SearchAnswer,
    ShowAnswer,
    StatusAnswer,
)
from upwell.errors import Retryable
from upwell.reading import ReadApi, Reader
from upwell.runtime.owner.errors import error_of
from upwell.runtime.owner.handover import OwnerGone
from upwell.runtime.reading_asked import AskedReading
from upwell.search.questions import ANSWERS

T = TypeVar("T")

PATIENT = httpx.Timeout(None, connect=10.0)
"""For what takes as long as it takes."""


class RemoteLake:
    """Forwards each call to the owner. Raises the owner's own errors, OwnerGone, and Retryable when it is silent."""

    def __init__(self, socket: str) -> None:
        timeout = httpx.Timeout(60.0, connect=10.0)
        self._http = httpx.Client(
            transport=httpx.HTTPTransport(uds=socket), base_url="http://lake", timeout=timeout, trust_env=False
        )

    def greet(self, wait_s: float) -> bool:
        """True when the owner answers, False when it has not within `wait_s` (a stopped process still takes
        connections). Raises OwnerGone when it has left.
        """
        try:
            self._http.get("/healthz", timeout=wait_s)
        except httpx.TimeoutException:
            return False
        except httpx.TransportError as e:
            raise _gone(e) from e
        return True

    def ingest(
        self,
        folder: Path,
        *,
        owner: str,
        source: str | None = None,
        tenant: str = "default",
        progress: Callable[[Progress], None] | None = None,
    ) -> IngestAnswer:
        body = {"folder": str(folder.absolute()), "owner": owner, "source": source, "tenant": tenant}
        try:
            with self._http.stream("POST", "/v1/ingest", json=body, timeout=PATIENT) as answer:
                if answer.is_error:
                    raise error_of(answer.read(), answer.status_code)
                for line in answer.iter_lines():
                    found = msgspec.json.decode(line)
                    if "progress" in found and progress is not None:
                        progress(msgspec.convert(found["progress"], Progress))
                    elif "error" in found:
                        raise error_of(msgspec.json.encode(found["error"]))
                    elif "answer" in found:
                        return msgspec.convert(found["answer"], IngestAnswer)
        except httpx.TransportError as e:
            raise _gone(e) from e
        raise OwnerGone("the lake's owner ended before it was done; run the command again")

    def search(
        self,
        query: str,
        *,
        principals: frozenset[str],
        k: int = 5,
        tenant: str = "default",
        sources: frozenset[str] = frozenset(),
    ) -> SearchAnswer:
        body = {"query": query, "principals": sorted(principals), "k": k, "tenant": tenant, "sources": sorted(sources)}
        return self._ask(SearchAnswer, "POST", "/v1/search", json=body)

    def show(self, doc: str, *, tenant: str = "default", source: str | None = None) -> ShowAnswer:
        return self._ask(ShowAnswer, "GET", f"/v1/documents/{quote(doc)}", params=_given(tenant=tenant, source=source))

    def status(self) -> StatusAnswer:
        return self._ask(StatusAnswer, "GET", "/v1/status")

    def dead_list(self, which: DeadFilter = ALL_LETTERS) -> tuple[DeadAnswer, ...]:
        return self._ask(tuple[DeadAnswer, ...], "GET", "/v1/dead", params=msgspec.to_builtins(which))

    def dead_show(self, dead_id: int) -> DeadAnswer:
        return self._ask(DeadAnswer, "GET", f"/v1/dead/{dead_id}")

    def dead_replay(self, which: DeadFilter) -> int:
        return self._ask(int, "POST", "/v1/dead/replay", json=msgspec.to_builtins(which))

    def dead_discard(self, which: DeadFilter) -> int:
        return self._ask(int, "POST", "/v1/dead/discard", json=msgspec.to_builtins(which))

    def erase(self, doc: str, *, tenant: str = "default", source: str | None = None) -> EraseAnswer:
        body = {"doc_id": doc, "tenant": tenant, "source": source}
        return self._ask(EraseAnswer, "POST", "/v1/erase", json=body, timeout=PATIENT)

    def erase_all(self, wish: EraseWish) -> EraseAnswer:
        return self._ask(EraseAnswer, "POST", "/v1/erasures", json=msgspec.to_builtins(wish), timeout=PATIENT)

    def reading(self) -> ReadApi:
        """What the owner answers readers, by the operator's word for who they are."""

        def ask(name: str, question: dict[str, Any], reader: Reader) -> Any:
            body = msgspec.json.encode({"reader": reader, "question": question})
            return self._ask(ANSWERS[name], "POST", f"/v1/read/{name}", content=body)

        return AskedReading(ask)

    def principals_set(
        self, principal: str, *, member_of: frozenset[str] = frozenset(), gone: bool = False, tenant: str = "default"
    ) -> MemberAnswer:
        body = {"principal": principal, "member_of": sorted(member_of), "gone": gone, "tenant": tenant}
        return self._ask(MemberAnswer, "POST", "/v1/principals", json=body)

    def principals_list(self, *, tenant: str = "default") -> tuple[MemberAnswer, ...]:
        return self._ask(tuple[MemberAnswer, ...], "GET", "/v1/principals", params={"tenant": tenant})

    def approve(self, *, tenant: str = "default", source: str | None = None, discard: bool = False) -> ApproveAnswer:
        body = {"tenant": tenant, "source": source, "discard": discard}
        return self._ask(ApproveAnswer, "POST", "/v1/approve", json=body, timeout=PATIENT)

    def close(self) -> None:
        self._http.close()

    def _ask(self, kind: type[T], method: str, path: str, **how: Any) -> T:
        try:
            answer = self._http.request(method, path, **how)
        except httpx.TransportError as e:
            raise _gone(e) from e
        if answer.is_error:
            raise error_of(answer.content, answer.status_code)
        return msgspec.json.decode(answer.content, type=kind)


def _gone(error: httpx.TransportError) -> Retryable:
    if isinstance(error, httpx.TimeoutException):
        return Retryable("the lake's owner does not answer; stop it or wait, then try again")
    return OwnerGone(f"the lake's owner has gone ({type(error).__name__}); run the command again")


def _given(**params: str | None) -> dict[str, str]:
    return {name: value for name, value in params.items() if value is not None}

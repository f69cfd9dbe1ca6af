"""What other processes put to the lake's owner in a request, as its routes check it."""

from pydantic import BaseModel, ConfigDict, Field

from upwell.answers import DeadFilter, Scope


class SearchBody(BaseModel):
    """Whom to search as is the caller's word here: the socket is the operator's."""

    query: str
    principals: list[str] = Field(min_length=1)
    k: int = 5
    tenant: str = "default"
    sources: list[str] = []


class IngestBody(BaseModel):
    """`folder` is an absolute path on the owner's machine."""

    folder: str
    owner: str
    source: str | None = None
    tenant: str = "default"


class WhichBody(BaseModel):
    """Which dead letters (see `answers.DeadFilter`); all of them when nothing is said, and no word may be misspelt."""

    model_config = ConfigDict(extra="forbid")

    ids: list[int] = []
    tenant: str | None = None
    source: str | None = None
    doc: str | None = None
    stage: str | None = None
    reason: str | None = None
    since: int | None = None
    before: int | None = None
    limit: int | None = Field(None, ge=0)

    @property
    def filter(self) -> DeadFilter:
        return DeadFilter(**{**self.model_dump(), "ids": tuple(self.ids)})


class WishBody(BaseModel):
    """What to erase (see `answers.EraseWish`); no word may be misspelt."""

    model_config = ConfigDict(extra="forbid")

    scope: Scope
    name: str
    tenant: str = "default"
    source: str | None = None
    with_documents: bool = False
    dry_run: bool = False
    names: bool = True


class EraseBody(BaseModel):
    """Which document to erase."""

    doc_id: str
    tenant: str = "default"
    source: str | None = None


class MemberBody(BaseModel):
    """What to tell the tenant's directory of a principal."""

    model_config = ConfigDict(extra="forbid")

    principal: str
    member_of: list[str] = []
    gone: bool = False
    tenant: str = "default"


class ApproveBody(BaseModel):
    """Of which deletes that wait, and whether their documents stay (`discard`)."""

    model_config = ConfigDict(extra="forbid")

    tenant: str = "default"
    source: str | None = None
    discard: bool = False

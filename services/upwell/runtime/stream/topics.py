"""The names of the log: topics by stage and lane, consumer groups by worker. Pure; what they look like on a broker is
`admin`'s business.

Every topic has the same number of partitions and is keyed by the canonical document key, so that one document's events
keep their order at every stage; memberships by the canonical key of their principal.
"""

from enum import StrEnum

from upwell.records import DocKey, Lane, PrincipalKey


class Role(StrEnum):
    """The workers."""

    PARSE = "parse"
    CHUNK = "chunk"
    PREFIX = "prefix"
    EMBED = "embed"
    UPSERT = "upsert"
    LEDGER = "ledger"


class Line(StrEnum):
    """What a worker's process takes: one of the two lanes, or (upsert alone) the control topic and memberships."""

    LIVE = "live"
    BACKFILL = "backfill"
    CONTROL = "control"


CHANGES, PARSED, CHUNKED, PREFIXED, EMBEDDED = "changes", "parsed", "chunked", "prefixed", "embedded"
STEPS = (CHANGES, PARSED, CHUNKED, PREFIXED, EMBEDDED)
"""What the laned topics carry, in the order of the pipeline."""
TAKES = {Role.PARSE: CHANGES, Role.CHUNK: PARSED, Role.PREFIX: CHUNKED, Role.EMBED: PREFIXED, Role.UPSERT: EMBEDDED}
"""What each stage consumes."""

CONTROL = "upwell.control.v1"
PRINCIPALS = "upwell.principals.v1"
APPLIED = "upwell.applied.v1"
DEAD = "upwell.dead.v1"


def laned(step: str, lane: Lane) -> str:
    """`laned("parsed", Lane.LIVE)` is `upwell.parsed.live.v1`."""
    return f"upwell.{step}.{lane}.v1"


LANED = tuple(laned(step, lane) for step in STEPS for lane in Lane)
ALL = (*LANED, CONTROL, PRINCIPALS, APPLIED, DEAD)
ACCEPTING = (*(laned(CHANGES, lane) for lane in Lane), CONTROL)
"""Those that accepted events are put into."""
FORGETTING = (*LANED, DEAD)
"""Those that carry a document's words: compacted, so that a tombstone of its key takes them out."""


def lines_of(role: Role) -> tuple[Line, ...]:
    """The processes that a role needs: one a lane, one for control in front of the lake, one ledger over all."""
    if role is Role.LEDGER:
        return (Line.LIVE,)
    return tuple(Line) if role is Role.UPSERT else (Line.LIVE, Line.BACKFILL)


def taken_by(role: Role, line: Line) -> tuple[str, ...]:
    """The topics that a worker consumes."""
    if role is Role.LEDGER:
        return (*ACCEPTING, APPLIED, DEAD)
    return (CONTROL, PRINCIPALS) if line is Line.CONTROL else (laned(TAKES[role], Lane(line.value)),)


def group_of(role: Role, line: Line) -> str:
    """The consumer group: `upwell-parse-live`, `upwell-ledger`."""
    return f"upwell-{role}" if role is Role.LEDGER else f"upwell-{role}-{line}"


def key_of(key: DocKey | PrincipalKey) -> bytes:
    """The message key of a document or a principal."""
    return key.canonical.encode()

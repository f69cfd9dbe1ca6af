"""What a stage may ask for: the Protocols between the pipeline and its adapters, and the records they exchange.

All methods are synchronous and safe to call from several threads. Adapters raise only `upwell.errors`.
"""

from upwell.ports.audit import Act, Audit, AuditEntry, NoAudit, Outbox, Owed
from upwell.ports.log import ChildFault, DeadLetter, EventSink, Fate, MembershipSink
from upwell.ports.registry import (
    AclEnd,
    AppliedEntry,
    ChildFacts,
    Directory,
    DocumentRow,
    LiveChunk,
    Manifest,
    ManifestEntry,
    MissingAcl,
    PendingAcl,
    Registry,
    Snapshot,
    SourceCounts,
)
from upwell.ports.signing import Signer
from upwell.ports.stages import Blobs, Embedder, Fetcher, Parser, Preparer, Tokenizer
from upwell.ports.store import PointRecord, QueryVectors, Searcher, Store, StoreHit, StoreQuery

__all__ = [
    "AclEnd",
    "Act",
    "AppliedEntry",
    "Audit",
    "AuditEntry",
    "Blobs",
    "ChildFacts",
    "ChildFault",
    "DeadLetter",
    "Directory",
    "DocumentRow",
    "Embedder",
    "EventSink",
    "Fate",
    "Fetcher",
    "LiveChunk",
    "Manifest",
    "ManifestEntry",
    "MembershipSink",
    "MissingAcl",
    "NoAudit",
    "Outbox",
    "Owed",
    "Parser",
    "PendingAcl",
    "PointRecord",
    "Preparer",
    "QueryVectors",
    "Registry",
    "Searcher",
    "Signer",
    "Snapshot",
    "SourceCounts",
    "Store",
    "StoreHit",
    "StoreQuery",
    "Tokenizer",
]

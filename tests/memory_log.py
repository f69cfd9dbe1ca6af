"""The log in memory: topics with partitions by key, bytes through the codec, delivered again wherever a crash fell.

A consumer group is no more than the offset up to which a topic's partition is committed: whoever takes a record without
committing it, or after it has been rewound, is a worker that died, or one that does not know that it has.
"""

import zlib
from collections import defaultdict

from upwell.errors import Reason, Rejected
from upwell.records import MAX_VERSION, BlobRef
from upwell.runtime.stream import codec, topics
from upwell.runtime.stream.envelope import Taken, Wire

PARTITIONS = 3
LIMIT_BYTES = 1_000_000


class MemoryBlobs:
    """`ports.Blobs` over a dict."""

    def __init__(self):
        self.kept = {}

    def put(self, key, data, version):
        ref = BlobRef.of(key, data, version)
        self.kept[ref.uri] = (key, data, version)
        return ref

    def get(self, ref):
        if ref.uri not in self.kept:
            raise Rejected(Reason.BLOB_MISSING, "the blob is gone")
        return self.kept[ref.uri][1]

    def remove(self, ref):
        self.kept.pop(ref.uri, None)

    def held(self, key, through=MAX_VERSION):
        return len([owner for owner, _, version in self.kept.values() if owner == key and version <= through])

    def forget(self, key, through=MAX_VERSION):
        gone = [uri for uri, (owner, _, version) in self.kept.items() if owner == key and version <= through]
        for uri in gone:
            del self.kept[uri]
        return len(gone)

    def expire(self, before):
        return 0

    def close(self):
        pass


class MemoryLog:
    """Every topic's partitions as lists of bytes, with one committed offset each. `limit_bytes` is that of documents."""

    def __init__(self, *, blobs=None, clock=lambda: 0, limit_bytes=LIMIT_BYTES):
        self.blobs = blobs or MemoryBlobs()
        self.wire = Wire(self.blobs, LIMIT_BYTES, clock)
        self._laned = Wire(self.blobs, limit_bytes, clock)
        self.records = defaultdict(list)
        self.committed = defaultdict(int)

    def send(self, outgoing):
        """Append one message, or one tombstone, durably."""
        wire = self._laned if outgoing.topic in topics.LANED else self.wire
        self.append(wire.encode(outgoing))

    def append(self, sending):
        place = (sending.topic, zlib.crc32(sending.key) % PARTITIONS)
        self.records[place].append((sending.key, sending.value, sending.headers))

    def waiting(self, taken_topics):
        """The partitions of these topics that hold something not committed yet."""
        return sorted(p for p in self.records if p[0] in taken_topics and self.committed[p] < len(self.records[p]))

    def take(self, place):
        """The first record of a partition that is not committed."""
        offset = self.committed[place]
        key, value, headers = self.records[place][offset]
        return Taken(topic=place[0], partition=place[1], offset=offset, key=key, value=value, headers=headers)

    def commit(self, taken):
        place = (taken.topic, taken.partition)
        self.committed[place] = max(self.committed[place], taken.offset + 1)

    def rewind(self, place, by):
        """Some commits of a partition were lost."""
        self.committed[place] = max(0, self.committed[place] - by)

    def offsets(self, topic):
        """Where the partitions of a topic end now."""
        return {place: len(records) for place, records in list(self.records.items()) if place[0] == topic}

    def messages(self, topic, since=None, through=None):
        """Every message of a topic, decoded, tombstones left out; of all, or between two looks at its offsets."""
        since = since or {}
        through = self.offsets(topic) if through is None else through
        return [
            codec.decode(value, headers, topic, key=key, blobs=self.blobs)
            for place, end in sorted(through.items())
            for key, value, headers in self.records[place][since.get(place, 0) : end]
            if value is not None
        ]

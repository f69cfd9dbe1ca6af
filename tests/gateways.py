"""A gateway on a free port over a sink in memory, for tests of what it takes, refuses and answers."""

import hashlib
import json
import os
import threading
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from pydantic import SecretStr

from upwell.config import AclSettings, KeySettings, SourceSettings
from upwell.metrics import Metrics
from upwell.records import PrincipalKey
from upwell.runtime.gateway.door import Door
from upwell.runtime.gateway.feeding import Feeding
from upwell.runtime.gateway.routes import build
from upwell.runtime.serving import Listening

NOW = 1_700_000_000_000_000
KEY = "a-key-for-notes"
DIRECTORY_KEY = "a-key-for-the-directory"
SECRET = "It's a Secret to Everybody"
STAFF = AclSettings(levels=(frozenset({"group:staff"}),))
SOURCES = {
    "notes": SourceSettings(acl=STAFF, connector="s3", roots=("s3://notes/shared/",)),
    "bucket": SourceSettings(
        hook="s3", secret=SecretStr(SECRET), connector="s3", roots=("s3://sourcebucket/",), acl=STAFF
    ),
    "minio": SourceSettings(hook="s3", secret=SecretStr(SECRET), connector="s3", roots=("s3://test-bucket/",)),
    "cloud": SourceSettings(
        hook="cloudevents", secret=SecretStr(SECRET), connector="https", roots=("https://docs.example/",), acl=STAFF
    ),
    "wiki": SourceSettings(hook="hmac", secret=SecretStr(SECRET), acl=STAFF),
    "elsewhere": SourceSettings(tenant="other", acl=AclSettings(levels=(frozenset({"everyone"}),))),
}
KEYS = (
    KeySettings(sha256=hashlib.sha256(KEY.encode()).hexdigest(), source="notes"),
    KeySettings(sha256=hashlib.sha256(b"astray").hexdigest(), source="elsewhere"),
    KeySettings(sha256=hashlib.sha256(DIRECTORY_KEY.encode()).hexdigest(), directory=True, tenant="acme"),
)


class MemorySink:
    """`ports.EventSink` in memory: an event ends when `end` says so. `trouble` is raised instead of accepting."""

    def __init__(self):
        self.events = {}
        self.ended = {}
        self.trouble = None
        self.taken = threading.Event()
        self._changed = threading.Condition()

    def accept(self, events):
        if self.trouble is not None:
            raise self.trouble
        for event in events:
            self.events.setdefault(event.event_id, event)
        self.taken.set()

    def end(self, event_id, fate):
        with self._changed:
            self.ended[event_id] = fate
            self._changed.notify_all()

    def fates(self, events, timeout_s):
        wanted = {event.event_id for event in events}
        with self._changed:
            self._changed.wait_for(lambda: wanted <= self.ended.keys(), timeout_s)
            return {name: self.ended[name] for name in wanted if name in self.ended}


class MemoryMemberships:
    """`ports.MembershipSink` in memory: in force at once, or with `late` when `catch_up` is called."""

    def __init__(self):
        self.told = []
        self.late = False
        self.trouble = None
        self._versions = {}
        self._changed = threading.Condition()

    def put(self, member):
        if self.trouble is not None:
            raise self.trouble
        self.told.append(member)
        if not self.late:
            self.catch_up()

    def catch_up(self):
        with self._changed:
            for member in self.told:
                self._versions[member.key] = max(member.version, self._versions.get(member.key, -1))
            self._changed.notify_all()

    def version(self, tenant, principal):
        return self._versions.get(PrincipalKey(tenant=tenant, principal=principal), -1)

    def effective(self, member, timeout_s):
        with self._changed:
            return self._changed.wait_for(lambda: self._versions.get(member.key, -1) >= member.version, timeout_s)


class Gate:
    """A client of a gateway, with a good key unless told otherwise."""

    def __init__(self, sink=None, keys=KEYS, sources=SOURCES, clock=lambda: NOW, memberships=None):
        self.sink = sink or MemorySink()
        self.metrics = Metrics()
        self.door = Door(self.sink, keys=keys, sources=sources, clock=clock, metrics=lambda: self.metrics)
        self.memberships = memberships or MemoryMemberships()
        self.feeding = Feeding(self.memberships, keys=keys, clock=clock)
        self.ready_error = None
        application = build(self.door, self.feeding, ready=self._ready)
        self._listening = Listening("127.0.0.1", 0, application)
        self.http = httpx.Client(base_url=self._listening.url, timeout=70, verify=False)  # plain HTTP: no certificates

    def end(self):
        """End the gateway alone: its client may still be reading an answer."""
        self.door.close()
        self.feeding.close()
        self._listening.close()

    def close(self):
        self.end()
        self.http.close()

    def _ready(self):
        if self.ready_error is not None:
            raise self.ready_error

    def post(self, body, *, key=KEY, query="", **headers):
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.http.post(f"/v1/events{query}", content=data, headers=headers)

    def tell(self, principal, body=None, *, key=DIRECTORY_KEY, query=""):
        """PUT what is told of a principal; DELETE it without a body."""
        method, content = ("DELETE", None) if body is None else ("PUT", body)
        if content is not None and not isinstance(content, bytes):
            content = json.dumps(content).encode()
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        path = f"/v1/principals/{quote(principal)}{query}"
        return self.http.request(method, path, content=content, headers=headers)

    def hook(self, source, body, headers=None):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {SECRET}"} if headers is None else headers
        return self.http.post(f"/v1/hooks/{source}", content=data, headers=headers)


def webhooks():
    """The folder of real deliveries, or skip: they are not part of this repository."""
    corpora = os.environ.get("UPWELL_CORPORA")
    if not corpora or not (Path(corpora) / "webhooks").is_dir():
        pytest.skip("UPWELL_CORPORA does not name a folder with webhooks")
    return Path(corpora) / "webhooks"

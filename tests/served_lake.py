"""A distributed lake with everything in processes of its own: workers, the ledger, and `upwell serve` with roles of its
own in PostgreSQL, as k8s/roles/ makes them. The gateway listens in this process."""

import base64
import hashlib
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx
import psycopg

sys.path.insert(0, str(Path(__file__).parent / "chaos"))

from machines import Fleet

import stagehand
from broker import free_ports, wait_for
from upwell.clock import now_us
from upwell.config import KeySettings, Settings
from upwell.identity.issue import Grant, issue
from upwell.identity.own_key import LakeKey
from upwell.runtime.stream.topics import Line, Role
from upwell.wiring import distributed

ROLES = Path(__file__).parents[1] / "k8s" / "roles"
OWNER, WORKERS, READERS = "lake_owner", "lake_workers", "lake_readers"
STAGES = (Role.PARSE, Role.CHUNK, Role.PREFIX, Role.EMBED, Role.UPSERT)
LINES = [*((role, Line.LIVE) for role in STAGES), (Role.UPSERT, Line.CONTROL), (Role.LEDGER, Line.LIVE)]
TENANTS = ("default", "other")
START_S = 240


class ServedLake:
    """`serve` answers at `url`; events and memberships go in by `gateway`; `operator` is what commands talk to."""

    def __init__(self, folder):
        self.fleet = Fleet(
            folder,
            per_line=1,
            lines=LINES,
            settings={
                "signing_key": str(folder / "signing-key.json"),
                "rate_per_minute": "1000000",
            },
        )
        self.key = LakeKey.at(folder / "signing-key.json")
        self.serving = self.door = self.operator = None
        try:
            self._make()
            self.fleet.start()
            self.settings = Settings(**(self.fleet.settings | {"registry": self._as(WORKERS)}), keys=_keys())
            self.operator = distributed.lake(self.settings)
            self.door = distributed.gateway(self.settings)
            self.gateway = self.door.listen("127.0.0.1", 0)
            self.url = f"http://127.0.0.1:{free_ports(1)[0]}"
            self.start_serving()
        except BaseException:
            self.close()
            raise

    def _make(self):
        """The roles, and then the lake by the owner's."""
        postgres = self.fleet.postgres
        self.database = postgres.create()
        postgres.run((ROLES / "before-init.sql").read_text(), self.database)
        for role in (OWNER, WORKERS, READERS):
            postgres.run(f"ALTER ROLE {role} PASSWORD '{role}'")
        self.fleet.settings["registry"] = self._as(OWNER)
        self.fleet.prepare()
        postgres.run((ROLES / "after-init.sql").read_text(), self.database)
        self.fleet.env["UPWELL_REGISTRY"] = self._as(WORKERS)

    def _as(self, role):
        return self.fleet.postgres.url(self.database, role, role)

    def connection(self, role):
        """A session of this role in the lake's database."""
        return psycopg.connect(self._as(role), autocommit=True)

    def start_serving(self, **variables):
        """Start `upwell serve`, and return when it is ready."""
        command = [sys.executable, stagehand.__file__, "serve", "--listen", self.url.removeprefix("http://")]
        env = {**os.environ, **self.fleet.env, "UPWELL_REGISTRY": self._as(READERS), **variables}
        with (self.fleet.folder / "serve.log").open("ab") as out:
            self.serving = subprocess.Popen(command, stdout=out, stderr=out, env=env, process_group=0)
        wait_for(lambda: self.serving.poll() is not None or self.ready(), START_S, "serve is ready")
        assert self.serving.poll() is None, self.log()

    def stop_serving(self):
        """SIGTERM; the exit status."""
        self.serving.send_signal(signal.SIGTERM)
        return self.serving.wait(60)

    def ready(self):
        try:
            return httpx.get(f"{self.url}/readyz", timeout=30).status_code == 200
        except httpx.TransportError:
            return False

    def log(self):
        """What `serve` has said so far."""
        return (self.fleet.folder / "serve.log").read_text(errors="replace")

    def bearer(self, user, *groups, tenant="default"):
        """Headers of a token by the lake's own key."""
        grant = Grant(subject=user, groups=frozenset(groups), tenant=tenant, ttl_s=3600)
        token = issue(self.key, grant, audience=self.settings.audience, now_us=now_us()).token
        return {"Authorization": f"Bearer {token}"}

    def tell(self, *events, tenant="default"):
        """Put events of the tenant's source `notes` into the gateway; returns when they have ended. Their outcomes."""
        answer = httpx.post(
            f"{self.gateway}/v1/events?wait=applied&timeout_s=60",
            json=list(events),
            headers={"Authorization": f"Bearer notes-{tenant}"},
            timeout=70,
        )
        assert answer.status_code == 200, answer.text
        assert answer.json()["pending"] == []
        return [one["outcome"] for one in answer.json()["ended"]]

    def put_member(self, principal, *groups, tenant="default"):
        """Returns when the membership is in force."""
        answer = httpx.put(
            f"{self.gateway}/v1/principals/{principal}?wait=applied&timeout_s=60",
            json={"member_of": list(groups)},
            headers={"Authorization": f"Bearer directory-{tenant}"},
            timeout=70,
        )
        assert answer.status_code == 200, answer.text

    def close(self):
        if self.serving is not None and self.serving.poll() is None:
            self.serving.kill()
            self.serving.wait()
        for part in (self.door, self.operator):
            if part is not None:
                with suppress(Exception):  # what it would say goodbye to may be gone
                    part.close()
        self.fleet.close()
        stagehand.tear_down()


def _keys():
    return tuple(
        KeySettings(sha256=hashlib.sha256(f"{what}-{tenant}".encode()).hexdigest(), tenant=tenant, **rights)
        for tenant in TENANTS
        for what, rights in (("notes", {"source": "notes"}), ("directory", {"directory": True}))
    )


def upsert(doc_id, text, version=1, *, levels=(("everyone",),), **fields):
    """A document as a source offers it."""
    data = base64.b64encode(text.encode()).decode()
    acl = {"levels": [list(level) for level in levels]}
    return {
        "doc_id": doc_id, "op": "upsert", "version": version, "acl_version": version, "acl": acl,
        "content": {"type": "inline", "data": data}, "media_type": "text/markdown", **fields,
    }  # fmt: skip


def permission(doc_id, acl_version, *levels, version=1):
    """Who may read a document from now on."""
    acl = {"levels": [list(level) for level in levels]}
    return {"doc_id": doc_id, "op": "acl", "version": version, "acl_version": acl_version, "acl": acl}

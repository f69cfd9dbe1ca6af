"""A real lake under the oracle: `upwell run --listen` as installed, asked by HTTP, MCP and commands."""

import contextlib
import hashlib
import re
import tempfile
from pathlib import Path

import httpx
import httpx2
import msgspec
from command import TERMINATE, Running, Upwell

from agents import talk_http
from upwell.clock import now_us
from upwell.identity.issue import Grant, issue
from upwell.identity.own_key import LakeKey

KEYS = {"default": "events of default", "acme": "events of acme"}
DIRECTORY_KEY = "the directory of default"
SOURCE = "notes"
MAX_AGE_S = 2.0
PATIENCE_S = 300
"""On a machine that has much else to do; what is wrong with an answer is never its time."""
TRIES = 4
MARKER = re.compile(r"\bm[0-9a-z]+x\b")
QUERY = "marker of a note"
MOST_OF_A_TOOL = 20
"""As many hits as the MCP tool gives; no more chunks may be in a tenant than that."""

FOLDER = {
    "top.md": "A marker of the folder: mtopx.",
    ".upwell-access.yaml": "allow: [group:all, 'user:ben']\ndeny: [group:g3]\n",
    "hr/pay.md": "A marker of the folder: mpayx.",
    "hr/.upwell-access.yaml": "allow: [group:hr]\ndeny: ['user:cy']\nfiles: {'secret*.md': {allow: [group:g1]}}\n",
    "hr/secret.md": "A marker of the folder: msecretx.",
    "hr/deep/er/plan.md": "A marker of the folder: mplanx.",
    "open/news.md": "A marker of the folder: mnewsx.",
    "open/.upwell-access.yaml": "inherit: false\nallow: [everyone]\n",
    "bad/lost.md": "A marker of the folder: mlostx.",
    "bad/.upwell-access.yaml": "allow: {this is: no list}\n",
}
OWNER = "user:olga"


def _with_owner(*levels, deny=()):
    return tuple(frozenset({*level, OWNER}) for level in levels), frozenset(deny)


TOP, HR = {"group:all", "user:ben"}, {"group:hr"}
INHERITED = {
    "top.md": _with_owner(TOP, deny={"group:g3"}),
    "hr/pay.md": _with_owner(TOP, HR, deny={"group:g3", "user:cy"}),
    "hr/secret.md": _with_owner(TOP, HR, {"group:g1"}, deny={"group:g3", "user:cy"}),
    "hr/deep/er/plan.md": _with_owner(TOP, HR, deny={"group:g3", "user:cy"}),
    "open/news.md": _with_owner({"everyone"}),
    "bad/lost.md": _with_owner(set()),
}
"""Who may read the files of FOLDER: a child adds a level, deny adds up, `inherit: false` starts afresh."""


def settings():
    digest = {name: hashlib.sha256(key.encode()).hexdigest() for name, key in KEYS.items()}
    directory = hashlib.sha256(DIRECTORY_KEY.encode()).hexdigest()
    return (
        f"acl_max_age_s = {MAX_AGE_S}\nrate_per_minute = 1000000\n"
        + "".join(
            f'[[keys]]\nsha256 = "{found}"\nsource = "{SOURCE}"\ntenant = "{tenant}"\n'
            for tenant, found in digest.items()
        )
        + f'[[keys]]\nsha256 = "{directory}"\ndirectory = true\ntenant = "default"\n'
    )


class ServedLake:
    """The running lake. Every way in returns `(source, document, markers)` of each hit."""

    def __init__(self, home):
        self._upwell = Upwell(home)
        home.joinpath("upwell.toml").write_text(settings())
        docs = self._upwell.write(FOLDER)
        self._running = Running(self._upwell, str(docs), "--owner", OWNER, "--listen", "127.0.0.1:0")
        self._running.ready()
        (self.url,) = re.findall(r"listening on (http://\S+):", self._running.log.read_text())
        self._key = LakeKey.at(home / ".upwell" / "signing-key.json")
        self.cut = 0
        self._http = httpx.Client(base_url=self.url, timeout=PATIENCE_S)

    def _asked(self, method, path, **given):
        """An answer; asked again where the connection was cut, as it may be on a machine that has much else to do.
        Every request here may be repeated: reads change nothing, and an event or a membership is one however often it
        comes.
        """
        for _ in range(TRIES):
            try:
                return self._http.request(method, path, **given)
            except httpx.TransportError:
                self.cut += 1
        return self._http.request(method, path, **given)

    def bearer(self, tenant, who):
        (user,) = who.certain
        groups = frozenset(name.removeprefix("group:") for name in who.claimed)
        grant = Grant(subject=user.removeprefix("user:"), groups=groups, tenant=tenant, ttl_s=600)
        return {"Authorization": f"Bearer {issue(self._key, grant, audience='upwell', now_us=now_us()).token}"}

    def bring(self, tenant, event):
        """One event, when it has ended."""
        said = {
            name: getattr(event, name)
            for name in ("doc_id", "op", "event_id", "version", "acl_version", "previous_doc_id", "content", "acl",
                         "acl_missing")
        }  # fmt: skip
        if event.content is not None:
            said["media_type"] = "text/markdown"
        key = {"Authorization": f"Bearer {KEYS[tenant]}"}
        body = msgspec.json.encode({name: value for name, value in said.items() if value is not None})
        answer = self._asked("POST", "/v1/events?wait=applied&timeout_s=60", content=body, headers=key)
        assert (answer.status_code, len(answer.json().get("ended", ()))) == (200, 1), answer.text

    def tell(self, member):
        """One membership, when it is in force."""
        body = {"member_of": sorted(member.member_of), "version": member.version, "gone": member.gone}
        key = {"Authorization": f"Bearer {DIRECTORY_KEY}"}
        answer = self._asked("PUT", f"/v1/principals/{member.principal}?wait=applied", json=body, headers=key)
        assert (answer.status_code, answer.json()["effective"]) == (200, True), answer.text

    def http(self, tenant, who):
        answer = self._asked("POST", "/v1/search", json={"query": QUERY, "k": 100}, headers=self.bearer(tenant, who))
        assert answer.status_code == 200, answer.text
        return [(hit["source"], hit["doc_id"], MARKER.findall(hit["text"])) for hit in answer.json()["hits"]]

    def fetch(self, tenant, who, source, doc):
        """The markers of one document; none if it is not there."""
        asked = {"doc_id": doc, "source": source}
        answer = self._asked("GET", "/v1/documents", params=asked, headers=self.bearer(tenant, who))
        assert answer.status_code in {200, 404}, answer.text
        return MARKER.findall("\n".join(s["text"] for s in answer.json()["sections"])) if answer.is_success else []

    def mcp(self, tenant, who, times, look):
        """One conversation of several searches; `look` is called around each with what does it."""

        async def conversation(client):
            for _ in range(times):
                done = look()
                answer = await client.call_tool("search", {"query": QUERY, "k": MOST_OF_A_TOOL})
                assert not answer.is_error, answer.content
                hits = answer.structured_content["hits"]
                done([(hit["source"], hit["doc_id"], MARKER.findall(hit["excerpt"])) for hit in hits])

        for _ in range(TRIES):
            try:
                return talk_http(self.url, self.bearer(tenant, who), conversation)
            except* httpx2.TransportError:
                self.cut += 1
        return talk_http(self.url, self.bearer(tenant, who), conversation)

    def cli(self, tenant, who):
        (user,) = (name for name in who.certain if name.startswith("user:"))
        groups = [word for name in sorted(who.certain - {user}) for word in ("--group", name)]
        words = ("search", QUERY, "--as", user, *groups, "-k", "100", "--tenant", tenant)
        answer = self._upwell.json(*words, timeout=PATIENCE_S)
        return [(hit["source"], hit["doc_id"], MARKER.findall(hit["text"])) for hit in answer["hits"]]

    def close(self):
        try:
            assert self._running.end(TERMINATE) == 0
        finally:
            self._http.close()
            self._running.close()


@contextlib.contextmanager
def served_lake():
    with (
        tempfile.TemporaryDirectory(prefix="upwell-oracle-") as folder,
        contextlib.closing(ServedLake(Path(folder))) as lake,
    ):
        yield lake

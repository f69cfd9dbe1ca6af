"""Searches of a real lake while changes come in: HTTP and MCP with tokens, commands with the operator's right.

Two tenants have documents of the same names; one has a directory, in the other what tokens claim counts. What happens
comes from the seed, when it meets what does not.
"""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

from oracle_histories import GROUPS, USERS, permission
from oracle_lake import FOLDER, INHERITED, MARKER, MAX_AGE_S, SOURCE, served_lake
from oracle_tally import REST, Tally
from people import Said, Who
from world import control_effects

from oracle import Oracle
from upwell.clock import now_us
from upwell.records import ChangeEvent, Inline, Membership, Op

HTTP_A_ROUND, MCP_A_ROUND, CLI_A_ROUND = 8, 4, 6
TENANTS = ("default", "acme")
DOCS = tuple(f"n{number}.md" for number in range(6))
GROUPS_OF_TOKENS = tuple(name for name in GROUPS if name.startswith("group:"))
ALL = frozenset({"everyone"})


def served_share(searches):
    """How many of so many searches go to a real lake, by way."""
    return {"http": max(24, searches // 50), "mcp": max(12, searches // 100), "cli": max(6, searches // 330)}


def search_served(seed, shares):
    """Ask a real lake so often by each way, and hold the answers against the oracle."""
    tally = Tally()
    with served_lake() as lake, ThreadPoolExecutor(6) as pool:
        telling = Telling(lake, random.Random(f"{seed}/served"), tally)
        telling.start()
        rounds = -(-shares["http"] // HTTP_A_ROUND)
        for number in range(rounds):
            looks = telling.looks(number, rounds, shares)
            changing = pool.submit(telling.change, 2)
            for looked in [pool.submit(look) for look in looks]:
                looked.result()
            changing.result()
            telling.quiet()
        tally.happened["served: connections that were cut"] += lake.cut
    return tally


class Telling:
    """What happens to the lake, told to it and to the oracle of each tenant; and what readers are shown."""

    def __init__(self, lake, rng, tally):
        self.lake, self.rng, self.tally = lake, rng, tally
        self.oracles = {tenant: Oracle(int(MAX_AGE_S * 1e6)) for tenant in TENANTS}
        self._lock = threading.Lock()
        self._number, self._slack = 0, 0
        self._counted = dict.fromkeys(("http", "mcp", "cli"), 0)

    def start(self):
        """The folder's files, a directory that knows most users, and a document of each name in both tenants."""
        for name, (levels, deny) in INHERITED.items():
            doc = ("docs", name)
            markers = tuple(MARKER.findall(FOLDER[name]))
            for effect in (("acl", (0, ""), 0, (levels, deny)), ("content", (1, 0, "", ""), markers)):
                self.oracles["default"].begin(doc, effect)
                self.oracles["default"].acknowledge(doc, effect, ended=True)
        for user in USERS[:2]:
            self._tell(user, gone=False)
        for tenant in TENANTS:
            for doc in DOCS[:3]:
                self._bring(tenant, self._upsert(tenant, doc, first=True))

    def change(self, times):
        for _ in range(times):
            if self.rng.random() < 0.35:
                self._tell(self.rng.choice([*USERS, *GROUPS]), gone=self.rng.random() < 0.12)
                continue
            tenant, doc = self.rng.choice(TENANTS), self.rng.choice(DOCS)
            self._bring(tenant, self._event(tenant, doc))

    def looks(self, number, rounds, shares):
        """This round's searches. Their readers are chosen here, in the seed's order."""
        looks = []
        for _ in range(HTTP_A_ROUND - 2):
            looks.append(self._look("http", self.lake.http, *self._somebody()))
        tenant, who = self._somebody()
        times = min(MCP_A_ROUND, shares["mcp"] - self._counted["mcp"])
        self._counted["mcp"] += max(0, times)
        if times > 0:
            looks.append(lambda: self.lake.mcp(tenant, who, times, lambda: self._around("mcp", tenant, who)))
        due = shares["cli"] * (number + 1) // rounds - self._counted["cli"]
        if due >= CLI_A_ROUND or number == rounds - 1:
            self._counted["cli"] += due
            looks += [self._look("cli", self.lake.cli, *self._somebody(operator=True)) for _ in range(due)]
        return looks

    def quiet(self):
        """Two more searches and a document, while nothing changes."""
        for _ in range(2):
            tenant, who = self._somebody()
            self._look("http", self.lake.http, tenant, who)()
        done = self._around(None, tenant, who, only=(SOURCE, self.rng.choice(DOCS)))
        done([(*done.only, self.lake.fetch(tenant, who, *done.only))])
        self.tally.happened["documents fetched"] += 1

    def _somebody(self, *, operator=False):
        user = self.rng.choice([*USERS, USERS[0], USERS[1], "user:zed"])
        groups = frozenset(self.rng.sample(GROUPS_OF_TOKENS, self.rng.randint(0, 2)))
        certain = frozenset({user})
        return self.rng.choice(TENANTS), Who(certain | groups) if operator else Who(certain, groups)

    def _look(self, way, ask, tenant, who):
        def look():
            done = self._around(way, tenant, who)
            done(ask(tenant, who))

        return look

    def _around(self, way, tenant, who, only=None):
        """Call before a search; what it returns takes the search's hits, and judges them."""
        return Judging(self, way, tenant, who, only)

    def _tell(self, principal, *, gone):
        self._number += 1
        groups = frozenset() if gone else frozenset(self.rng.sample(GROUPS, self.rng.randint(0, 3)))
        member = Membership(tenant="default", principal=principal, version=self._number, member_of=groups, gone=gone)
        said, people = Said(principal, self._number, groups, gone), self.oracles["default"].people
        with self._lock:
            people.begin(said)
        self.lake.tell(member)
        with self._lock:
            people.acknowledge(said)
        self.tally.happened["served: memberships"] += 1

    def _bring(self, tenant, event):
        began = now_us()
        event = ChangeEvent(**{**{n: getattr(event, n) for n in event.__struct_fields__}, "received_at": began})
        effects = [((SOURCE, doc), effect) for doc, effect in control_effects(event)]
        if event.content is not None:
            order = (event.version, 0, "", "")
            effects.append(
                ((SOURCE, event.doc_id), ("content", order, tuple(MARKER.findall(event.content.data.decode()))))
            )
        with self._lock:
            for doc, effect in effects:
                self.oracles[tenant].begin(doc, effect)
        self.lake.bring(tenant, event)
        with self._lock:
            self._slack = max(self._slack, now_us() - began)
            for doc, effect in effects:
                self.oracles[tenant].acknowledge(doc, effect, ended=True)
        self.tally.happened[f"served: {event.op.value} events"] += 1
        self.tally.happened["served: permissions unknown"] += event.acl_missing is not None

    def _event(self, tenant, doc):
        kind = self.rng.random()
        if kind < 0.45:
            return self._upsert(tenant, doc)
        if kind < 0.7:
            return self._permit(tenant, doc)
        if kind < 0.8:
            return self._made(Op.ACL, doc, version=0, acl_missing="away")
        if kind < 0.87:
            return self._upsert(tenant, doc, acl_missing="away")
        return self._made(Op.DELETE if kind < 0.97 else Op.ERASE, doc)

    def _permit(self, tenant, doc):
        with self._lock:
            content, _ = self.oracles[tenant].final((SOURCE, doc))
        ahead = content is None or self.rng.random() < 0.2
        return self._made(Op.ACL, doc, version=self._number + 5 if ahead else content[1][0], acl=self._acl())

    def _upsert(self, tenant, doc, *, first=False, acl_missing=None):
        """The same words in both tenants, but for their markers."""
        number = self._number + 1
        words = f"A note called {doc} with a marker: m{tenant}{number}ax and m{tenant}{number}bx.\n"
        others = [None] * 5 + [other for other in DOCS if other != doc][:1]
        acl = None if acl_missing else permission(random.Random(1), []) if first else self._acl()
        return self._made(
            Op.UPSERT,
            doc,
            content=Inline(data=words.encode()),
            acl=acl,
            acl_missing=acl_missing,
            previous_doc_id=None if first else self.rng.choice(others),
        )

    def _acl(self):
        return permission(self.rng, [ALL, frozenset({"user:ana", "group:all", "group:eng"})])

    def _made(self, op, doc, *, version=None, **fields):
        self._number += 1
        number = self._number
        return ChangeEvent(
            event_id=f"o{number}",
            tenant="any",
            source=SOURCE,
            doc_id=doc,
            op=op,
            version=number if version is None else version,
            acl_version=number,
            received_at=0,
            **fields,
        )


class Judging:
    """One search between its beginning and its judgement."""

    def __init__(self, telling, way, tenant, who, only):
        self._telling, self._way, self._tenant, self._who, self.only = telling, way, tenant, who, only
        oracle = telling.oracles[tenant]
        with telling._lock:
            self._since, self._binding, self._began = oracle.applied(), oracle.binding(), now_us()

    def __call__(self, hits):
        telling, tally = self._telling, self._telling.tally
        docs = [(SOURCE, doc) for doc in DOCS] + [("docs", doc) for doc in INHERITED if self._tenant == "default"]
        shown = {doc: [] for doc in ([self.only] if self.only else docs)}
        strange = [hit for hit in hits if hit[:2] not in shown]
        for source, doc, markers in hits:
            if (source, doc) in shown:
                shown[source, doc] += markers
        oracle, way = telling.oracles[self._tenant], self._way or "http"
        with telling._lock:
            between = (self._began - telling._slack, now_us())
            wrong = oracle.faults(shown, self._who, self._since, binding=self._binding, between=between)
            there = sum(bool(oracle.final(doc)[0] and oracle.final(doc)[0][2]) for doc in shown)
            if strange:
                tally.fault(way, REST, f"hits of no document of {self._tenant}: {strange}")
            for kind, found in wrong.items():
                tally.fault(way, kind, f"{self._tenant}: {found} to {self._who}")
            given = sum(map(bool, shown.values()))
            if self._way:
                tally.searches[way] += 1
                tally.marks[way, "showed"] += given > 0
                tally.marks[way, "held back"] += there > given

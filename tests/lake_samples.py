"""Small documents, points, readers and queries with random or given vectors, for every test of stores and search."""

import random
import uuid

import numpy as np

from upwell.access import EVERYONE, payload_of, reader
from upwell.ports import PointRecord, QueryVectors, StoreQuery
from upwell.records import Acl, DocKey, Vectors

DIM = 16
PRINCIPALS = [f"user:{n}" for n in range(8)] + [f"group:{n}" for n in range(6)]
ALL_MAY = Acl(levels=(frozenset({EVERYONE}),))


def key(name, tenant="default", source="wiki"):
    return DocKey(tenant=tenant, source=source, doc_id=name)


def point_id(seed):
    """A UUID that depends on the seed alone."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, str(seed)))


def rng_of(seed):
    """A generator that depends on the seed alone (`hash` of a string would change from run to run)."""
    return np.random.default_rng(list(str(seed).encode()))


def vectors(seed=0, tokens=3, dim=DIM, terms=((1, 1.0), (2, 0.5))):
    """Random unit-scale vectors; equal seeds give equal bytes."""
    rng = rng_of(seed)
    return Vectors(
        dense=rng.standard_normal(dim).astype(np.float16).tobytes(),
        late=rng.standard_normal((tokens, dim)).astype(np.float16).tobytes(),
        late_count=tokens,
        sparse_indices=tuple(term for term, _ in terms),
        sparse_values=tuple(weight for _, weight in terms),
    )


def point(name, number=0, *, acl=ALL_MAY, born=1, text=None, tenant="default", source="wiki", rev=1, given=None):
    """Point `number` of document `name`."""
    return PointRecord(
        point_id=point_id((tenant, source, name, number, born)),
        key=key(name, tenant, source),
        chunk_key=f"chunk-{number}",
        embed_key=f"embed-{name}-{number}",
        born=born,
        text=f"text of {name} {number}" if text is None else text,
        vectors=given or vectors(number),
        fields={**payload_of(acl), "rev": rev},
    )


def query(who=(), *, seed=0, limit=10, tenant="default", terms=((1, 1.0),), **rest):
    """A governed query of reader `who`, `everyone` included."""
    rng = rng_of(seed)
    asked = QueryVectors(
        dense=rng.standard_normal(DIM).astype(np.float32).tobytes(),
        late=rng.standard_normal((2, DIM)).astype(np.float32).tobytes(),
        late_count=2,
        sparse_indices=tuple(term for term, _ in terms),
        sparse_values=tuple(weight for _, weight in terms),
    )
    return StoreQuery(tenant=tenant, reader=reader(*who), vectors=asked, limit=limit, **rest)


def random_acl(rng: random.Random, most_levels=3):
    """0 to `most_levels` levels, some with `everyone`, some with somebody denied."""
    levels = tuple(
        frozenset(rng.sample([*PRINCIPALS, EVERYONE], rng.randint(1, 5))) for _ in range(rng.randint(0, most_levels))
    )
    return Acl(levels=levels, deny=frozenset(rng.sample(PRINCIPALS, rng.choice([0, 0, 1, 2]))))


def random_reader(rng: random.Random):
    return reader(*rng.sample(PRINCIPALS, rng.randint(0, 4)))

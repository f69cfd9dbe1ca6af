"""The distributed lake put together: what each worker, the gateway and the commands are made of."""

from upwell.answers import InitAnswer, LakeApi
from upwell.config import Settings
from upwell.errors import Misconfigured
from upwell.lake.registry import SqlRegistry
from upwell.runtime.parts import Identity
from upwell.wiring import opening


def init(settings: Settings) -> InitAnswer:
    """See `wiring.init`."""
    registry = opening.open_registry(settings)
    try:
        known = opening.known_identity(registry, settings)()
        name = opening.chosen_embedder(settings, known)
        embedder = opening.open_embedder(name, settings, known)
        identity = known or opening.new_identity(registry, name, embedder)
        opening.open_store(settings, identity).close()
    finally:
        registry.close()
    return InitAnswer(embedder=identity.embedder, pipeline=identity.pipeline, dim=identity.dim, created=known is None)


def identity_of(registry: SqlRegistry, settings: Settings) -> Identity:
    """What the lake was made with. Raises Misconfigured when nobody has made it yet."""
    identity = opening.known_identity(registry, settings)()
    if identity is None:
        raise Misconfigured("there is no lake in this registry yet: `upwell init` makes it")
    return identity


def lake(settings: Settings) -> LakeApi:
    """What commands ask of a distributed lake."""
    raise Misconfigured(f"brokers is set ({settings.brokers}), and commands do not talk to the services yet")

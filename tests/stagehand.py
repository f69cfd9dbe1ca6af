"""`python tests/stagehand.py ARGS…`: the `upwell` command, whose store may be `edge+unix:///path/of/a/socket`.

That is `edge_server.py`, which stands in for a Qdrant server; everything else is the command as it is.
"""

import os
import sys
from urllib.parse import urlsplit

from shared_edge import SharedEdge
from upwell import cli
from upwell.wiring import opening

SCHEME = "edge+unix"
COLLECTION = "UPWELL_TEST_COLLECTION"
"""The environment variable that says what collections of a real server are called instead of `upwell`."""


def url_of(socket_path):
    """The value of the setting `store` for the server at this socket."""
    return f"{SCHEME}://{socket_path}"


def stand_in(settings, identity, *others, **options):
    """`opening.open_store`, but for the one scheme."""
    parts = urlsplit(settings.store or "")
    if parts.scheme == SCHEME:
        return SharedEdge(parts.path, identity.dim)
    opening.COLLECTION = os.environ.get(COLLECTION, opening.COLLECTION)
    return OPEN_STORE(settings, identity, *others, **options)


OPEN_STORE = opening.open_store


def set_up():
    """From now on this process opens stores by `stand_in`."""
    opening.open_store = stand_in


def tear_down():
    """Stores are opened as ever again."""
    opening.open_store = OPEN_STORE


def main():
    set_up()
    cli.main()


if __name__ == "__main__":
    sys.argv[0] = "upwell"
    main()

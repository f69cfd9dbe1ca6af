"""How the audit names the principals of a read: all of them, but of a long roll once a day, and its digest after that.

Somebody in 5,000 groups would otherwise write 150 KB with each question, and fill a disk by asking.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Set as AbstractSet

LONG = 100
"""From more names on it is a long roll."""
MOST_KNOWN = 10_000
US_PER_DAY = 86_400_000_000


class Rolls:
    """Which long rolls this process has written down, and when. Safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._written: OrderedDict[str, int] = OrderedDict()

    def names(self, principals: AbstractSet[str], now_us: int) -> tuple[str, ...]:
        """What a record of this moment names: the principals, sorted, or `digest_of` them where `written` has been told
        of a record of the same day that names them."""
        names = tuple(sorted(principals))
        if len(names) <= LONG:
            return names
        digest = digest_of(names)
        with self._lock:
            known = self._written.get(digest) == now_us // US_PER_DAY
        return (digest,) if known else names

    def written(self, names: tuple[str, ...], now_us: int) -> None:
        """A record with these names is durable."""
        if len(names) <= LONG:
            return
        with self._lock:
            self._written[digest_of(names)] = now_us // US_PER_DAY
            if len(self._written) > MOST_KNOWN:
                self._written.popitem(last=False)


def digest_of(names: tuple[str, ...]) -> str:
    """`sha256:…` of the names, sorted, a line each."""
    return "sha256:" + hashlib.sha256("\n".join(names).encode("utf-8", "surrogatepass")).hexdigest()

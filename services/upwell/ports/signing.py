"""A key that signs: seals of the audit, certificates of erasure."""

from collections.abc import Callable
from typing import Protocol


class Signer(Protocol):
    """A private key with a name."""

    @property
    def kid(self) -> str:
        """Its name, by which the public half is found."""
        ...

    @property
    def sign(self) -> Callable[[bytes], bytes]:
        """Makes the signature over some bytes."""
        ...

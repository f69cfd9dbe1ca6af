"""Why a parser gives up. Adapters raise these; `route` turns them into statuses, so nothing else crosses the stage."""

from upwell.records import ParseStatus


class Unparsable(Exception):
    """The document cannot be parsed; `status` is how it ends, the text is one line for a person."""

    def __init__(self, status: ParseStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def corrupt(reason: str) -> Unparsable:
    """Its bytes are not what its format asks for."""
    return Unparsable(ParseStatus.CORRUPT, reason)


def too_large(reason: str) -> Unparsable:
    """It takes more than one document may: bytes, parts, nesting, memory."""
    return Unparsable(ParseStatus.TOO_LARGE, reason)


def unsupported(reason: str) -> Unparsable:
    """Nothing here reads its format."""
    return Unparsable(ParseStatus.UNSUPPORTED, reason)


def encrypted(reason: str) -> Unparsable:
    """It is locked by a password that nobody has given."""
    return Unparsable(ParseStatus.ENCRYPTED, reason)

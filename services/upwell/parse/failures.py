"""Why a parser gives up. Adapters raise these; `route` turns them into statuses, so nothing else crosses the stage."""

from upwell.records import ParseStatus


class Unparsable(Exception):
    """The document cannot be parsed; `status` is how it ends, the text is one line for a person."""

    def __init__(self, status: ParseStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def corrupt(reason: str) -> Unparsable:
    return Unparsable(ParseStatus.CORRUPT, reason)


def too_large(reason: str) -> Unparsable:
    return Unparsable(ParseStatus.TOO_LARGE, reason)


def unsupported(reason: str) -> Unparsable:
    return Unparsable(ParseStatus.UNSUPPORTED, reason)


def encrypted(reason: str) -> Unparsable:
    return Unparsable(ParseStatus.ENCRYPTED, reason)

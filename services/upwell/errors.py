"""The error tree. Everything Upwell raises on purpose is one of these.

    UpwellError
    ├── Retryable            try again later: the input is fine, the world is not (a lock, a full disk, a dead child)
    │   ├── Overloaded       too much for now
    │   └── KeyLookupFailed  the keys that would prove who asks cannot be had now
    ├── Rejected             this input never will: dead-letter it with its `reason`
    ├── Misconfigured        stop now: a setting, an option or the lake itself is wrong (exit status 2)
    │   └── Broken           a part of the lake refuses us, or is damaged: no fault of whoever asks
    ├── Unauthorized         whoever asks did not prove who they are
    └── NotFound             the thing asked for does not exist, or the reader may not know that it does

Adapters map the errors of their vendors to these at the edge.
"""

from enum import StrEnum


class Reason(StrEnum):
    """Why an input was refused: the codes that dead letters, `status` and metrics carry."""

    EMPTY = "empty"
    ENCRYPTED = "encrypted"
    CORRUPT = "corrupt"
    NEEDS_OCR = "needs_ocr"
    TOO_LARGE = "too_large"
    UNSUPPORTED = "unsupported"
    TIMED_OUT = "timed_out"
    UNREADABLE = "unreadable"
    NAME_COLLISION = "name_collision"
    PARSER_CRASHED = "parser_crashed"
    INVALID_EVENT = "invalid_event"
    UNKNOWN_SCHEMA = "unknown_schema"
    BLOB_MISSING = "blob_missing"
    ATTEMPTS_EXHAUSTED = "attempts_exhausted"


class Refusal(StrEnum):
    """Why a token proves nothing: for the audit, never for whoever sent it."""

    NO_TOKEN = "no_token"  # noqa: S105  a reason, no secret
    MALFORMED = "malformed"
    UNKNOWN_ISSUER = "unknown_issuer"
    UNKNOWN_KEY = "unknown_key"
    BAD_ALGORITHM = "bad_algorithm"
    BAD_SIGNATURE = "bad_signature"
    WRONG_AUDIENCE = "wrong_audience"
    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    BAD_CLAIM = "bad_claim"
    KEY_LOOKUP_FAILED = "key_lookup_failed"


class UpwellError(Exception):
    """Base of every error that Upwell raises on purpose; its text is one line for a person."""


class Retryable(UpwellError):
    """The same input may succeed later."""


class Overloaded(Retryable):
    """Nothing more is accepted for now; try again after `retry_after_s` seconds."""

    def __init__(self, detail: str, retry_after_s: float) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class KeyLookupFailed(Retryable):
    """The keys of a token's issuer cannot be had: nothing is shown. `detail` is for the log and the audit alone."""

    reason = Refusal.KEY_LOOKUP_FAILED

    def __init__(self, detail: str) -> None:
        super().__init__("who you are cannot be checked now; try again later")
        self.detail = detail


class Unauthorized(UpwellError):
    """No valid token. The text is one line that tells nothing of keys and issuers; `reason` and `detail` (which repeats
    nothing of the token) are for the audit alone."""

    def __init__(self, reason: Refusal, detail: str) -> None:
        super().__init__("a valid bearer token is needed")
        self.reason = reason
        self.detail = detail


class Rejected(UpwellError):
    """The same input will never succeed; `reason` says why in one word, the text in one line."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Misconfigured(UpwellError):
    """A setting, an option or the lake is wrong; the text names it and says what to do."""


class Broken(Misconfigured):
    """A database or a server of the lake refuses us, or is damaged. The text is for the operator, not the network."""


class NotFound(UpwellError):
    """No such thing, or none that this reader may know of: the two are not told apart."""

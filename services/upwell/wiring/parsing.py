"""What the settings say of parsing, for the confined children."""

import msgspec

from upwell.config import Settings
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.policy import ParsePolicy


def limits_of(settings: Settings) -> Limits:
    """What one document may cost."""
    return msgspec.structs.replace(DEFAULT_LIMITS, wall_s=settings.parse_timeout_s)


def policy_of(settings: Settings) -> ParsePolicy:
    """What of a document is read."""
    return ParsePolicy(
        arbitrate=settings.arbitrate,
        comments=settings.office_comments,
        revisions=settings.office_revisions,
        ocr=settings.ocr,
        layout=settings.layout,
    )

"""What connectors raise, in Upwell's errors: is the object at fault, or the world.

fsspec filesystems raise OSError and its kinds, with the vendor's error as cause; what their HTTP clients raise besides
passes through. Messages are ours: a vendor's may hold a signed URL.
"""

import errno

from upwell.errors import Misconfigured, Reason, Rejected, Retryable

CREDENTIALS = frozenset(
    {
        "AccountProblem",
        "AuthorizationHeaderMalformed",
        "ExpiredToken",
        "InvalidAccessKeyId",
        "InvalidToken",
        "NotSignedUp",
        "RequestTimeTooSkewed",
        "SignatureDoesNotMatch",
        "TokenRefreshRequired",
    }
)
"""Codes of S3's errors that say nothing of the object: docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html."""
HOPELESS = frozenset({errno.EINVAL, errno.ENAMETOOLONG, errno.ENOSYS, errno.EPERM, errno.EISDIR})
VENDORS = frozenset({"adlfs", "aiobotocore", "aiohttp", "azure", "botocore", "gcsfs", "google", "paramiko", "urllib3"})
ASK_AGAIN = frozenset({408, 425, 429})


def translated(error: Exception, connector: str) -> Exception:
    """The error as Upwell's; one that no connector is known to raise is given back as it is."""
    code = code_of(error)
    if isinstance(error, Rejected | Retryable | Misconfigured):
        return error
    if isinstance(error, FileNotFoundError) and isinstance(error.__cause__, Exception) and not code:
        return translated(error.__cause__, connector)  # fsspec's web calls a busy server a missing file
    if code in CREDENTIALS:
        return Retryable(f"{connector}: the store refuses the credentials ({code})")
    if isinstance(error, FileNotFoundError):
        return Rejected(Reason.UNREADABLE, f"{connector}: there is no such object (any more)")
    if isinstance(error, PermissionError):
        return Rejected(Reason.UNREADABLE, f"{connector}: the store refuses access")
    if isinstance(error, OSError) and error.errno in HOPELESS:
        return Rejected(Reason.UNREADABLE, f"{connector}: the store refuses the request")
    if isinstance(error, OSError):
        return Retryable(f"{connector}: the store is away or busy ({type(error).__name__})")
    return _of_vendor(error, connector)


def code_of(error: BaseException) -> str:
    """The S3 error code of an error or its cause, empty if there is none."""
    for one in (error, error.__cause__):
        response = getattr(one, "response", None)
        if isinstance(response, dict):
            return str(response.get("Error", {}).get("Code", ""))
    return ""


def _of_vendor(error: Exception, connector: str) -> Exception:
    kind = type(error)
    if kind.__module__.partition(".")[0] not in VENDORS:
        return error
    status = getattr(error, "status", None)
    refused = isinstance(status, int) and 400 <= status < 500 and status not in ASK_AGAIN
    if refused or kind.__name__ in {"ParamValidationError", "InvalidURL"}:
        return Rejected(Reason.UNREADABLE, f"{connector}: the store refuses the request")
    return Retryable(f"{connector}: the store is away or busy ({kind.__name__})")

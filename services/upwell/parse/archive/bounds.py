"""Looks into zip containers before anybody unpacks them: bombs, encryption, damage."""

import io
import zipfile

from upwell.parse.failures import corrupt, encrypted, too_large
from upwell.parse.limits import Limits

ENCRYPTED_FLAG = 0x1


def check_zip(data: bytes, limits: Limits) -> None:
    """Raises Unparsable when the container is damaged, encrypted, or would unpack to more than the limits allow."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = members_of(archive, data, limits)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError) as e:
        raise corrupt(f"the container is damaged: {e}") from e
    if any(member.flag_bits & ENCRYPTED_FLAG for member in members):
        raise encrypted("its members are encrypted")


def members_of(archive: zipfile.ZipFile, data: bytes, limits: Limits) -> list[zipfile.ZipInfo]:
    """What the archive says it holds. Raises `too_large` when that is more than the limits allow."""
    members = archive.infolist()
    if len(members) > limits.members:
        raise too_large(f"{len(members)} members; at most {limits.members} are read")
    unpacked, bound = sum(member.file_size for member in members), bound_of(data, limits)
    if unpacked > bound:
        raise too_large(f"would unpack to {unpacked} bytes; at most {bound} are unpacked")
    return members


def bound_of(data: bytes, limits: Limits) -> int:
    """How many bytes `data` may unpack to."""
    return min(limits.unpacked_bytes, max(limits.unpacked_floor_bytes, limits.ratio * len(data)))

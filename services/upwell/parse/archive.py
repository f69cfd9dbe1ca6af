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
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError) as e:
        raise corrupt(f"the container is damaged: {e}") from e
    if len(members) > limits.members:
        raise too_large(f"{len(members)} members; at most {limits.members} are read")
    if any(member.flag_bits & ENCRYPTED_FLAG for member in members):
        raise encrypted("its members are encrypted")
    unpacked = sum(member.file_size for member in members)
    bound = min(limits.unpacked_bytes, max(limits.unpacked_floor_bytes, limits.ratio * len(data)))
    if unpacked > bound:
        raise too_large(f"would unpack to {unpacked} bytes; at most {bound} are unpacked")

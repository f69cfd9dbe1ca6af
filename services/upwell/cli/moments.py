"""Moments on a command line: a length of time ago, or a date and time."""

import re
from datetime import UTC, datetime

import typer

US = 1_000_000
UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
AGO = re.compile(r"(\d{1,6})([smhdw])")


def moment_us(text: str, now_us: int) -> int:
    """`90m`, `12h`, `7d`, `2w` before `now_us`, or an RFC 3339 date or date and time (UTC unless it says), in us.

    Raises BadParameter for anything else.
    """
    if ago := AGO.fullmatch(text.strip()):
        return now_us - int(ago[1]) * UNITS_S[ago[2]] * US
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        raise typer.BadParameter(f"{text!r}: give a length of time (90m, 12h, 7d, 2w) or a date") from None
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * US)

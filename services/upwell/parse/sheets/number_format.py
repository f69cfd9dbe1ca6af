"""A number as a workbook shows it, by its format (ECMA-376 part 1, 18.8.30), for the formats that people use."""

import re
from datetime import datetime, timedelta

BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm",
    21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0;-#,##0", 38: "#,##0;-#,##0", 39: "#,##0.00;-#,##0.00",
    40: "#,##0.00;-#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 49: "@",
}  # fmt: skip
PIECE = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[(?P<elapsed>h+|m+|s+)\]|\[[^\]]*\]|_.|\*.|'
    r"(?P<half>AM/PM|A/P)|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?|e+)|(?P<digits>[0#?][0#?,]*(?:\.[0#?]*,*)?|\.[0#?]+,*)|(?P<text>@)|"
    r"(?P<general>General)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
LONGEST_FORMAT = 255


def is_date(code: str) -> bool:
    """Whether a format shows a date or a time."""
    pieces = PIECE.finditer(_section(code[:LONGEST_FORMAT], 1.0)[0])
    return any(piece.group("date") or piece.group("elapsed") for piece in pieces)


def shown(value: float, code: str, *, since_1904: bool = False) -> str:
    """The number in the words of its format; plainly where the format is none that is known."""
    code, value = _section(code[:LONGEST_FORMAT], value)
    pieces = list(PIECE.finditer(code))
    if not pieces or any(p.group("general") for p in pieces) or "E+" in code.upper() or "E-" in code.upper():
        return plain(value)
    if any(p.group("date") or p.group("elapsed") for p in pieces):
        return _date(value, pieces, since_1904=since_1904)
    digits = [p.group("digits") for p in pieces if p.group("digits")]
    if len(digits) != 1 or "/" in code:
        return plain(value)
    percent = sum(p.group("other") == "%" for p in pieces)
    number = _digits(value * 100**percent, digits[0])
    words = "".join(number if p.group("digits") else _literal(p) for p in pieces)
    return " ".join(words.split())


def plain(value: float) -> str:
    """Fifteen digits, as workbooks keep them, and none after the point of a whole number."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return format(value, ".15g")


def _section(code: str, value: float) -> tuple[str, float]:
    """The section for the sign of the number; the second one shows its own sign."""
    sections = re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', code)
    if value < 0 and len(sections) > 1 and sections[1].strip():
        return sections[1], -value
    if value == 0 and len(sections) > 2 and sections[2].strip():
        return sections[2], value
    return sections[0], value


def _literal(piece: re.Match[str]) -> str:
    groups = piece.groupdict()
    return groups["quoted"] or groups["escaped"] or groups["currency"] or groups["other"] or groups["date"] or ""


def _digits(value: float, pattern: str) -> str:
    scaled = pattern.rstrip(",")
    value /= 1000 ** (len(pattern) - len(scaled))
    whole, _, fraction = scaled.partition(".")
    least = fraction.count("0")
    text = format(value, f"{',' if ',' in whole else ''}.{min(len(fraction), 30)}f")
    if least < len(fraction) and "." in text:
        text = text[: len(text) - (len(fraction) - least)] + text[len(text) - (len(fraction) - least) :].rstrip("0")
        text = text.rstrip(".")
    zeros = whole.replace(",", "").count("0")
    sign, _, body = text.rpartition("-")
    missing = zeros - len(body.split(".")[0].replace(",", ""))
    return f"{'-' if text.startswith('-') else sign}{'0' * max(0, missing)}{body}"


def _date(value: float, pieces: list[re.Match[str]], *, since_1904: bool) -> str:
    try:
        at = moment(value, since_1904=since_1904)
    except (OverflowError, ValueError):
        return plain(value)
    half = any(p.group("half") for p in pieces)
    codes = [(p.group("elapsed") or p.group("date") or "").lower() for p in pieces]
    words: list[str] = []
    for i, piece in enumerate(pieces):
        if piece.group("elapsed"):
            unit = {"h": 24, "m": 1440, "s": 86400}[codes[i][0]]
            words.append(str(int(value * unit + 1e-6)))
        elif piece.group("half"):
            words.append("AM" if at.hour < 12 else "PM")
        elif codes[i]:
            minutes = codes[i][0] == "m" and _beside_time(codes, i)
            words.append(_date_word(at, codes[i], half=half, minutes=minutes))
        else:
            words.append(_literal(piece) or piece.group("digits") or "")
    return "".join(words).strip()


def _beside_time(codes: list[str], i: int) -> bool:
    """Of m: minutes after hours or before seconds, else months."""
    before = next((c for c in reversed(codes[:i]) if c), "")
    after = next((c for c in codes[i + 1 :] if c), "")
    return before.startswith("h") or after.startswith("s")


def _date_word(at: datetime, code: str, *, half: bool, minutes: bool) -> str:
    letter, long = code[0], len(code)
    if letter in {"y", "e"}:
        return f"{at.year:04d}" if long > 2 or letter == "e" else f"{at.year % 100:02d}"
    if letter == "m" and not minutes and long > 2:
        return MONTHS[at.month - 1][: {3: 3, 5: 1}.get(long, 20)]
    if letter == "d" and long > 2:
        return DAYS[at.weekday()][: 3 if long == 3 else 20]
    if letter == "s":
        tenths = code.partition(".")[2]
        fraction = f".{at.microsecond:06d}"[: len(tenths) + 1] if tenths else ""
        return f"{at.second:0{min(len(code.partition('.')[0]), 2)}d}{fraction}"
    hour = at.hour % 12 or 12 if half else at.hour
    number = {"m": at.minute if minutes else at.month, "d": at.day, "h": hour}[letter]
    return f"{number:0{min(long, 2)}d}"


def moment(value: float, *, since_1904: bool = False) -> datetime:
    """The time of a serial number; 1900 counts a 29th of February that never was. Raises OverflowError, ValueError."""
    year, month, day = (1904, 1, 1) if since_1904 else (1899, 12, 31 if value < 60 else 30)
    start = datetime(year, month, day)  # noqa: DTZ001 - workbooks know no zones
    return start + timedelta(seconds=round(value * 86400, 3))

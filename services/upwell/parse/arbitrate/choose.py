"""Of two readings of one document the better is kept, and a line says which and why.

Our own readers come first and win ties. A second parser costs seconds of imports, so it runs only where the first
reading is in doubt by what can be measured in a millisecond: text that is missing, out of order, or broken, or no
reading at all. What is too big to be weighed keeps its first reading.
"""

from collections.abc import Callable
from typing import NamedTuple, NoReturn

from msgspec.structs import replace

from upwell.parse import media
from upwell.parse.adapters import docling, unstructured
from upwell.parse.arbitrate.signals import Signals, best, is_broken, scores, signals
from upwell.parse.arbitrate.witness import PARTS, TEXTS, raw_text
from upwell.parse.failures import Unparsable
from upwell.parse.limits import MIB, Limits
from upwell.records import ParsedDocument, ParseStatus

WEIGHED = frozenset({*PARTS, *TEXTS})
ORDERED = WEIGHED - {media.PPTX}  # a slide's file has its shapes in the order in which they were drawn
DOCLING = frozenset({media.DOCX, media.PPTX, media.XLSX})
MOST_BYTES = 2 * MIB  # for a second reading, which takes seconds a megabyte
Reader = Callable[[], ParsedDocument]


class Reading(NamedTuple):
    """A parser's name and what it made of the document."""

    parsed: ParsedDocument
    signals: Signals


def arbitrated(data: bytes, media_type: str, limits: Limits, first: Reader) -> ParsedDocument:
    """The reading by `first`, or a better one. Raises Unparsable when nobody can read it, as `first` did."""
    if media_type not in WEIGHED:
        return first()
    try:
        parsed = first()
    except Unparsable as e:
        if e.status is not ParseStatus.CORRUPT:
            raise
        return _instead(data, media_type, limits, e.reason) or _reraise(e)
    except (MemoryError, RecursionError):
        raise
    except Exception as e:  # noqa: BLE001 a crash of one parser is no failure of another
        return _instead(data, media_type, limits, f"it failed: {type(e).__name__}") or _reraise(e)
    raw = raw_text(data, media_type, limits)
    if raw is None:
        return replace(parsed, choice=f"{parsed.parser}: too big to weigh against a second reading")
    ordered = media_type in ORDERED
    mine = signals(parsed.blocks, raw, ordered=ordered)
    if mine.clean:
        return replace(parsed, choice=f"{parsed.parser}: clean by itself ({_figures(mine)}), no second reading needed")
    if is_broken(raw):
        return replace(parsed, choice=f"{parsed.parser}: the letters of the document are broken, for any reader")
    others = second_readers(data, media_type, limits, parsed.parser)
    if len(data) > MOST_BYTES or not others:
        return replace(parsed, choice=f"{parsed.parser}: the only reading ({mine.doubts()})")
    tried = [reading for other in others if (reading := _tried(other, raw, ordered=ordered))]
    return choose(Reading(parsed, mine), tried)


def choose(first: Reading, others: list[Reading]) -> ParsedDocument:
    """The better of the readings with its line; children are the first's, for the others open none."""
    readings = [first, *others]
    kept = best([reading.signals for reading in readings])
    rated = scores([reading.signals for reading in readings])
    told = "; ".join(
        f"{r.parsed.parser} {score:.2f} ({_figures(r.signals)})" for r, score in zip(readings, rated, strict=True)
    )
    chosen = readings[kept].parsed
    why = "the better reading" if kept else "no other reading was better" if others else "no other parser could read it"
    return replace(
        chosen,
        choice=f"{chosen.parser}: {why}: {told}",
        children=first.parsed.children,
        pages=chosen.pages or first.parsed.pages,
        encoding=chosen.encoding or first.parsed.encoding,
        title=chosen.title or first.parsed.title,
    )


def second_readers(data: bytes, media_type: str, limits: Limits, first: str) -> list[Reader]:
    """Who else could read this: docling for office files, unstructured where its extra is installed."""
    readers: list[Reader] = []
    if media_type in DOCLING and first != docling.PARSER:
        readers.append(lambda: docling.parse_docling(data, media_type, limits))
    if media_type in unstructured.PARTITIONERS and unstructured.installed():
        readers.append(lambda: unstructured.parse_unstructured(data, media_type, limits))
    return readers


def _tried(reader: Reader, raw: str, *, ordered: bool) -> Reading | None:
    """A crash of one parser is no failure of another."""
    try:
        parsed = reader()
    except (Unparsable, RecursionError):
        return None
    except Exception:  # noqa: BLE001 the edge to a second parser
        return None
    return Reading(parsed, signals(parsed.blocks, raw, ordered=ordered))


def _instead(data: bytes, media_type: str, limits: Limits, reason: str) -> ParsedDocument | None:
    """What another parser makes of a document that ours cannot read; None when nobody can."""
    try:
        raw = raw_text(data, media_type, limits)
    except Unparsable:
        return None  # nobody can open the container
    if raw and raw.strip() and len(data) <= MOST_BYTES:
        for reader in second_readers(data, media_type, limits, ""):
            reading = _tried(reader, raw, ordered=media_type in ORDERED)
            if reading is not None and any(block.text for block in reading.parsed.blocks):
                why = f"the first could not read it ({reason}); {_figures(reading.signals)}"
                return replace(reading.parsed, choice=f"{reading.parsed.parser}: {why}")
    return None


def _reraise(error: Exception) -> NoReturn:
    raise error


def _figures(found: Signals) -> str:
    figures = f"text coverage {found.coverage:.0%}, order {found.order:.2f}"
    return f"{figures}, {found.broken:.1%} broken letters" if found.broken else figures

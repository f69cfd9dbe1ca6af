"""What a child's answer must be: a known status, a reason in one line, and every character accounted for (law L7)."""

import msgspec

from upwell.records import ParseStatus


class Words(msgspec.Struct):
    text: str


class Spot(msgspec.Struct):
    block: int
    start: int
    end: int


class Part(msgspec.Struct):
    spans: list[Spot]
    reason: str = ""


class Answer(msgspec.Struct):
    """As much of an explanation as is judged."""

    status: ParseStatus
    media_type: str
    blocks: list[Words]
    chunks: list[Part]
    dropped: list[Part]
    children: list["Answer"]
    reason: str | None = None
    parser: str = ""


ANSWERS = msgspec.json.Decoder(Answer)


def faults(answer):
    """What is wrong with an answer, in words; nothing for a right one."""
    found = []
    if answer.status is not ParseStatus.OK and (not answer.reason or "\n" in answer.reason):
        found.append(f"{answer.status} without a reason of one line: {answer.reason!r}")
    if any(not part.reason for part in answer.dropped):
        found.append("characters dropped without a reason")
    found += _uncovered(answer)
    for child in answer.children:
        found += [f"in a part: {fault}" for fault in faults(child)]
    return found


def _uncovered(answer):
    spans = [[] for _ in answer.blocks]
    for part in (*answer.chunks, *answer.dropped):
        for spot in part.spans:
            if not (0 <= spot.block < len(spans) and 0 <= spot.start < spot.end <= len(answer.blocks[spot.block].text)):
                return [f"a span that is nowhere: {spot}"]
            spans[spot.block].append((spot.start, spot.end))
    found = []
    for number, block in enumerate(answer.blocks):
        at = 0
        for start, end in [*sorted(spans[number]), (len(block.text), len(block.text))]:
            if block.text[at:start].strip():
                found.append(f"block {number}: characters {at} to {start} are in no chunk and no drop")
            at = max(at, end)
    return found[:5]

"""What a document may cost. One frozen record, so that a test can shrink each limit and nothing else names a number."""

from upwell.records import Record

MIB = 1024 * 1024


class Limits(Record, frozen=True, kw_only=True):
    """Limits of one parse; what is over them ends as `too_large` or `timed_out`, never as a harmed neighbour.

    `ratio` is how many times larger than itself an archive may unpack, beyond `unpacked_floor_bytes`. `memory_bytes` is
    private memory: what a process shows as resident has its libraries on top (about 100 MiB). `answer_bytes` is what a
    child may say of one document, and `kept_bytes` what it may keep resident when the next one comes.
    """

    file_bytes: int = 64 * MIB
    text_bytes: int = 16 * MIB
    characters: int = 5_000_000
    unpacked_bytes: int = 512 * MIB
    unpacked_floor_bytes: int = 32 * MIB
    ratio: int = 200
    members: int = 10_000
    nesting: int = 100
    pages: int = 2_000
    children: int = 100
    child_depth: int = 3
    wall_s: float = 60.0
    memory_bytes: int = 860 * MIB
    answer_bytes: int = 128 * MIB
    kept_bytes: int = 640 * MIB
    open_files: int = 128
    drawn_pages: int = 40
    drawn_pixels: int = 1_500_000
    drawn_bytes: int = 32 * MIB


DEFAULT_LIMITS = Limits()

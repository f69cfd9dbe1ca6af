"""Archives: members as children under safe names, within limits; bombs, locks and damage each their own status."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest

from upwell.parse import media
from upwell.parse.archive.names import member_name
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.route import parse
from upwell.records import ParseStatus


def zipped(members, **options):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(members, mode="w"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def read(data, name="a.zip", limits=DEFAULT_LIMITS):
    return parse(data, name, None, limits)


def texts(parsed):
    return [(c.name, c.status.value, c.blocks[0].text if c.blocks else "") for c in parsed.children]


MEMBERS = [("docs/a.md", b"# Larch"), ("b.txt", b"birch")]
READ = [("docs/a.md", "ok", "Larch"), ("b.txt", "ok", "birch")]


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (zipped(MEMBERS), media.ZIP),
        (tarred(MEMBERS), media.TAR),
        (tarred(MEMBERS, "w:gz"), media.GZIP),
        (tarred(MEMBERS, "w:bz2"), media.BZIP2),
        (tarred(MEMBERS, "w:xz"), media.XZ),
    ],
)
def test_members_are_children_with_their_folders(data, media_type):
    """Whatever packs them, by the content and not by the name."""
    parsed = read(data, "a.dat")
    assert (parsed.status, parsed.media_type) == (ParseStatus.OK, media_type)
    assert texts(parsed) == READ


@pytest.mark.parametrize(("pack", "ending"), [(gzip.compress, "gz"), (bz2.compress, "bz2"), (lzma.compress, "xz")])
def test_one_packed_file_is_one_child_under_its_own_name(pack, ending):
    """`page.html.gz` holds `page.html`."""
    parsed = read(pack(b"<html><body><p>larch</p></body></html>"), f"page.html.{ending}")
    assert texts(parsed) == [("page.html", "ok", "larch")]
    assert parsed.children[0].media_type == media.HTML


def test_an_archive_in_an_archive_is_read_to_a_depth():
    """Below the limit it says so and the rest is read."""
    nested = zipped([("deep.txt", b"deep")])
    for _ in range(2):
        nested = zipped([("in.zip", nested), ("word.txt", b"word")])
    parsed = read(nested, limits=Limits(child_depth=2))
    inner = parsed.children[0].children[0]
    assert texts(parsed.children[0])[1] == ("word.txt", "ok", "word")
    assert (inner.status, inner.children[0:]) == (ParseStatus.TOO_LARGE, ())


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/abs/x.txt", "abs/x.txt"),
        ("C:\\tmp\\x.txt", "tmp/x.txt"),
        ("a//./b/../c.txt", "a/b/c.txt"),
        ("odd!/x.txt", "odd_/x.txt"),
        ("..", "attachment-3"),
        ("a\nb/c\x00.txt", "a_b/c_.txt"),
        ("/".join(["folder" * 5] * 40) + "/x.txt", "/".join(["folder" * 5] * 12) + "/x.txt"),
    ],
)
def test_a_members_name_leads_nowhere(given, safe):
    """Roots, drives, dots and borders of parts are taken out, folders stay."""
    assert member_name(given, 3) == safe


def test_names_are_read_in_the_encoding_that_they_were_written_in():
    """Without the flag for UTF-8 the format means cp437, and writers mean what they like."""
    data = zipped([("zzzzzzz.md", b"x")]).replace(b"zzzzzzz.md", "Grüße.md".encode())
    assert read(data).children[0].name == "Grüße.md"


def test_links_folders_and_systems_leavings_are_no_documents():
    """A link may lead anywhere; nobody wrote `.DS_Store`."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for kind, name in (
            (tarfile.SYMTYPE, "s"),
            (tarfile.LNKTYPE, "l"),
            (tarfile.DIRTYPE, "d"),
            (tarfile.FIFOTYPE, "f"),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    assert read(buffer.getvalue(), "a.tar").children == ()
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    parsed = read(zipped([(link, b"/etc/passwd"), ("__MACOSX/._a.txt", b"x"), ("a/.DS_Store", b"x"), ("a.txt", b"a")]))
    assert [c.name for c in parsed.children] == ["a.txt"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_two_parts():
    """Both were packed; which one an unpacker would keep is its own affair."""
    assert texts(read(zipped([("a.txt", b"one"), ("a.txt", b"two")]))) == [
        ("a.txt", "ok", "one"),
        ("a.txt", "ok", "two"),
    ]


@pytest.mark.parametrize(
    "data",
    [
        zipped([("zeros", bytes(40_000_000))]),
        gzip.compress(bytes(40_000_000)),
        bz2.compress(bytes(40_000_000)),
        tarred([("zeros", bytes(40_000_000))], "w:gz"),
        zipped([("in.gz", gzip.compress(bytes(40_000_000)))]),
    ],
    ids=["zip", "gz", "bz2", "tar.gz", "gz in zip"],
)
def test_a_bomb_is_too_large(data):
    """It is refused by what it would unpack to, before or while it does."""
    parsed = read(data, "a.bin")
    assert parsed.status is ParseStatus.TOO_LARGE
    assert "unpack" in parsed.reason


def test_too_many_members_are_too_many():
    """An archive of more files than the limit is not read in part."""
    members = [(f"{n}.txt", b"x") for n in range(20)]
    for data in (zipped(members), tarred(members)):
        assert read(data, limits=Limits(members=10)).status is ParseStatus.TOO_LARGE


def test_an_encrypted_member_is_that_members_status():
    """The others are read; an archive with nothing else is encrypted as a whole."""

    def locked(data, count):
        data = bytearray(data)
        for mark, at in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
            start = 0
            for _ in range(count):
                start = data.index(mark, start)
                data[start + at] |= 1
                start += 1
        return bytes(data)

    assert [s for _, s, _ in texts(read(locked(zipped(MEMBERS), 1)))] == ["encrypted", "ok"]
    assert read(locked(zipped(MEMBERS), 2)).status is ParseStatus.ENCRYPTED


@pytest.mark.parametrize(
    "data",
    [
        zipped(MEMBERS)[:60],
        gzip.compress(b"larch" * 1000)[:-20],
        tarred([("a.txt", b"x" * 50_000)], "w:gz")[:-30],
        b"BZh91AY&SY" + bytes(100),
        b"\xfd7zXZ\0" + bytes(100),
    ],
    ids=["zip", "gz", "tar.gz", "bz2", "xz"],
)
def test_damage_is_corrupt(data):
    """Cut short or scrambled: one line, no exception."""
    parsed = read(data, "a.bin")
    assert parsed.status is ParseStatus.CORRUPT
    assert "\n" not in parsed.reason


def test_a_damaged_member_harms_no_neighbour():
    """Its checksum fails; the next one is read."""
    data = zipped([("a.txt", b"larch"), ("b.txt", b"birch")], compresslevel=0)
    at = data.index(b"PK\x03\x04") + 36
    scrambled = data[:at] + b"\xff\xff\xff" + data[at + 3 :]
    assert [(n, s) for n, s, _ in texts(read(scrambled))] == [("a.txt", "corrupt"), ("b.txt", "ok")]


def test_a_member_without_any_name_is_a_child_all_the_same():
    """Damage can take a name away, in the directory and before the member alike."""
    data = zipped([("x", b"birch"), ("b.txt", b"larch")])
    assert [text for _, _, text in texts(read(_without_the_name(data)))] == ["birch", "larch"]


def _without_the_name(data):
    """The same archive, its first member's name of one letter taken out."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.infolist()[0].filename == "x"
    local = data.index(b"PK\x03\x04")
    data = data[: local + 26] + b"\0\0" + data[local + 28 : local + 30] + data[local + 31 :]
    central = data.index(b"PK\x01\x02")
    data = data[: central + 28] + b"\0\0" + data[central + 30 : central + 46] + data[central + 47 :]
    second = data.index(b"PK\x01\x02", central + 4)
    data = (
        data[: second + 42]
        + (int.from_bytes(data[second + 42 : second + 46], "little") - 1).to_bytes(4, "little")
        + data[second + 46 :]
    )
    end = data.index(b"PK\x05\x06")
    size = int.from_bytes(data[end + 12 : end + 16], "little") - 1
    start = int.from_bytes(data[end + 16 : end + 20], "little") - 1
    return data[: end + 12] + size.to_bytes(4, "little") + start.to_bytes(4, "little") + data[end + 20 :]

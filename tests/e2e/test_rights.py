"""Who finds what, from the command line."""

import pytest

pytestmark = pytest.mark.e2e
FILES = {
    ".upwell-access.yaml": "allow: [everyone]\ndeny: [group:contractors]\n",
    "welcome.md": "# Welcome\n\nThe kiln stands behind the workshop.\n",
    "hr/.upwell-access.yaml": 'allow: [group:hr, group:leads]\nfiles: {"salary*": {allow: [group:hr]}}\n',
    "hr/plan.md": "# Plan\n\nThe kiln master retires in spring.\n",
    "hr/salary.md": "# Salary\n\nThe kiln master earns a fair salary.\n",
}


@pytest.mark.parametrize(
    ("reader", "seen"),
    [
        (["--as", "tom"], {"welcome.md"}),
        (["--as", "user:ida", "--group", "hr"], {"welcome.md", "hr/plan.md", "hr/salary.md"}),
        (["--as", "lea", "--group", "group:leads"], {"welcome.md", "hr/plan.md"}),
        (["--as", "con", "--group", "hr", "--group", "contractors"], set()),
        (["--as", "ana"], {"welcome.md", "hr/plan.md", "hr/salary.md"}),
    ],
    ids=["anybody", "hr", "lead", "denied", "owner"],
)
def test_each_reader_finds_what_every_level_admits(upwell, reader, seen):
    upwell("ingest", upwell.write(FILES), "--owner", "ana")
    assert upwell.found("kiln master", "-k", "10", *reader) == seen


def test_without_names_owner_and_reader_are_the_login_name(upwell):
    docs = upwell.write({"mine.md": "Private words about the kiln."})
    upwell("ingest", docs)
    assert upwell.found("kiln") == {"mine.md"}
    assert upwell.found("kiln", "--as", "somebody-else") == set()


def test_a_narrowing_holds_with_the_next_ingest_and_embeds_nothing(upwell):
    docs = upwell.write(FILES)
    upwell("ingest", docs)
    upwell.write({"hr/.upwell-access.yaml": "allow: [group:hr]\n"})
    answer = upwell.json("ingest", docs)
    assert answer["chunks"]["embedded"] == 0
    assert answer["documents"]["acl_changed"] >= 1
    assert upwell.found("kiln master", "--as", "lea", "--group", "leads") == {"welcome.md"}


def test_nothing_found_is_no_error_and_names_the_reader(upwell):
    upwell("ingest", upwell.write({"mine.md": "Private words."}))
    done = upwell("search", "words", "--as", "nobody")
    assert done.stdout == ""
    assert "user:nobody" in done.stderr

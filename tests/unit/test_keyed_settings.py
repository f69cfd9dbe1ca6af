"""Settings files as their own text under the path of their keys."""

import pytest

from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.route import parse

LONG = "words that say at some length what this is all about, so that it does not fit beside the next; " * 4


def parts(text, name):
    parsed = parse(text.encode(), name, None, DEFAULT_LIMITS)
    assert "".join("".join(b.text for b in parsed.blocks).split()) == "".join(text.split())
    return [(" > ".join(b.heading_path), b.text.split("\n")[0].strip()) for b in parsed.blocks]


def test_yaml_is_cut_at_its_keys():
    """As deep as it must be; a comment stays with the key below it, a parent's line with its first part."""
    text = f"a: 1\n# about b\nb:\n  c:\n    d: {LONG}\n    e: {LONG}\n  f: {LONG}\n"
    assert parts(text, "a.yaml") == [
        ("a", "a: 1"),
        ("b > c > d", "# about b"),
        ("b > c > e", f"e: {LONG.strip()}"),
        ("b > f", f"f: {LONG.strip()}"),
    ]


def test_items_of_lists_go_by_their_names():
    """Where they have some; else they are together under the list."""
    text = f"steps:\n  - name: build\n    run: {LONG}\n  - uses: x\n    name: test\n    run: {LONG}\n"
    assert [path for path, _ in parts(text, "a.yml")] == ["steps > build", "steps > test"]
    assert {path for path, _ in parts("list:\n" + f"- {LONG[:80]}\n" * 20, "a.yml")} == {"list"}


def test_objects_of_a_cluster_are_under_kind_and_name():
    """Each document of the file by itself."""
    text = "kind: Service\nmetadata:\n  labels: {}\n  name: web\n---\nkind: Deployment\nmetadata:\n  name: api\n"
    assert [path for path, _ in parts(text, "a.yaml")] == ["Service web", "Deployment api"]


@pytest.mark.parametrize("name", ["a.toml", "a.ini", "setup.cfg"])
def test_tables_are_under_their_names(name):
    """With the comments above them."""
    text = 'x = 1\n\n# the database\n[database.main]\nhost = "a"\n'
    assert parts(text, name) == [("", "x = 1"), ("database > main", "# the database")]


@pytest.mark.parametrize(
    "text",
    ["- a\n" * 50_000, "a:\n" + " b:\n" * 50_000, "".join(" " * i + "k:\n" for i in range(1000)), "{{ x }}\n: :\n"],
)
def test_any_text_is_read_in_time(text):
    """Templates, broken files and floods lose nothing."""
    assert parts(text, "a.yaml")

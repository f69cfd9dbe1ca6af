"""Mutations that know of tags, entities, PDF objects and the marks of Markdown and AsciiDoc."""

import re

TAG = re.compile(rb"<[/!?]?[A-Za-z][^<>]{0,300}>")
VALUE = re.compile(rb"=\"([^\"<>]{0,200})\"")
OBJECT = re.compile(rb"\b(\d+) (\d+) R\b")
VALUES = (
    b"",
    b"-1",
    b"0",
    b"99999999999",
    b"NaN",
    b"1e999",
    b"A" * 5000,
    b"&#0;",
    b"&e;",
    b"\xff\xfe",
    b"true",
    b"../../x",
)
MARKS = (
    b"[" * 300,
    b"> " * 300,
    b"* " * 300,
    b"`" * 301,
    b"**" * 300,
    b"![" * 200,
    b"|" * 500,
    b"{" * 300,
    b"<div>" * 300,
    b"\n====\n" * 200,
    b"\n|===\na|" * 200,
    b"\n:a: {a}{a}" * 40,
    b"\nifdef::a[]" * 200,
    b"footnote:[" * 200,
)
DOCTYPE = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY e "&a;&a;&a;&a;"><!ENTITY s SYSTEM "file:///etc/hostname">]>'


def is_markup(data):
    return any(mark in data[:4096] for mark in (b"<", b"%PDF", b"# ", b"{", b"\n== "))


def repeat_tag(rng, data, other):
    """One tag many times over: nested or side by side."""
    found = _one(rng, TAG, data)
    return data if found is None else data[: found.start()] + found[0] * rng.randint(2, 400) + data[found.start() :]


def drop_tag(rng, data, other):
    found = _one(rng, TAG, data)
    return data if found is None else data[: found.start()] + data[found.end() :]


def swap_tags(rng, data, other):
    tags = [*TAG.finditer(data)]
    if len(tags) < 2:
        return data
    a, b = sorted(rng.sample(range(len(tags)), 2))
    first, second = tags[a], tags[b]
    middle = data[first.end() : second.start()]
    return data[: first.start()] + second[0] + middle + first[0] + data[second.end() :]


def edit_value(rng, data, other):
    found = _one(rng, VALUE, data)
    return data if found is None else data[: found.start(1)] + rng.choice(VALUES) + data[found.end(1) :]


def add_entities(rng, data, other):
    """A DTD with entities behind the XML declaration, and one use of them."""
    end = data.find(b"?>") + 2 if data.startswith(b"<?xml") else 0
    use = data.find(b"</", end)
    body = (
        data[end:] if use < 0 else data[end:use] + rng.choice((b"&e;", b"&s;", b"&nosuch;", b"&#xFFFF;")) + data[use:]
    )
    return data[:end] + DOCTYPE + body


def point_elsewhere(rng, data, other):
    """A PDF reference to another object: loops, wrong types, nothing at all."""
    references = [*OBJECT.finditer(data)]
    if not references:
        return data
    found, target = rng.choice(references), rng.choice(references)
    number = rng.choice((target[1], target[1], b"0", b"999999", found[1]))
    return data[: found.start(1)] + number + data[found.end(1) :]


def add_marks(rng, data, other):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(MARKS) + data[at:]


def _one(rng, pattern, data):
    found = [*pattern.finditer(data)]
    return rng.choice(found) if found else None


MARKUP = (repeat_tag, drop_tag, swap_tags, edit_value, add_entities, point_elsewhere, add_marks)

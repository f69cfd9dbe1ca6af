"""What a file is: by its bytes, whatever it is called; names decide only between kinds of text."""

import io
import zipfile

import pytest

from upwell.parse import media
from upwell.parse.detect import detect


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"\n\n%PDF-1.7\n1 0 obj\n", "a.txt", media.PDF),
        (b"junk before\n%PDF-1.7\n1 0 obj\n<<>>", "a.bin", media.PDF),
        (zipped(**{"first.pdf": "%PDF-1.7\n1 0 obj\n", "b.txt": "words"}), "a.zip", media.ZIP),
        (b"GIF89a%PDF-1.7\n1 0 obj\n", "a.gif", "image/gif"),
        (b"From: a@b.c\nSubject: x\n\n%PDF-1.7\n1 0 obj\n", "a.eml", media.EML),
        (b"<!doctype html><pre>\n%PDF-1.7\n1 0 obj\n</pre>", "a.html", media.HTML),
        (b"A PDF begins with %PDF-1.7, as the standard has it.", "a.txt", media.PLAIN),
        (b"<!doctype html><p>%PDF-1.4</p>", "a.html", media.HTML),
        (b"<!DOCTYPE html><html><body>Not found</body></html>", "a.py", media.HTML),
        (b"<html><?php echo 1 ?></html>", "a.php", "text/x-php"),
        ("<html><p>Grüße</p></html>".encode("utf-16"), "a", media.HTML),
        (zipped(mimetype="text/html"), "a.zip", media.ZIP),
        (zipped(mimetype="application/epub+zip"), "a.zip", media.EPUB),
        (zipped(**{"a.txt": "x"}), "a.docx", media.ZIP),
        (b"#!/usr/bin/env python3\nprint(1)\n", "tool", "text/x-python"),
        (b"#!/bin/sh -e\nls\n", "tool", "text/x-bash"),
        (b"<?php echo 1;", "tool", "text/x-php"),
        (b"<div><p>x</p></div>", "tool", media.HTML),
        (b"<feed xmlns='x'><entry/></feed>", "tool", media.XML),
        (b"{{ template }} words", "tool", media.PLAIN),
        (b"[see below] words", "tool", media.PLAIN),
        (b'[{"a": 1}]', "tool", media.JSON),
        (b"1\n00:00:01,000 --> 00:00:02,000\nwords\n", "a.txt", media.SUBRIP),
        (b"x" * 257 + b"ustar words", "a.txt", media.PLAIN),
    ],
)
def test_the_bytes_decide(data, name, expected):
    """Polyglots, wrong names, no names."""
    assert detect(data, name) == expected

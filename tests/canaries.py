"""Planted words, and the files, dumps and objects that still hold any of them."""

import secrets
from pathlib import Path

PLACES = ("text", "title", "url", "metadata", "child", "childtext", "dead", "pending", "query", "older", "heading")


class Canaries:
    """One word for each place that words can stand in; no two have anything in common that a compressor could share."""

    def __init__(self, places=PLACES):
        self.words = {place: "k" + secrets.token_hex(8) + "k" for place in places}

    def __getitem__(self, place):
        return self.words[place]

    def among(self, data):
        """The places whose words these bytes hold."""
        return {place for place, word in self.words.items() if word.encode() in data}

    def in_folder(self, folder):
        """place -> the files below `folder` that hold its word, by their path there."""
        found = {}
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file() and not path.is_symlink():
                try:
                    data = path.read_bytes()
                except FileNotFoundError:
                    continue
                for place in self.among(data) | {p for p in self.words if self.words[p] in path.name}:
                    found.setdefault(place, []).append(str(path.relative_to(folder)))
        return found

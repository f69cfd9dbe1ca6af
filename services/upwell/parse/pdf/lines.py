"""Words to lines, and a line to its text: which way it runs, accents on their letters, letters that were spaced out."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from upwell.parse.pdf.glyphs import Word

ACCENTS = {
    "\u00b4": "\u0301", "\u02ca": "\u0301", "`": "\u0300", "\u02cb": "\u0300", "\u00a8": "\u0308", "\u02c6": "\u0302",
    "^": "\u0302", "\u02dc": "\u0303", "~": "\u0303", "\u02d8": "\u0306", "\u02c7": "\u030c", "\u02da": "\u030a",
    "\u00b8": "\u0327", "\u02d9": "\u0307", "\u02dd": "\u030b", "\u02db": "\u0328", "\u00af": "\u0304",
}  # fmt: skip
"""What TeX draws as an accent of its own, and the mark that it stands for."""
PRESENTATION = re.compile("[\ufb00-\ufdff\ufe70-\ufeff\u2f00-\u2fdf\uff61-\uff9f]")
DENSE = re.compile("[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
"""Scripts that are written without spaces between words."""
GAP_SHARE = 1.0
SPACE_SHARE = 0.2
SCRIPT_SHARE = 0.87
LEAST_SPACED_LETTERS = 4


Letter = tuple[str, float, float]


class Line(msgspec.Struct):
    """Words that stand on one line without a wide gap. `baseline` and `size` are those of its largest words."""

    words: list[Word]
    baseline: float
    size: float
    x0: float
    x1: float


def lines(words: Sequence[Word]) -> list[Line]:
    """Words in the order drawn to lines, from the top; parts of a line with a gap wider than a letter are apart."""
    strings: list[Line] = []
    for word in _with_accents(words):
        if not (strings and _joins(strings[-1], word)):
            strings.append(Line(words=[], baseline=word.baseline, size=word.size, x0=word.x0, x1=word.x1))
        _append(strings[-1], word)
    return [part for row in _rows(strings) for part in _merged(row)]


def _with_accents(words: Sequence[Word]) -> list[Word]:
    """Accents that were drawn as words of their own, among the letters of the word that they stand over."""
    out: list[Word] = []
    for at, word in enumerate(words):
        if len(word.letters) == 1 and word.letters[0][0] in ACCENTS:
            middle = (word.x0 + word.x1) / 2
            for host in words[max(0, at - 1) : at + 2]:
                place = next((k for k, (_, low, high) in enumerate(host.letters) if low <= middle <= high), None)
                if host is not word and place is not None and abs(host.baseline - word.baseline) < 0.7 * host.size:
                    host.letters.insert(place, word.letters[0])
                    break
            else:
                out.append(word)
        else:
            out.append(word)
    return out


def _joins(line: Line, word: Word) -> bool:
    """Whether a word that was drawn after these goes on with their line, be it as an index."""
    larger, last = max(line.size, word.size), line.words[-1]
    apart = abs(word.baseline - line.baseline)
    gap = max(word.x0 - last.x1, last.x0 - word.x1)
    if apart <= 0.15 * larger:
        return -0.3 * larger <= gap <= GAP_SHARE * larger
    small = min(line.size, word.size) <= SCRIPT_SHARE * larger
    return small and apart <= 0.6 * larger and -0.5 * larger <= gap <= 0.4 * larger


def _append(line: Line, word: Word) -> None:
    if word.size * SCRIPT_SHARE >= line.size:
        line.baseline, line.size = word.baseline, word.size
    line.words.append(word)
    line.x0, line.x1 = min(line.x0, word.x0), max(line.x1, word.x1)


def _rows(strings: list[Line]) -> list[list[Line]]:
    """Strings of one baseline together."""
    rows: list[list[Line]] = []
    for string in sorted(strings, key=lambda s: (s.baseline, s.x0)):
        if rows and string.baseline - rows[-1][0].baseline <= 0.2 * min(string.size, rows[-1][0].size):
            rows[-1].append(string)
        else:
            rows.append([string])
    return rows


def _merged(row: list[Line]) -> list[Line]:
    """From left to right, those with a gap no wider than a letter as one."""
    done: list[Line] = []
    for string in sorted(row, key=lambda s: s.x0):
        if done and -0.5 * string.size <= string.x0 - done[-1].x1 <= GAP_SHARE * min(string.size, done[-1].size):
            for word in string.words:
                _append(done[-1], word)
        else:
            done.append(string)
    return done


def line_words(words: Sequence[Word], *, leftwards: bool = False) -> list[tuple[str, float, float]]:
    """The words of a line in the order that they are read, each with its left and right end.

    `leftwards`: the page is of a script from right to left, so a line with any of it runs so. Composed (NFC); ligatures
    and presentation forms as their letters; an index is part of the word that it stands at.
    """
    for word in words:
        if not word.text:
            word.text = word_text(word)
    ordered = _closed(_logical(sorted(words, key=lambda w: (w.x0, w.x1)), leftwards=leftwards))
    out: list[tuple[str, float, float]] = []
    for i, word in enumerate(ordered):
        if out and not _parted(ordered[i - 1], word) and not (i == 1 and _is_mark(ordered[0], word)):
            text, x0, x1 = out[-1]
            out[-1] = (text + word.text, min(x0, word.x0), max(x1, word.x1))
        else:
            out.append((word.text, word.x0, word.x1))
    return [(unicodedata.normalize("NFC", text), x0, x1) for text, x0, x1 in out]


def word_text(word: Word) -> str:
    """The letters of a word, accents on the letters that they stand over."""
    letters = word.letters
    if any(right_to_left(text) for text, _, _ in letters):
        letters = _leftwards(letters)
    out: list[str] = []
    pending: Letter | None = None
    for text, low, high in letters:
        if pending is not None:
            mark, middle = ACCENTS[pending[0]], (pending[1] + pending[2]) / 2
            composed = unicodedata.normalize("NFC", text + mark)
            out.append(composed if low <= middle <= high and len(composed) == 1 else pending[0] + text)
            pending = None
        elif text in ACCENTS:
            pending = (text, low, high)
        else:
            out.append(text)
    if pending is not None:
        out.append(pending[0])
    whole = "".join(out)
    if PRESENTATION.search(whole):
        whole = PRESENTATION.sub(lambda m: unicodedata.normalize("NFKC", m.group()), whole)
    return whole


def runs_left(words: Sequence[Word]) -> bool:
    """Whether the letters of a page are for the most part of a script that runs from right to left."""
    letters = sum(len(word.letters) for word in words)
    return sum(len(w.letters) for w in words if w.letters and right_to_left(w.letters[0][0])) > 0.4 * letters


def right_to_left(text: str) -> bool:
    """Whether this starts with a letter of a script that runs from right to left."""
    return unicodedata.bidirectional(text[0]) in {"R", "AL"} if text else False


def _leftwards(letters: list[Letter]) -> list[Letter]:
    """Letters of a word from right to left in the order that they are read, whichever way they were drawn.

    Letters of one ligature share its box, and come in the order of the rest. Numbers and Latin keep their own way.
    """
    groups: list[list[Letter]] = []
    for letter in letters:
        if groups and letter[1:] == groups[-1][-1][1:]:
            groups[-1].append(letter)
        else:
            groups.append([letter])
    drawn_left = sum(a[0][1] > b[0][1] for a, b in pairwise(groups)) * 2 >= len(groups) - 1
    runs: list[tuple[bool, list[list[Letter]]]] = []
    for group in sorted(groups, key=lambda g: -g[0][1] - g[0][2]):
        kind = unicodedata.bidirectional(group[0][0][0])
        latin = kind in {"L", "EN", "AN"} or (kind in {"CS", "ES", "ET"} and bool(runs) and runs[-1][0])
        if runs and runs[-1][0] == latin:
            runs[-1][1].append(group)
        else:
            runs.append((latin, [group]))
    out: list[Letter] = []
    for latin, run in runs:
        for group in reversed(run) if latin else run:
            out.extend(reversed(group) if drawn_left and not latin else group)
    return out


def _direction(word: Word) -> int:
    """-1 for letters from right to left, 1 for others, 0 where neither is in it."""
    for character in word.text:
        kind = unicodedata.bidirectional(character)
        if kind in {"R", "AL"}:
            return -1
        if kind in {"L", "EN", "AN"}:
            return 1
    return 0


def _logical(words: list[Word], *, leftwards: bool) -> list[Word]:
    """Words from left to right, in the order that they are read (a line's base direction is that of most letters)."""
    directions = [_direction(word) for word in words]
    if -1 not in directions:
        return words
    weight = sum(d * len(w.text) for d, w in zip(directions, words, strict=True))
    base = -1 if leftwards or weight < 0 else 1
    runs: list[tuple[int, list[Word]]] = []
    for own, word in zip(directions, words, strict=True):
        direction = own or base
        if runs and runs[-1][0] == direction:
            runs[-1][1].append(word)
        else:
            runs.append((direction, [word]))
    ordered = [list(reversed(run)) if direction < 0 else run for direction, run in runs]
    return [word for run in (reversed(ordered) if base < 0 else ordered) for word in run]


def _is_mark(first: Word, word: Word) -> bool:
    """The raised number that a footnote begins with is no part of its first word."""
    return first.size <= SCRIPT_SHARE * word.size and first.baseline < word.baseline and len(first.text) <= 3


def _gap(before: Word, word: Word) -> float:
    return max(word.x0 - before.x1, before.x0 - word.x1)


def _parted(before: Word, word: Word) -> bool:
    """Whether there is a space between two neighbours."""
    gap = _gap(before, word)
    if DENSE.match(before.text[-1:]) and DENSE.match(word.text[:1]):
        return word.spaced and gap > SPACE_SHARE * word.size
    return gap > SPACE_SHARE * max(before.size, word.size) or (word.spaced and gap > 0.05 * word.size)


def _closed(words: list[Word]) -> list[Word]:
    """Letters that were spaced out (s p a c e d) as the words that they make."""
    out: list[Word] = []
    run: list[Word] = []
    for word in [*words, None]:
        if word is not None and len(word.text) == 1 and word.text.isalpha() and not DENSE.match(word.text):
            run.append(word)
            continue
        out.extend(_respelt(run) if len(run) >= LEAST_SPACED_LETTERS else run)
        run = []
        if word is not None:
            out.append(word)
    return out


def _respelt(letters: list[Word]) -> list[Word]:
    gaps = sorted(_gap(a, b) for a, b in pairwise(letters))
    usual = gaps[len(gaps) // 2]
    out: list[Word] = []
    for letter in letters:
        if out and _gap(out[-1], letter) <= 1.7 * usual:
            last = out[-1]
            out[-1] = Word(
                text=last.text + letter.text,
                x0=min(last.x0, letter.x0),
                x1=max(last.x1, letter.x1),
                baseline=last.baseline,
                size=last.size,
                font=last.font,
                spaced=last.spaced,
            )
        else:
            out.append(letter)
    return out

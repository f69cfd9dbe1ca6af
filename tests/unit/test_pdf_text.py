"""Words of PDFs: hyphens, ligatures, spaced letters, paragraphs over breaks, lists, notes, code and formulas."""

import pytest

from pdfs import LOREM, Drawn, texts
from upwell.parse.pdf.glyphs import Font, Word
from upwell.parse.pdf.lines import line_words
from upwell.parse.pdf.paragraphs import joined
from upwell.records import Kind


def word(text, x, width=None, size=10.0, *, spaced=True, baseline=100.0):
    """Letters of equal width from `x`."""
    step = (width or 5.0 * len(text)) / len(text)
    letters = [(c, x + i * step, x + (i + 1) * step) for i, c in enumerate(text)]
    return Word(
        text="",
        x0=x,
        x1=x + step * len(text),
        baseline=baseline,
        size=size,
        font=Font(),
        spaced=spaced,
        letters=letters,
    )


def read(*words, leftwards=False):
    return [text for text, _, _ in line_words(words, leftwards=leftwards)]


def test_words_broken_at_line_ends_are_whole_again():
    """A hyphen stays where the document writes the word with one, or where both halves are words of it."""
    assert joined(["the adip-", "iscing words"], frozenset()) == "the adipiscing words"
    assert joined(["a dual-", "encoder here"], frozenset({"dual", "encoder"})) == "a dual-encoder here"
    assert joined(["a well-", "known one"], frozenset({"well-known"})) == "a well-known one"
    assert joined(["state-of-the-", "art things"], frozenset()) == "state-of-the-art things"
    assert joined(["of Smith-", "Jones it"], frozenset()) == "of Smith-Jones it"
    assert joined(["pages 10-", "20 of it"], frozenset()) == "pages 10- 20 of it"


def test_lines_of_chinese_join_without_a_space():
    """Scripts without spaces between words get none at line ends."""
    assert joined(["数据保", "护规定"], frozenset()) == "数据保护规定"


def test_ligatures_and_accents_are_letters():
    """Presentation forms are taken apart, accents that stand alone go on their letter."""
    assert read(word("e\ufb03cient", 10)) == ["efficient"]
    accented = word("Oguz", 10)
    accented.letters.insert(1, ("\u02d8", accented.letters[1][1], accented.letters[1][2]))
    assert read(accented) == ["O\u011fuz"]
    assert read(word("e\u0301te", 10)) == ["\u00e9te"]


def test_letters_that_were_spaced_out_are_words():
    """Wider gaps part the words."""
    letters = [word(c, 10 + 9 * i) for i, c in enumerate("HARBOUR")]
    letters += [word(c, 90 + 9 * i) for i, c in enumerate("WALLS")]
    assert read(*letters) == ["HARBOUR", "WALLS"]
    assert read(*(word(c, 10 + 9 * i) for i, c in enumerate("abc"))) == ["a", "b", "c"]


def test_words_from_right_to_left_are_in_the_order_of_reading():
    """The rightmost first; Latin words among them keep their own order."""
    time, book = word("تقو", 10), word("باتك", 140)  # as they lie on the page, from the left
    assert read(time, word("open", 60), word("lake", 90), book, leftwards=True) == ["كتاب", "open", "lake", "وقت"]
    time, book = word("تقو", 60), word("باتك", 90)
    assert read(word("open", 10), time, book, word("lake", 140)) == ["open", "كتاب", "وقت", "lake"]


def test_letters_from_right_to_left_are_read_so_whichever_way_they_were_drawn():
    """Programs draw them from either end; numbers among them run from left to right; a ligature has one box."""
    drawn_right = word("ملس", 10)  # the last letter of the word first, from the left
    assert read(drawn_right) == ["سلم"]
    turned = word("سلم", 10)
    turned.letters = [(c, 20 - 5 * i, 25 - 5 * i) for i, c in enumerate("سلم")]
    assert read(turned) == ["سلم"]
    ligature = word("xxx", 10)
    ligature.letters = [("س", 20, 25), ("ا", 10, 20), ("ل", 10, 20)]
    assert read(ligature) == ["سلا"]
    number = word("12م", 10)
    assert read(number) == ["م12"]


def test_an_index_belongs_to_its_word():
    """A raised number without a gap is part of the word before it, a note's own number is not part of its first."""
    raised = word("2", 35.5, 3, 6.0, spaced=False, baseline=96.0)
    assert read(word("words", 10), raised) == ["words2"]
    assert read(word("1", 10, 3, 6.0, baseline=96.0), word("The", 13.2, spaced=False)) == ["1", "The"]


def test_a_paragraph_goes_on_over_columns_and_pages():
    """In one block, on the page where it begins; a figure's caption between does not end it."""
    pdf = Drawn()
    pdf.prose(LOREM * 2 + "and the left column breaks off in the mid-", 60, 100, 220)
    pdf.prose("dle of a word, and of the sentence that this page", 310, 100, 220)
    pdf.page()
    pdf.prose("never ends by itself. " + LOREM + ".", 60, 80, 470)
    (paragraph,) = texts(pdf.read(), Kind.PARAGRAPH)
    assert "in the middle of a word" in paragraph
    assert "this page never ends" in paragraph


def test_a_new_sentence_on_a_new_page_is_a_new_paragraph():
    """Where the one before has ended."""
    pdf = Drawn()
    pdf.prose(LOREM + ".", 60, 700, 470)
    pdf.page()
    pdf.prose("Another one " + LOREM + ".", 60, 80, 470)
    assert len(texts(pdf.read(), Kind.PARAGRAPH)) == 2


def test_indents_and_gaps_part_paragraphs():
    """A first line that is set in, and a line of space."""
    pdf = Drawn()
    y = pdf.prose(LOREM + ".", 60, 100, 470)
    pdf.line("Set in a little, this line begins another paragraph of the page, which is long enough to", 75, y)
    y = pdf.prose("go on in a second line.", 60, y + 12, 470)
    pdf.prose("After a gap " + LOREM + ".", 60, y + 8, 470)
    assert [text.split()[0] for text in texts(pdf.read(), Kind.PARAGRAPH)] == ["The", "Set", "After"]


def test_lists_are_nested_by_their_indent():
    """Bullets go, numbers stay; lines that hang belong to their item."""
    pdf = Drawn()
    pdf.line("\u2022", 70, 100)
    pdf.line("first item of the list, which is so long that it needs another line for", 85, 100)
    pdf.line("what it says", 85, 112)
    pdf.line("-  inner item", 100, 124)
    pdf.line("\u2022", 70, 136)
    pdf.line("second item", 85, 136)
    pdf.line("1. numbered", 70, 160)
    pdf.line("2. as well", 70, 172)
    items = [(b.level, b.text) for b in pdf.read().blocks if b.kind is Kind.LIST_ITEM]
    assert items == [
        (1, "first item of the list, which is so long that it needs another line for what it says"),
        (2, "inner item"),
        (1, "second item"),
        (1, "1. numbered"),
        (1, "2. as well"),
    ]


def test_bare_numbers_that_hang_are_those_of_a_list():
    """Without a dot, but with the lines of the item set in behind them."""
    pdf = Drawn()
    y = pdf.prose(LOREM + ".", 60, 100, 470)
    for i, item in enumerate(("first point of it", "second point of it")):
        pdf.line(str(i + 1), 60, y + 28 * i)
        pdf.line(item, 80, y + 28 * i)
        pdf.line("which goes on here", 80, y + 28 * i + 12)
    assert texts(pdf.read(), Kind.LIST_ITEM) == [
        "1 first point of it which goes on here",
        "2 second point of it which goes on here",
    ]


def test_dots_that_were_drawn_as_shapes_are_bullets():
    """As browsers print lists."""
    pdf = Drawn()
    for i, (x, item) in enumerate(((80, "outer item"), (100, "inner item"), (80, "another"))):
        pdf.canvas.circle(x - 10, 842 - 100 - 14 * i + 3, 2, fill=1)
        pdf.line(item, x, 100 + 14 * i)
    items = [(b.level, b.text) for b in pdf.read().blocks if b.kind is Kind.LIST_ITEM]
    assert items == [(1, "outer item"), (2, "inner item"), (1, "another")]


def test_notes_at_the_foot_are_footnotes():
    """Small, low, with a mark; each its own block, and none inside a paragraph that goes on behind it."""
    pdf = Drawn()
    pdf.prose(LOREM * 3 + "and it goes on to the", 60, 100, 470)
    pdf.line("1", 60, 757, 5)
    pdf.line("The first note, in small letters.", 64, 760, 7.5)
    pdf.line("2", 60, 767, 5)
    pdf.line("The second note.", 64, 770, 7.5)
    pdf.page()
    pdf.prose("next page without a break. " + LOREM + ".", 60, 80, 470)
    parsed = pdf.read()
    assert texts(parsed, Kind.FOOTNOTE) == ["1 The first note, in small letters.", "2 The second note."]
    assert "goes on to the next page" in texts(parsed, Kind.PARAGRAPH)[0]


def test_code_keeps_its_lines_and_indents():
    """Letters of a fixed pitch; an address in them is no code."""
    pdf = Drawn()
    y = pdf.prose(LOREM + ".", 60, 100, 470)
    pdf.lines(
        ["def harbour(ships):", "    for ship in ships:", "        ship.land()", "", "    return 1"],
        60,
        y + 10,
        9,
        "Courier",
    )
    pdf.line("ana@harbour.example", 60, y + 120, 9, "Courier")
    parsed = pdf.read()
    assert texts(parsed, Kind.CODE) == [
        "def harbour(ships):\n    for ship in ships:\n        ship.land()\n\n    return 1"
    ]
    assert "ana@harbour.example" in texts(parsed, Kind.PARAGRAPH)


def letter(*steps, size=10):
    """Lines of a letter, each so far below the last."""
    pdf, y = Drawn(), 100
    pdf.line("Harbour letter", 230, 70, 18, "Helvetica-Bold")
    words = ["Dear Ms Lund,", "we write about the pump", "that you bought in the old town.", "Yours,", "Tom"]
    for text, step in zip(words, steps, strict=True):
        y += step
        pdf.line(text, 60, y, size)
    return texts(pdf.read(), Kind.PARAGRAPH)


def test_short_paragraphs_stay_apart_where_most_gaps_are_between_paragraphs():
    """The few lines that follow each other closely tell what a line's own distance is."""
    assert letter(0, 20, 12, 20, 20) == [
        "Dear Ms Lund,",
        "we write about the pump that you bought in the old town.",
        "Yours,",
        "Tom",
    ]
    assert letter(0, 20, 20, 20, 12)[0] == "Dear Ms Lund,"


def test_a_short_line_over_a_gap_stands_alone_where_all_gaps_are_wide():
    """It ends far from the edge, with a comma before small letters or before a capital."""
    assert [letter(0, 20, 20, 20, 20)[i] for i in (0, -1)] == ["Dear Ms Lund,", "Tom"]


def test_a_short_line_without_a_capital_goes_on_after_its_comma():
    """A list of words that was broken is no salutation."""
    pdf = Drawn()
    for i, words in enumerate(("given one part and", "another part,", "the harbour, its walls and the ships in it")):
        pdf.line(words, 60, 100 + 20 * i)
    assert texts(pdf.read(), Kind.PARAGRAPH)[-1].endswith("another part, the harbour, its walls and the ships in it")


def test_widely_set_lines_are_one_paragraph():
    """A manuscript at twice the distance, ragged at the right."""
    pdf = Drawn()
    for i, words in enumerate(
        ("The council met in the old hall", "and spoke at length of the", "harbour, its walls and ships")
    ):
        pdf.line(words, 60, 100 + 20 * i)
    assert len(texts(pdf.read(), Kind.PARAGRAPH)) == 1


@pytest.mark.parametrize(("x", "size"), [(60, 9), (108, 8)])
def test_short_lines_of_code_stay_together_and_in_order(x, size):
    """A line that stands indented wholly beside the end of the one above it goes on with the program."""
    program = ["try:", "    x = 1", "except E:", "    pass", "if y:", "    if z:", "        return 1", "    return 2"]
    pdf = Drawn()
    y = pdf.prose(LOREM + ".", 60, 100, 470)
    pdf.lines(program, x, y + 30, size, "Courier")
    assert texts(pdf.read(), Kind.CODE) == ["\n".join(program)]


def test_programs_side_by_side_stay_apart():
    """Lines that have others beside them are read column by column."""
    pdf = Drawn()
    y = pdf.prose(LOREM + ".", 60, 100, 470) + 30
    pdf.lines(["while (y) {", "    go(a);", "end(y);"], 60, y, 9, "Courier")
    pdf.lines(["while (b) {", "    to(c);", "end(b);"], 330, y + 5, 9, "Courier")
    assert texts(pdf.read(), Kind.CODE) == ["while (y) {\n    go(a);\nend(y);", "while (b) {\n    to(c);\nend(b);"]


def test_a_page_that_is_all_program_is_code_and_a_typewritten_one_is_not():
    """What most lines look like tells, where all letters are of a fixed pitch."""
    program = ["def f(x):", "    if x:", "        return 1", "    return 2"]
    pdf = Drawn()
    pdf.lines(program, 108, 100, 8, "Courier")
    assert texts(pdf.read(), Kind.CODE) == ["\n".join(program)]
    letter = Drawn()
    letter.lines(
        ["Dear Ida,", "the pump is here, and it works;", "come and see it. Yours, Tom"], 108, 100, 8, "Courier"
    )
    assert not texts(letter.read(), Kind.CODE)


def test_code_in_columns_is_one_block():
    """Wide gaps in lines of a fixed pitch are part of them."""
    pdf = Drawn()
    pdf.prose(LOREM * 2 + ".", 60, 100, 470)
    for i, (flag, says) in enumerate((("  -o FILE", "where it goes;"), ("  -h", "this help"), ("  -v", "its version"))):
        pdf.line(flag, 60, 200 + 11 * i, 9, "Courier")
        pdf.line(says, 180, 200 + 11 * i, 9, "Courier")
    (code,) = texts(pdf.read(), Kind.CODE)
    assert [line.split() for line in code.splitlines()][1] == ["-h", "this", "help"]


def test_a_number_at_a_lines_start_does_not_end_the_sentence():
    """Nor does a line in letters of a fixed pitch."""
    pdf = Drawn()
    pdf.prose(LOREM, 60, 100, 470)
    y = 100
    for words in (
        "The ships came in the year when the ice had gone and the wind had turned to be counted and were more",
        "than one would have thought who had seen the harbour in the days before, for there were not fewer than",
        "90. It had been the best of all the years that anybody could remember in the town, and the walls held.",
    ):
        y += 12
        pdf.line(words, 60, y + 60)
    assert not texts(pdf.read(), Kind.LIST_ITEM)


def test_a_displayed_formula_is_one():
    """Set in, with a relation, and hardly a word."""
    pdf = Drawn()
    y = pdf.prose(LOREM + ".", 60, 100, 470)
    pdf.line("E = m c + 12 x", 250, y + 14)
    pdf.prose(LOREM + ".", 60, y + 40, 470)
    assert texts(pdf.read(), Kind.FORMULA) == ["E = m c + 12 x"]


def test_links_are_kept_with_their_paragraph():
    """Where they point to."""
    pdf = Drawn()
    pdf.line("see the harbour", 60, 100)
    pdf.canvas.linkURL("https://harbour.example/", (60, 735, 140, 750))
    (block,) = pdf.read().blocks
    assert block.links == ("https://harbour.example/",)

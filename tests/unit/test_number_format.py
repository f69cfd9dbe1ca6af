"""Numbers as workbooks show them, by the formats that people use."""

import pytest

from upwell.parse.sheets.number_format import BUILT_IN, is_date, plain, shown


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (1234.5, "#,##0.00", "1,234.50"),
        (0.256, "0.0%", "25.6%"),
        (7, "000", "007"),
        (-3, "0", "-3"),
        (-1234.5, '"$"#,##0.00;[Red]("$"#,##0.00)', "($1,234.50)"),
        (5, "[$€-407] #,##0", "€ 5"),
        (1.5, "0.0##", "1.5"),
        (2, "0.##", "2"),
        (1_500_000, '0.0,,"M"', "1.5M"),
        (0.1 + 0.2, "General", "0.3"),
        (12, "", "12"),
        (45356, BUILT_IN[14], "2024-03-05"),
        (45356, "dd/mm/yyyy", "05/03/2024"),
        (45356.604166667, "d mmm yy h:mm AM/PM", "5 Mar 24 2:30 PM"),
        (45356.604166667, "yyyy-mm-dd hh:mm:ss", "2024-03-05 14:30:00"),
        (1.5, "[h]:mm", "36:00"),
        (1e300, "yyyy", "1e+300"),
        (0.5, "# ?/?", "0.5"),
    ],
)
def test_a_number_is_shown_by_its_format(value, code, expected):
    """Sections for signs, literals, currencies, percents, thousands, dates, times and spans."""
    assert shown(value, code) == expected


def test_the_calendar_of_1904():
    """Some workbooks count from another day."""
    assert shown(0, "yyyy-mm-dd", since_1904=True) == "1904-01-01"


def test_formats_of_dates_are_told_from_others():
    """A letter in quotes or brackets is no date."""
    assert is_date("mmm-yy")
    assert not is_date('0.00 "days"')
    assert not is_date("[Red]0")


def test_plain_numbers_have_fifteen_digits():
    """As they are kept; whole ones without a point."""
    assert [plain(3.0), plain(1 / 3), plain(1e20)] == ["3", "0.333333333333333", "1e+20"]

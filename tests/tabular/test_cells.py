"""One reader of cells for all formats of files."""

from datetime import UTC, datetime

import pytest

from cqa_site.tabular.cells import (
    as_flag,
    as_moment,
    as_name,
    as_number,
    as_text,
    as_whole,
    as_words,
    is_missing,
    single,
)


@pytest.mark.parametrize(
    "value", [None, "", "  ", "\xa0", "NA", "n/a", "NaN", "null", "None", "-", "#N/A", [], {}]
)
def test_what_says_nothing(value):
    assert is_missing(value)
    assert as_number(value) is as_flag(value) is as_name(value) is as_moment(value) is None


@pytest.mark.parametrize("value", ["2", "2.0", " 2 ", "+2", "2,0", "２", "02", 2, 2.0, "2e0"])
def test_the_same_number_however_it_is_written(value):
    assert as_whole(value) == 2


@pytest.mark.parametrize(
    "value", ["two", "1,000", "1.2.3", True, [1, 2], "x2", "٢", "inf", "1e999"]
)
def test_what_is_no_number(value):
    with pytest.raises(ValueError, match=r"not a number|holds 2"):
        as_number(value)


def test_decimal_commas_and_signs():
    assert (as_number("0,05"), as_number("-3,25"), as_number("\u22124")) == (0.05, -3.25, -4)
    with pytest.raises(ValueError, match="not a whole number"):
        as_whole("2.5")


def test_a_number_as_programs_write_it_out():
    for value in (0.9384366273880004, 1e-7, 0.1 + 0.2, 1 / 3):
        assert as_number(repr(value)) == as_number(repr(value).replace(".", ",")) == value


@pytest.mark.parametrize("value", ["FALSCH", "FAUX", "falso", "No", "0", 0, False, "nein"])
def test_no_in_the_languages_of_spreadsheets(value):
    assert as_flag(value) is False


@pytest.mark.parametrize("value", ["WAHR", "VRAI", "yes", 1, True, " Sí "])
def test_yes_in_the_languages_of_spreadsheets(value):
    assert as_flag(value) is True


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-02T17:00:20Z",
        "2026-03-02 17:00:20",
        "Mon Mar 02 09:00:20 PST 2026",
        "2026/03/02 17:00:20",
        "02.03.2026 17:00:20",
        "2026-03-02T19:00:20+02:00",
    ],
)
def test_one_moment_in_the_forms_of_files(text):
    assert as_moment(text) == datetime(2026, 3, 2, 17, 0, 20, tzinfo=UTC)


def test_lists_of_one_and_choices_of_annotation_tools():
    for value in (["1"], '["1"]', {"choices": ["1"]}, '{"choices": ["1"]}', '[{"rating": "1"}]'):
        assert single(value) == "1"
    assert single([]) is None
    with pytest.raises(ValueError, match="holds 2 values"):
        single(["1", "2"])
    assert (as_text(["x"]), as_words([]), as_words({"a": 1})) == ("x", "", '{"a": 1}')
    assert as_name("\ufeff Anna\xa0") == "Anna"

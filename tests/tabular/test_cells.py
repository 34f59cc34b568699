"""One reader of cells for all formats of files, the strict JSON parser, and names of columns."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from cqa_site.tabular.cells import (
    StrictJsonError,
    as_flag,
    as_moment,
    as_name,
    as_number,
    as_text,
    as_whole,
    as_words,
    is_missing,
    loads,
    single,
)
from cqa_site.tabular.layout import unique_headers

EMPTY = (None, "", "  ", "\xa0", "NA", "n/a", "NaN", "null", "None", "-", "#N/A", [], {})


def test_numbers_and_empty_cells_however_they_are_written():
    for value in ("2", "2.0", " 2 ", "+2", "2,0", "２", "02", 2, 2.0, "2e0"):
        assert as_whole(value) == 2, value
    for value in ("two", "1,000", "1.2.3", True, [1, 2], "x2", "٢", "inf", "1e999"):
        with pytest.raises(ValueError, match=r"not a number|holds 2"):
            as_number(value)
    assert (as_number("0,05"), as_number("-3,25"), as_number("\u22124")) == (0.05, -3.25, -4)
    with pytest.raises(ValueError, match="not a whole number"):
        as_whole("2.5")
    for value in (0.9384366273880004, 1e-7, 0.1 + 0.2, 1 / 3):
        assert as_number(repr(value)) == as_number(repr(value).replace(".", ",")) == value
    for value in EMPTY:
        assert is_missing(value), value
        assert as_number(value) is as_flag(value) is as_name(value) is as_moment(value) is None


def test_yes_and_no_in_the_languages_of_spreadsheets():
    for value in ("FALSCH", "FAUX", "falso", "No", "0", 0, False, "nein"):
        assert as_flag(value) is False, value
    for value in ("WAHR", "VRAI", "yes", 1, True, " Sí "):
        assert as_flag(value) is True, value


def test_one_moment_in_the_forms_of_files():
    for text in (
        "2026-03-02T17:00:20Z",
        "2026-03-02 17:00:20",
        "Mon Mar 02 09:00:20 PST 2026",
        "2026/03/02 17:00:20",
        "02.03.2026 17:00:20",
        "2026-03-02T19:00:20+02:00",
    ):
        assert as_moment(text) == datetime(2026, 3, 2, 17, 0, 20, tzinfo=UTC), text


def test_lists_of_one_and_choices_of_annotation_tools():
    for value in (["1"], '["1"]', {"choices": ["1"]}, '{"choices": ["1"]}', '[{"rating": "1"}]'):
        assert single(value) == "1"
    assert single([]) is None
    with pytest.raises(ValueError, match="holds 2 values"):
        single(["1", "2"])
    assert (as_text(["x"]), as_words([]), as_words({"a": 1})) == ("x", "", '{"a": 1}')
    assert as_name("\ufeff Anna\xa0") == "Anna"


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4)
)


@given(DOCUMENTS)
def test_what_json_writes_is_read_back(document):
    assert loads(json.dumps(document)) == document
    assert loads(json.dumps(document, ensure_ascii=False).encode()) == document


REFUSED = (
    *("", "[1", "1 2", "[NaN]", "[1e400]", '{"a": 1, "a": 1}', '"tab\tinside"', "\u00a01"),
    *(
        "[9223372036854775808]",
        "[-9223372036854775809]",
        '"\\u0000"',
        '"\\ud800"',
        '{"\\udfff": 1}',
    ),
    *("[" * 33 + "]" * 33, "[" * 200_000, b'"\xff"', b'"\xed\xa0\x80"'),
)


@pytest.mark.parametrize("document", REFUSED)
def test_refused(document):
    with pytest.raises(StrictJsonError):
        loads(document)


def test_bounds_are_exact_and_a_late_repeat_is_refused_quickly():
    assert loads("[9223372036854775807, -9223372036854775808]") == [2**63 - 1, -(2**63)]
    assert loads("[" * 32 + "]" * 32)
    assert loads('"\\ud83d\\ude00"') == "😀"
    assert loads("[1]", max_bytes=3) == [1]
    with pytest.raises(StrictJsonError, match="larger"):
        loads("[12]", max_bytes=3)
    keys = ",".join(f'"{n}":0' for n in range(100_000))
    with pytest.raises(StrictJsonError, match="'99999' occurs twice"):
        loads("{" + keys + ',"99999":1}', max_bytes=10**7)


@given(
    st.lists(st.sampled_from(["a", "a (2)", "a (3)", "", " a ", "Column 2", None]), max_size=12)
)
def test_names_are_unique_and_none_is_lost(cells):
    names = unique_headers(cells)
    assert len(names) == len(cells) == len(set(names))
    assert all(names)
    # A numbered header that exists is not taken away.
    assert unique_headers(["a", "a", "a (2)"]) == ["a", "a (3)", "a (2)"]
    assert unique_headers(["Column 2", ""]) == ["Column 2", "Column 2 (2)"]


def test_line_breaks_inside_texts_are_taken_where_they_are_asked_for():
    document = '{"a": "x\r\n\ty"}'
    assert loads(document, raw_lines=True) == {"a": "x\r\n\ty"}
    for refused, more in (
        (document, {}),
        ('{"a": "x\x00"}', {"raw_lines": True}),
        ('{"a": "x\x1b"}', {"raw_lines": True}),
    ):
        with pytest.raises(StrictJsonError):
            loads(refused, **more)

"""The strict parser on whole documents, names of columns, and what reading loads."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqa_site.tabular.cells import StrictJsonError, loads
from cqa_site.tabular.layout import unique_headers

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


@pytest.mark.parametrize(
    "document",
    [
        "",
        "[1",
        "1 2",
        "[NaN]",
        "[1e400]",
        '{"a": 1, "a": 1}',
        "[9223372036854775808]",
        "[-9223372036854775809]",
        '"\\u0000"',
        '"\\ud800"',
        '{"\\udfff": 1}',
        "[" * 33 + "]" * 33,
        "[" * 200_000,
        b'"\xff"',
        b'"\xed\xa0\x80"',
        '"tab\tinside"',
        "\u00a01",
    ],
)
def test_refused(document):
    with pytest.raises(StrictJsonError):
        loads(document)


def test_bounds_are_exact():
    assert loads("[9223372036854775807, -9223372036854775808]") == [2**63 - 1, -(2**63)]
    assert loads("[" * 32 + "]" * 32)
    assert loads('"\\ud83d\\ude00"') == "😀"
    assert loads("[1]", max_bytes=3) == [1]
    with pytest.raises(StrictJsonError, match="larger"):
        loads("[12]", max_bytes=3)


def test_an_object_of_many_keys_with_a_late_repeat_is_refused_quickly():
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


def test_a_numbered_header_that_exists_is_not_taken_away():
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

"""Any table once its columns are chosen, labels of a scale, names in a sentence."""

from dataclasses import fields
from datetime import UTC, datetime

import openpyxl
import pytest
from hypothesis import given, strategies as st

from annotation.corpus.methods.generic_table import (
    FIELDS,
    GenericRecord,
    check_mapping,
    parse_label,
    read_generic_table,
)
from annotation.corpus.methods.sentences import split_sentence
from cqa_site.tabular import Problem, UnreadableFile, open_table

MADE = ("row", "labels", "attributes")
WRITTEN = [each.name for each in fields(GenericRecord) if each.name not in MADE]
ALL = {field: f"c_{field}" for field in WRITTEN}
LEAST = {"object1": "a", "object2": "b", "text": "t"}


RATED = LEAST | {"label": "l", "rater": "r"}


def read(folder, text, mapping, **options):
    path = folder / "upload"
    path.write_text(text)
    return list(read_generic_table(open_table(path, name="mine.csv"), mapping, **options))


def test_every_field(tmp_path):
    assert set(WRITTEN) == set(FIELDS)
    header = ",".join(ALL.values())
    row = "oak,elm, Oaks last. ,https://example.org/x,id7,2,r1,3,2024-03-01T10:00:00,fine"
    row += ",Expert,answered,no,yes,,no,1500,0,7"
    values = {"object1": "oak", "object2": "elm", "text": " Oaks last. ", "external_id": "id7"}
    values |= {"source_url": "https://example.org/x", "label": 2, "rater": "r1"}
    values |= {"control_label": 3, "started": datetime(2024, 3, 1, 10, tzinfo=UTC)}
    values |= {"comment": "fine", "rater_kind": "expert", "state": "answered"}
    values |= {"is_extra": False, "is_excluded": True, "skip_reason": None, "is_flagged": False}
    values |= {"active_ms": 1500, "block": 0, "position": 7}
    assert set(values) == set(WRITTEN)
    assert read(tmp_path, f"{header}\n{row}\n", ALL) == [GenericRecord(row=2, **values)]
    # Only the argument is required.
    assert read(tmp_path, "t,b,extra,a\nx,elm,?,oak\n,elm,?,oak\n", LEAST) == [
        GenericRecord(2, "oak", "elm", "x"),
        GenericRecord(3, "oak", "elm", ""),
    ]
    # An unrated row is no problem, scales can be wider.
    (record,) = read(tmp_path, "a,b,t,l,r\noak,elm,x,,r1\n", RATED)
    assert (record.label, record.rater) == (None, "r1")
    (record,) = read(tmp_path, "a,b,t,l,r\noak,elm,x,7,r1\n", RATED, scale=range(10))
    assert record.label == 7
    # A time of another zone stays that moment.
    table = "a,b,t,s\noak,elm,Oaks last.,2024-03-01T10:00:00+02:00\n"
    (record,) = read(tmp_path, table, LEAST | {"started": "s"})
    assert record.started == datetime(2024, 3, 1, 8, tzinfo=UTC)
    # Numbers in sheets become their digits.
    book = openpyxl.Workbook()
    for cells in (("a", "b", "t", "l", "r"), (911, 718.0, "x", 3.0, 12)):
        book.active.append(cells)
    book.save(tmp_path / "upload.xlsx")
    table = open_table(tmp_path / "upload.xlsx", name="mine.xlsx")
    (record,) = read_generic_table(table, RATED)
    found = (record.object1, record.object2, record.label, record.rater)
    assert found == ("911", "718", 3, "12")


def test_a_bad_cell_is_named(tmp_path):
    good = dict.fromkeys(WRITTEN, "") | {"object1": "oak", "object2": "elm", "text": "x"}
    good |= {"label": "1", "rater": "r1"}
    for field, cell, words in (
        ("object1", "", "is empty"),
        ("object2", "  ", "is empty"),
        ("label", "9", "not a label"),
        ("rater", "", "without its rater"),
        ("control_label", "x", "not a label"),
        ("rater_kind", "robot", "not one of"),
        ("state", "skipped", "although the vote is skipped"),
        ("is_extra", "perhaps", "neither true nor false"),
        ("object2", " oak ", "the same as the other object"),
    ):
        lines = [",".join(ALL.values())]
        lines += [",".join(row[each] for each in WRITTEN) for row in (good, {**good, field: cell})]
        record, problem = read(tmp_path, "\n".join(lines), ALL)
        assert (type(record), type(problem)) == (GenericRecord, Problem)
        assert (problem.file, problem.row, problem.column) == ("mine.csv", 3, ALL[field])
        assert words in problem.reason
    # All problems of a row are given.
    problems = read(tmp_path, "a,b,t\n,,x\n", LEAST)
    assert [problem.column for problem in problems] == ["a", "b"]


def test_mappings_are_checked_before_reading(tmp_path):
    for mapping, words in (
        ({"object1": "a", "object2": "b"}, "choose a column for text"),
        ({**LEAST, "label": "l"}, "label and rater go together"),
        ({**LEAST, "comment": "nowhere"}, "no column 'nowhere'"),
        ({**LEAST, "colour": "l"}, "no field 'colour'"),
        ({**LEAST, "comment": "t"}, "for two fields"),
    ):
        assert any(words in each for each in check_mapping(["a", "b", "t", "l"], mapping))
        with pytest.raises(UnreadableFile, match=words):
            read(tmp_path, "a,b,t,l\n1,2,3,1\n", mapping)


def test_labels_are_read():
    labels = {"0": 0, " 3 ": 3, 2: 2, 1.0: 1, "": None, "  ": None, None: None}
    for value, label in labels.items():
        assert parse_label(value) == parse_label(value, range(8)) == label
    assert (parse_label("7", range(8)), parse_label("-1", (-1, 0, 1))) == (7, -1)
    for value in ("4", -1, 2.5, True, "two", "٣", "³", [1, 2], "1" * 50, float("inf"), 1e300):
        with pytest.raises(ValueError, match="is not a label of the scale 0, 1, 2, 3"):
            parse_label(value)


NAMES = st.one_of(
    st.text(max_size=8), st.sampled_from(["tea", "Tea", "C", "C++", "New York", "s", " "])
)

WORDS = st.sampled_from(["tea", "Teas", "C++", "C", "new  york's", "'", " ", "."])


SENTENCES = st.one_of(st.text(max_size=60), st.lists(WORDS).map("".join))


def marked(text, object1, object2):
    return [(part.text, part.mark) for part in split_sentence(text, object1, object2) if part.mark]


@given(SENTENCES, NAMES, NAMES)
def test_the_parts_give_the_sentence_back(text, object1, object2):
    parts = split_sentence(text, object1, object2)
    assert "".join(part.text for part in parts) == text
    assert all(part.text for part in parts)
    # A name in the sentence is found.
    name = object1.strip()
    if name.isalpha():
        assert any(part.mark == 1 for part in split_sentence(f"{text} {name} !", name, ""))


def test_names_are_marked_as_a_reader_would():
    for text, object1, object2, expected in (
        ("Tea or COFFEE?", "tea", "coffee", [("Tea", 1), ("COFFEE", 2)]),
        ("Teas, boxes and tea's taste", "tea", "box", [("Teas", 1), ("boxes", 2), ("tea's", 1)]),
        ("A steak is no tea, nor a teapot", "tea", "pot", [("tea", 1)]),
        ("Model B2 beats Model B", "Model B", "Model B2", [("Model B2", 2), ("Model B", 1)]),
        ("New York City Hall", "New York", "York City Hall", [("York City Hall", 2)]),
        ("C++ is older than C# but not than C", "C", "C++", [("C++", 2), ("C", 1)]),
        ("A cup is as good as A", "A", "B", [("A", 1), ("A", 1)]),
        ("the Red  Panda’s tail", "red panda", "", [("Red  Panda’s", 1)]),
        ("Nike runs, nike walks", "Nike", "nike", [("Nike", 1), ("nike", 1)]),
        ("(.*) matches a.b", "a.b", "(.*)", [("(.*)", 2), ("a.b", 1)]),
        ("", "tea", "coffee", []),
    ):
        assert marked(text, object1, object2) == expected, text
    # Long sentences take linear time.
    parts = split_sentence("tea " * 20_000, "tea", "coffee tea")
    assert sum(part.mark == 1 for part in parts) == 20_000

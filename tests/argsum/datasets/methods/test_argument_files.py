"""Readers of argument files: what they make of good ones, and where they point in bad ones."""

import io
import zipfile

import pytest

from argsum.datasets.methods.argument_files import (
    read_argkp,
    read_argument_list,
    read_argument_pairs,
)
from cqa_site.tabular import Limits, UnreadableFile
from cqa_site.tabular.binary_formats import packed, unpacked
from tests.argsum.argument_files import PAIR_COLUMNS, TOPIC, csv_of, pairs, triple, zip_of


def read(reader, tmp_path, content: bytes, name: str):
    path = tmp_path / "stored"
    path.write_bytes(content)
    return reader(path, name=name)


def archive(tmp_path, files):
    return read(read_argkp, tmp_path, zip_of(files), "argkp.zip")


def table(tmp_path, *rows, columns=PAIR_COLUMNS):
    return read(read_argument_pairs, tmp_path, pairs(*rows, columns=columns), "pairs.csv")


def test_the_triple_becomes_one_cell(tmp_path):
    found = archive(tmp_path, triple())
    (cell,) = found.cells
    assert found.problems == []
    assert (cell.topic, cell.stance, cell.split, cell.repeats) == (TOPIC, 1, "test", 0)
    assert [each.name for each in cell.arguments] == ["a1", "a2", "a3", "a4"]
    assert cell.matches == {(0, 0): True, (0, 1): False, (1, 0): True, (1, 1): True, (3, 1): True}
    assert cell.matched() == [1, 2, 0, 1]
    # Ids mean something only within a split.
    dev, test = archive(tmp_path, triple() | triple("dev", topic="Another topic")).cells
    assert (dev.split, test.split, dev.matches) == ("dev", "test", test.matches)
    # One text under two ids is one argument.
    rows = [("a1", "Same.", TOPIC, 1), ("a2", "Same.", TOPIC, 1)]
    labels = [("a1", "k1", 1), ("a2", "k2", 1)]
    (cell,) = archive(tmp_path, triple(arguments=rows, labels=labels)).cells
    assert (len(cell.arguments), cell.repeats) == (1, 1)
    assert cell.matches == {(0, 0): True, (0, 1): True}
    # A label between two cells is none.
    rows = [("k1", "Silence is restful", TOPIC, -1), ("k2", "Music costs money", TOPIC, 1)]
    found = archive(tmp_path, triple(key_points=rows))
    assert {problem.column for problem in found.problems} == {"key_point_id"}
    assert "another topic or stance" in found.problems[0].reason


@pytest.mark.parametrize(
    ("part", "row", "column"),
    [
        ("labels", ("a9", "k1", 1), "arg_id"),
        ("labels", ("a1", "k9", 1), "key_point_id"),
        ("labels", ("a1", "k2", 7), "label"),
        ("labels", ("a1", "k1", 0), "label"),
        ("arguments", ("a1", "Other.", TOPIC, 1), "arg_id"),
        ("arguments", ("", "Other.", TOPIC, 1), "arg_id"),
        ("arguments", ("a2", " ", TOPIC, 1), "argument"),
        ("arguments", ("a2", "Other.", TOPIC, 0), "stance"),
        ("arguments", ("a2", "Other.", " ", 1), "topic"),
        ("key_points", ("k2", "x" * 10_001, TOPIC, 1), "key_point"),
    ],
)
def test_a_bad_row_is_named_by_file_row_and_column(tmp_path, part, row, column):
    rows = {"arguments": [("a1", "Silence is restful.", TOPIC, 1)], "labels": [("a1", "k1", 1)]}
    rows["key_points"] = [("k1", "Silence is restful", TOPIC, 1)]
    if row[1] == "k2":
        rows["key_points"].append(("k2", "Other", TOPIC, 1))
    rows[part].append(row)
    found = archive(tmp_path, triple(**rows))
    (problem,) = found.problems
    assert (problem.file, problem.row, problem.column) == (f"{part}_test.csv", 3, column)
    assert len(found.cells[0].arguments) == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda files: files.pop("labels_test.csv"), "but no labels_test.csv"),
        (lambda files: files.pop("key_points_test.csv"), "but no key_points_test.csv"),
        (lambda files: files.clear(), "contains no arguments_"),
        (lambda files: files.update({"sub/labels_test.csv": b"x"}), "labels_test.csv twice"),
        (lambda files: files.update({"labels_test.tsv": b"x"}), "one is expected"),
        (lambda files: files.update({"arguments_test.csv": b"arg_id\x00"}), "NUL"),
        (lambda files: files.update({"arguments_test.csv": b"a,b\n1,2\n"}), "no column 'arg_id'"),
    ],
)
def test_an_archive_without_what_it_needs_is_refused(tmp_path, change, reason):
    files = triple()
    change(files)
    with pytest.raises(UnreadableFile, match=reason):
        archive(tmp_path, files or {"readme.txt": b"x"})


def test_an_archive_chooses_no_place_on_the_disk_and_is_refused_if_it_is_none(tmp_path):
    files = {f"../../evil/{name}": body for name, body in triple().items()}
    found = archive(tmp_path, files | {"/etc/passwd": b"x", "__MACOSX/._labels_test.csv": b"x"})
    assert len(found.cells) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stored"]
    for content in (b"no archive", zip_of(triple())[:-200], b""):
        with pytest.raises(UnreadableFile, match="not a readable ZIP archive"):
            read(read_argkp, tmp_path, content, "argkp.zip")
    body = bytearray(zip_of(triple()))
    body[body.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(UnreadableFile, match="password"):
        read(read_argkp, tmp_path, bytes(body), "argkp.zip")
    path = tmp_path / "bomb.zip"
    path.write_bytes(zip_of({"labels_test.csv": b"a" * 300_000}))
    small = Limits(text_bytes=200_000)
    with (
        pytest.raises(UnreadableFile, match="unpacks to more"),
        unpacked(path, name="bomb.zip", is_wanted=lambda name: True, limits=small),
    ):
        pytest.fail("it was unpacked")


def test_a_folder_reads_as_its_archive_does(tmp_path):
    folder = tmp_path / "argkp"
    folder.mkdir()
    for name, body in (triple() | {"notes.txt": b"x"}).items():
        (folder / name).write_bytes(body)
    whole = read_argkp(folder, name="argkp")
    one, two = tmp_path / "1.zip", tmp_path / "2.zip"
    assert packed(folder, one, is_wanted=lambda name: name.endswith(".csv")) == 3
    packed(folder, two, is_wanted=lambda name: name.endswith(".csv"))
    assert one.read_bytes() == two.read_bytes()
    assert zipfile.ZipFile(io.BytesIO(one.read_bytes())).testzip() is None
    assert read_argkp(one, name="1.zip") == whole


def test_pairs_join_on_their_texts_and_columns_go_by_several_names(tmp_path):
    found = table(
        tmp_path,
        (TOPIC, "One.", "First", "1", "1", "train", "0.5"),
        (TOPIC, "One.", "Second", "pro", "0", "train", ""),
        (TOPIC, "Two.", "", "1", "", "train", "1.07"),
        (TOPIC, "Three.", "First", "-1", "", "train", ""),
    )
    pro, con = found.cells
    assert found.problems == []
    assert [(each.text, each.quality) for each in pro.arguments] == [("One.", 0.5), ("Two.", 1.07)]
    assert pro.matches == {(0, 0): True, (0, 1): False}
    assert (con.stance, con.matches, len(con.key_points)) == (-1, {}, 1)
    columns = ("Motion", "Text", "KP", "Stance", "Is match", "Split", "ibm_pro_deb_qs", "spare")
    row = (TOPIC, "One.", "First", "con", "true", "validation", "0.25", "!")
    (cell,) = table(tmp_path, row, columns=columns).cells
    assert (cell.stance, cell.split, cell.arguments[0].quality) == (-1, "dev", 0.25)
    for other in ("argument", "text"):
        columns = ("topic", "argument", other, "key_point", "stance", "label")
        with pytest.raises(UnreadableFile, match="two columns have the same meaning"):
            table(tmp_path, (TOPIC, "One.", "Two.", "First", "1", "1"), columns=columns)


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ((TOPIC, "One.", "First", "2", "1", "", ""), "stance"),
        ((TOPIC, "One.", "First", "", "1", "", ""), "stance"),
        ((TOPIC, "One.", "First", "1", "perhaps", "", ""), "label"),
        ((TOPIC, "One.", "", "1", "1", "", ""), "key_point"),
        ((TOPIC, "One.", "First", "1", "1", "final", ""), "set"),
        ((TOPIC, "One.", "First", "1", "1", "dev", ""), "set"),
        ((TOPIC, "One.", "First", "1", "1", "", "5"), "quality"),
        ((TOPIC, "Zero.", "First", "1", "0", "", ""), "label"),
        ((TOPIC, "Zero.", "First", "1", "1", "", "0.6"), "quality"),
        (("t" * 501, "One.", "First", "1", "1", "", ""), "topic"),
    ],
)
def test_a_bad_pair_is_named_by_row_and_column(tmp_path, row, column):
    found = table(tmp_path, (TOPIC, "Zero.", "First", "1", "1", "", "0.5"), row)
    (problem,) = found.problems
    assert (problem.file, problem.row, problem.column) == ("pairs.csv", 3, column)
    assert [each.text for each in found.cells[0].arguments] == ["Zero."]


def test_pairs_without_a_label_column_are_matches(tmp_path):
    columns = ("", "topic", "argument", "summary", "stance", "ibm_pro_deb_qs", "post")
    rows = [
        (7, TOPIC, "One.", "First", 1, 0.5, "p1"),
        (9, TOPIC, "One.", "Second", 1, 0.5, "p1"),
        (3, TOPIC, "Two.", "First", 1, 0.4, "p2"),
        (4, TOPIC, "Two.", "First", 1, 0.4, "p3"),
        (5, TOPIC, "Three.", "", 1, "", "p4"),
    ]
    found = table(tmp_path, *rows, columns=columns)
    (cell,) = found.cells
    assert (found.problems, found.has_label) == ([], False)
    assert cell.matches == {(0, 0): True, (0, 1): True, (1, 0): True}
    assert (cell.matched(), cell.repeats) == ([2, 1, 0], 2)
    assert table(tmp_path, (TOPIC, "One.", "First", 1, "", "", "")).has_label


def test_a_list_needs_no_stance_and_may_be_json_lines(tmp_path):
    rows = [(TOPIC, "One."), (TOPIC, "Two."), (TOPIC, "One.")]
    found = read(read_argument_list, tmp_path, csv_of(("topic", "argument"), rows), "list.csv")
    (cell,) = found.cells
    assert (cell.stance, len(cell.arguments), cell.repeats) == (0, 2, 1)
    assert cell.matched() == [None, None]
    lines = b'{"topic": "T", "argument": "One.", "stance": -1, "quality": 0.5}\n' * 2
    (cell,) = read(read_argument_list, tmp_path, lines, "list.jsonl").cells
    assert (cell.stance, cell.repeats, cell.arguments[0].quality) == (-1, 1, 0.5)
    nested = b'{"topic": ["T", "U"], "argument": "One."}\n'
    (problem,) = read(read_argument_list, tmp_path, nested, "list.jsonl").problems
    assert (problem.row, problem.column) == (1, "topic")

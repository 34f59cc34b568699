"""The human table and its links: half points, swallowed rows, texts that lost their signs."""

import pytest

from annotation.imports.methods.releases import RawAnswer
from benchmark.imports.methods.human_scores import (
    LETTERS,
    OPENING,
    HumanScore,
    link_by_letters,
    read_human_scores,
)
from cqa_site.tabular import Problem, UnreadableFile
from tests.benchmark.small_rubric import SMALL

COLUMNS = ["object1", "object2", "aspect", "comparison", "score", *SMALL.keys, "model", "scenario"]


def row(text="Oak lasts.", points=("1.0", "1.5", "0.0"), model="gpt4", scenario="1", **changes):
    cells = dict.fromkeys(COLUMNS, "") | {
        "object1": "oak",
        "object2": "elm",
        "comparison": text,
        "score": "0.0",
        "model": model,
        "scenario": scenario,
    }
    return cells | dict(zip(SMALL.keys, points, strict=True)) | changes


def read(folder, *rows, columns=COLUMNS):
    lines = ["\t".join(columns), *("\t".join(each[column] for column in columns) for each in rows)]
    path = folder / "human.tsv"
    path.write_text("\n".join(lines) + "\n", newline="")
    return list(read_human_scores(path, SMALL))


def test_rows_of_the_human_table(tmp_path):
    (found,) = read(tmp_path, row(aspect=" height "))
    assert found.points == {"C1": 1, "C2": 1.5, "C3": 0}
    assert (found.total, found.stated_score) == (2.5, 0.0)
    assert (found.system, found.scenario, found.aspect, found.row) == ("gpt4", 1, "height", 2)
    assert (found.text, found.swallowed, found.blanks) == ("Oak lasts.", 0, ())
    # Systems without scenarios repeat their name.
    found = read(tmp_path, row(model="cam", scenario="cam"), row(model="human", scenario=""))
    assert [(each.system, each.scenario) for each in found] == [("cam", 0), ("human", 0)]
    # A text ends at its first tab.
    swallowed = '"Oak lasts.\t\t0\n24\tash\tfir\t\tAsh.\t0\n25\tyew\tbox\t\tYew. ""Well""."'
    first, second = read(tmp_path, row(swallowed), row("Elm bends."))
    assert (first.text, first.swallowed, first.total) == ("Oak lasts.", 2, 2.5)
    assert (second.text, second.row) == ("Elm bends.", 5)
    # An empty cell is no zero.
    (found,) = read(tmp_path, row(points=("1", " ", "0.5")))
    assert found.points == {"C1": 1, "C3": 0.5}
    assert (found.total, found.blanks) == (None, ("C2",))
    # Points outside the scale are kept and named.
    (found,) = read(tmp_path, row(points=("1.5", "2.0", "-0.5")))
    assert found.off_scale == ("C1", "C3")
    assert (found.points["C1"], found.total) == (1.5, 3)
    (found,) = read(tmp_path, row(points=("0.25", "2.5", "0.5")))
    assert found.off_scale == ("C1", "C2")


BAD_CELLS = [
    (row(points=("1", "2", "nan")), "C3"),
    (row(points=("1", "2", "one")), "C3"),
    (row(points=("inf", "2", "1")), "C1"),
    (row(score="many"), "score"),
    (row(scenario="5"), "scenario"),
    (row(scenario="cam"), "scenario"),
    (row(model=""), "model"),
    (row(text="  "), "comparison"),
]


def test_bad_cells_are_named_and_a_table_without_a_criterion_is_refused(tmp_path):
    good, *problems = read(tmp_path, row(), *(bad for bad, _column in BAD_CELLS))
    assert isinstance(good, HumanScore)
    for at, (problem, (_bad, column)) in enumerate(zip(problems, BAD_CELLS, strict=True), start=3):
        assert isinstance(problem, Problem)
        assert (problem.file, problem.row, problem.column) == ("human.tsv", at, column)
    with pytest.raises(UnreadableFile, match="C2"):
        read(tmp_path, row(), columns=[each for each in COLUMNS if each != "C2"])


def score(text, object1="oak", scenario=1):
    about = {"row": 2, "system": "gpt4", "object1": object1, "object2": "elm", "aspect": None}
    scored = {"points": {}, "off_scale": (), "blanks": (), "stated_score": None}
    return HumanScore(scenario=scenario, text=text, swallowed=0, **about, **scored)


def answer(position, text, object1="oak"):
    return RawAnswer(position, object1, "elm", None, text, 1)


def linked(scores, *answers, scenario=1):
    found = link_by_letters(scores, {("gpt4", scenario): answers})
    return found, [each.answer.position for each in found.links]


def test_letters_and_digits_of_the_same_file_and_pair_are_compared():
    found, places = linked(
        [score("“Oak”  lasts\n3 years ..."), score("Oak lasts 4 years.")],
        answer(1, "Oak lasts 5 years."),
        answer(2, '"oak" lasts 3 years'),
        answer(3, "Oak lasts 4 years!"),
    )
    assert places == [2, 3]
    assert [each.how for each in found.links] == [LETTERS, LETTERS]
    assert found.unlinked == found.ambiguous == ()
    # Nor does a broken encoding.
    broken = score("It‚Äôs caf√© oak ‚Äì ours.")
    links, places = linked([broken], answer(1, "It’s café oak – ours."))
    assert (places, links.links[0].how) == ([1], LETTERS)
    # Only answers of the same file and pair are looked at.
    texts = [score("Oak."), score("Oak.", scenario=2), score("Oak.", object1="Oak")]
    found, places = linked(texts, answer(1, "Oak.", object1="Oak"), answer(2, "Oak."))
    assert places == [2, 1]
    assert found.unlinked == (texts[1],)


def test_a_lost_end_is_linked_by_the_opening():
    opening = "oak " * 100
    found, places = linked(
        [score(opening + "ends so"), score("oak " * 99 + "elm")],
        answer(1, opening + "ends otherwise"),
        answer(2, "ash " + opening),
    )
    assert places == [1]
    assert found.made_by(OPENING) == 1
    # The same 297 letters are not enough.
    assert [each.text[-3:] for each in found.unlinked] == ["elm"]
    # A short text is no opening, and one without letters links to nothing.
    for text, other in (("Oak lasts", "Oak lasts long."), ("…", "???")):
        assert linked([score(text)], answer(1, other))[1] == []


def test_an_answer_may_be_scored_twice_and_equal_ones_are_taken_in_turn():
    opening = "oak " * 100
    found, places = linked(
        [score("Elm."), score(opening + "one"), score("Elm!"), score(opening + "two")],
        answer(1, "Elm."),
        answer(2, opening + "two"),
    )
    assert places == [1, 2, 1, 2]
    assert [each.how for each in found.links] == [LETTERS, OPENING, LETTERS, LETTERS]
    assert [each.is_repeat for each in found.links] == [False, False, True, True]
    assert [each.score.text for each in found.repeats] == ["Elm!", opening + "two"]
    found, places = linked(
        [score("Oak."), score("Oak!"), score("Oak?")], answer(1, "Oak."), answer(2, "oak")
    )
    assert places == [1, 2, 1]
    assert [each.rivals for each in found.ambiguous] == [(2,), (1,), (2,)]
    assert [each.is_repeat for each in found.links] == [False, False, True]
    assert found.unlinked == ()

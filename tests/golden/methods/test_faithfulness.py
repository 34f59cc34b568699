"""Faithfulness of the released machine answers, straight from the files.

tests/golden/test_relevance_import.py computes them once more through importer and database, and
the similarities with them.
"""

import json

import pytest

from annotation.faithfulness.methods.faithfulness import cited_in_paper_segments, measure, pool
from annotation.imports.methods.releases import read_final_labels, read_silver
from tests.annotation.released import FINAL, FOLDER, SILVER_50, SILVER_112
from tests.golden.places import needs, reads

FILES = {"silver_112x3": SILVER_112, "silver_50x3": SILVER_50}
HUMAN = FOLDER.parent / "compqa" / "raw_summaries" / "human.json"
pytestmark = needs(FINAL, *FILES.values())


@pytest.fixture(scope="module")
def released() -> dict[str, list]:
    """File → (text, arguments, labels) of every answer; the first copy of a unit is its label."""
    known: dict = {}
    for each in read_final_labels(FINAL):
        if each.unit is not None:
            known.setdefault(each.unit, each.label)
    found: dict[str, list] = {name: [] for name in FILES}
    for name, path in FILES.items():
        for each in read_silver(path):
            arguments = {argument.number: argument.text for argument in each.arguments}
            labels = {
                number: known.get((each.object1, each.object2, text))
                for number, text in arguments.items()
            }
            found[name] += [(text, arguments, labels) for text in each.texts]
    return found


def means(answers, mode="paper"):
    return pool(measure(*answer, mode=mode) for answer in answers)


def test_what_the_paper_figures_are_means_of(released):
    # 21 of the 112 comparisons have no arguments.
    for name, counts, skipped in (
        ("silver_112x3", (336, 2505, 258), {"no_arguments": 63, "no_citations": 15}),
        ("silver_50x3", (150, 1497, 143), {"no_citations": 7}),
    ):
        found = means(released[name])
        assert (found.n_answers, found.n_segments, found.n_scored) == counts
        assert found.skipped == skipped
    # The sound mode misses no citation: ten answers cite more than the paper's segments end
    # with, five less without their lists.
    found, more, fewer = means(released["silver_50x3"], "sound"), 0, 0
    assert (found.n_scored, found.skipped["no_citations"]) == (141, 9)
    for text, arguments, labels in released["silver_50x3"]:
        cited = set(measure(text, arguments, labels, mode="sound").cited)
        narrow = cited_in_paper_segments(text)
        more += bool(cited - narrow)
        fewer += bool(narrow - cited)
    assert (more, fewer) == (10, 5)


@reads(HUMAN)
def test_the_edited_answers_have_the_figures_of_the_papers_table():
    """Released with the second paper; their arguments are those of the machine answers."""
    arguments = {(each.object1, each.object2): each for each in read_silver(SILVER_50)}
    edited = []
    for each in json.loads(HUMAN.read_text(encoding="utf-8")):
        listed = arguments[each["object1"], each["object2"]].arguments
        edited.append((each["comparison"], {one.number: one.text for one in listed}, {}))
    found = means(edited)
    assert found.n_answers == 80
    assert (round(found.jaccard_text, 2), round(found.jaccard_sentence, 2)) == (0.14, 0.18)
    assert found.levenshtein == pytest.approx(20.54, abs=0.01)

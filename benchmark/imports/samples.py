"""Small invented files of score sheets, and how each format is recognised."""

from django.utils.translation import gettext as _

from annotation.imports.samples import ANSWER_FILE, ANSWERS, PAIR
from benchmark.imports.methods.columns import guess_columns
from benchmark.rubrics.methods.compqa_rubric import COMPQA
from cqa_site.files.looking import Look, Sample, csv_of, json_of

JUDGE = "sample judge"
SYSTEM, SCENARIO = "sample_model", 4
# Two things, why the first one is better, and where the other one is.
QUESTIONS = (
    ("tea", "coffee", "it calms and costs little", "on a long night of work"),
    ("train", "plane", "it starts in the middle of the town", "over an ocean"),
    ("pencil", "pen", "what it wrote can be rubbed out", "under a contract"),
    ("bicycle", "car", "it keeps one fit and needs no fuel", "with four people and their luggage"),
    ("library", "bookshop", "nothing has to be paid", "where a book should stay"),
    ("lake", "sea", "its water is warm and still", "for those who want waves"),
    ("radio", "television", "hands and eyes stay free", "when something has to be seen"),
    ("wood", "steel", "it grows again and is easy to work", "where much weight rests"),
    ("cat", "dog", "it needs no walks", "as a guard of the house"),
    ("rice", "potatoes", "it keeps for years", "in a cold garden"),
)


def _points(turn: int) -> dict[str, int]:
    """Points on the scale that differ from answer to answer."""
    return {
        each.key: (turn + place) % (each.maximum + 1) for place, each in enumerate(COMPQA.criteria)
    }


def _high(turn: int) -> dict[str, int]:
    """Points near the top of the scale."""
    return {
        each.key: each.maximum - (turn + place) % 2 for place, each in enumerate(COMPQA.criteria)
    }


def _judged() -> bytes:
    records = []
    for turn, text in enumerate(ANSWERS):
        points = {key[1:]: value for key, value in _points(turn).items()}
        about = {"object1": PAIR[0], "object2": PAIR[1], "aspect": "", "comparison": text}
        records.append(about | {"score_dict": points, "score": sum(points.values())})
    return json_of(records)


def _human() -> bytes:
    columns = ("object1", "object2", "aspect", "comparison", "score", *COMPQA.keys)
    rows = [
        (*PAIR, "", text, sum(_points(turn).values()), *_points(turn).values(), SYSTEM, SCENARIO)
        for turn, text in enumerate(ANSWERS)
    ]
    return csv_of((*columns, "model", "scenario"), rows, delimiter="\t")


def _sheets() -> bytes:
    """Two systems under as many questions as a ranking needs, read by two people."""
    columns = ("object1", "object2", "system", "scenario", "text", "rater", *COMPQA.keys)
    rows = [
        (one, other, system, SCENARIO, text, rater, *points.values())
        for reader, rater in enumerate(("reader 1", "reader 2"))
        for turn, (one, other, why, where) in enumerate(QUESTIONS)
        for system, text, points in (
            (
                "thorough_model",
                f"For most people {one} is better: {why}. {other.capitalize()} wins {where}.",
                _high(turn + reader),
            ),
            ("brief_model", f"Take {one}: {why}.", _points(turn + reader)),
        )
    ]
    return csv_of(columns, rows)


SAMPLES = {
    "judged": Sample(f"judged_{ANSWER_FILE}", _judged, {"rater": JUDGE}, goals=("answers",)),
    "human_scores": Sample("sample-people.tsv", _human, after="answers", goals=("answers",)),
    "score_sheets": Sample("sample-score-sheets.csv", _sheets, goals=("answers",)),
}


def fits_judged(look: Look) -> str:
    """Answers with the points of a judge."""
    if not look.has("object1", "object2", "comparison", "score_dict"):
        return ""
    return _("each record has an answer under comparison and the points of a judge in score_dict")


def fits_human(look: Look) -> str:
    """The consolidated table."""
    if not look.has("object1", "object2", "comparison", "model", "scenario"):
        return ""
    if not look.has_points or "rater" in guess_columns(look.columns, COMPQA):
        return ""
    return _("each row has an answer, its model and scenario, and points C1, C2, … but no rater")


def fits_sheets(look: Look) -> str:
    """Points of named raters."""
    if not look.has_points or "rater" not in guess_columns(look.columns, COMPQA):
        return ""
    return _("each row has points C1, C2, … and a rater")

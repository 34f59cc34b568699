"""Formats of score sheets, with rules for recognizing them and sample files."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext_lazy

from annotation.imports.formats import AnswersFormat
from annotation.imports.samples import ANSWER_FILE, ANSWERS, PAIR
from benchmark.rubrics.methods.rubric import COMPQA
from cqa_site.files.actions.imports import Reconciliation
from cqa_site.files.format_parts import (
    Look,
    ObjectCount,
    Option,
    Sample,
    csv_of,
    json_of,
    register_counted,
    register_options,
)
from cqa_site.files.formats import JUDGED, Format, Text, register_format
from cqa_site.files.models import ImportFile
from cqa_site.people.models import Study
from cqa_site.tabular import FilePreview
from .actions.entries import (
    SCORE_SHEETS,
    UNSCORED_SHEETS,
    chosen_rubric,
    read_human_table,
    read_judged_answers,
)
from .actions.reconciliation import SheetReconciliation
from .actions.tables import read_score_sheets
from .forms import JudgeQuestions, RubricQuestions, SheetQuestions
from .methods.columns import guess_columns
from .methods.score_files import judge_of

JUDGE = "sample judge"
SYSTEM, SCENARIO = "sample_model", 4
# Two objects, the advantage of the first, and the situation in which the second wins.
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
    """Return points on the scale that vary from answer to answer."""
    return {
        criterion.key: (turn + place) % (criterion.maximum + 1)
        for place, criterion in enumerate(COMPQA.criteria)
    }


def _high(turn: int) -> dict[str, int]:
    """Return points near the top of the scale."""
    return {
        criterion.key: criterion.maximum - (turn + place) % 2
        for place, criterion in enumerate(COMPQA.criteria)
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
    """Return a sample: two systems, scored by two people on enough questions for a ranking."""
    columns = ("object1", "object2", "system", "scenario", "text", "rater", *COMPQA.keys)
    rows = [
        (winner, other, system, SCENARIO, text, rater, *points.values())
        for reader, rater in enumerate(("reader 1", "reader 2"))
        for turn, (winner, other, why, where) in enumerate(QUESTIONS)
        for system, text, points in (
            (
                "thorough_model",
                f"For most people {winner} is better: {why}. {other.capitalize()} wins {where}.",
                _high(turn + reader),
            ),
            ("brief_model", f"Take {winner}: {why}.", _points(turn + reader)),
        )
    ]
    return csv_of(columns, rows)


SAMPLES = {
    "judged": Sample(f"judged_{ANSWER_FILE}", _judged, {"rater": JUDGE}, goals=("answers",)),
    "human_scores": Sample("sample-people.tsv", _human, after="answers", goals=("answers",)),
    "score_sheets": Sample("sample-score-sheets.csv", _sheets, goals=("answers",)),
}


def fits_judged(look: Look) -> str:
    """Recognize answers with points given by a judge."""
    if not look.has("object1", "object2", "comparison", "score_dict"):
        return ""
    return _("each record has an answer under “comparison” and a judge's points in “score_dict”")


def fits_human(look: Look) -> str:
    """Recognize the table of consolidated scores."""
    if not look.has("object1", "object2", "comparison", "model", "scenario"):
        return ""
    if not look.has_points or "rater" in guess_columns(look.columns, COMPQA):
        return ""
    return _("each row has an answer, its model and scenario, and points C1, C2, … but no rater")


def fits_sheets(look: Look) -> str:
    """Recognize tables with points given by named raters."""
    if not look.has_points or "rater" not in guess_columns(look.columns, COMPQA):
        return ""
    return _("each row has points C1, C2, … and a rater")


# Formats of score sheets: released judgements, people's consolidated scores, other tables.

NEW_SHEETS = ngettext_lazy("%(shown)s new score sheet", "%(shown)s new score sheets", "number")
NEW_UNSCORED = ngettext_lazy(
    "%(shown)s new unscored sheet", "%(shown)s new unscored sheets", "number"
)
NEXT_STEP = lazy(
    "Its score sheets count together with those made here with the same rubric version."
)
NONE_USABLE = lazy(
    "None of its score sheets are usable. They are stored as unscored, each with its reason, and "
    "are left out of all figures."
)
SCORES_PAGE = ("scores", lazy("Score leaderboard"))


def has_no_usable_sheet(file: ImportFile) -> bool:
    """Return whether all sheets in a file, imported or not, are unscored."""
    usable, unscored = (_stored(file, name) for name in (SCORE_SHEETS, UNSCORED_SHEETS))
    return unscored > 0 and not usable


def _stored(file: ImportFile, object_name: str) -> int:
    counts = file.counts.get(object_name, {})
    return sum(number for result, number in counts.items() if result != "rejected")


class WithSheets(Format):
    """Format whose messages depend on the number of usable sheets."""

    def caution(self, file: ImportFile) -> Text:
        """Return a warning if no sheet in the file counts."""
        return NONE_USABLE if has_no_usable_sheet(file) else super().caution(file)

    def follow(self, file: ImportFile) -> Text:
        """Return the next step, or a warning if no sheet is usable."""
        return NONE_USABLE if has_no_usable_sheet(file) else self.next_step


@dataclass(frozen=True)
class SheetsFormat(WithSheets):
    """A table of score sheets."""

    reconciliation: type[Reconciliation] = SheetReconciliation
    asks: str = "scores"
    is_many: bool = True
    next_step: Text = NEXT_STEP
    home: tuple[str, Text] | None = SCORES_PAGE
    near_page: str = "answer"

    def guess_columns(
        self, study: Study, preview: FilePreview, options: Mapping[str, Any]
    ) -> Mapping[str, str]:
        """Guess the columns for the chosen rubric; raise ImportRefused if it is unknown."""
        return guess_columns(preview.columns, chosen_rubric(study, options).rubric)

    def is_own(self, preview: FilePreview) -> bool:
        """Return whether the columns are those of a score sheet export."""
        return "rubric_sha256" in preview.columns


class JudgedFormat(WithSheets, AnswersFormat):
    """Answers scored by a judge, in a folder named after the judge."""

    def of_folder(self, folder: str) -> Mapping[str, Any]:
        """Return the name of the judge from a folder name ``judged_NAME``."""
        name = folder.rpartition("/")[2]
        judge = judge_of(name)
        return {} if judge == name else {"rater": judge}


def register_score_imports() -> None:
    """Register the formats of score sheets with the platform."""
    register_counted(
        ObjectCount(SCORE_SHEETS, lazy("Score sheets"), NEW_SHEETS, lazy("New sheets")),
        ObjectCount(
            UNSCORED_SHEETS,
            lazy("Unscored sheets, stored but left out of all figures"),
            NEW_UNSCORED,
        ),
    )
    register_options(Option("rubric", longest=36, hint="Id of a version.", is_shared=True))
    register_format(
        JudgedFormat(
            "judged",
            lazy("Judged answers of one system (JSON)"),
            read_judged_answers,
            SheetReconciliation,
            heading=JUDGED,
            asks="scores",
            asking=JudgeQuestions,
            holds=lazy(
                "Each record becomes an answer, unless it already exists, and one sheet by the "
                "judge. An unusable judgement is stored as unscored, with the reason; it does "
                "not count as 0."
            ),
            next_step=NEXT_STEP,
            home=SCORES_PAGE,
            fits=fits_judged,
            sample=SAMPLES["judged"],
        ),
        SheetsFormat(
            "human_scores",
            lazy("Consolidated scores by people (TSV)"),
            read_human_table,
            heading=JUDGED,
            asking=RubricQuestions,
            holds=lazy(
                "Each row is linked to the answer in the study with the same letters and digits. "
                "Half points are kept, and the total is the sum of the criteria."
            ),
            fits=fits_human,
            sample=SAMPLES["human_scores"],
        ),
        SheetsFormat(
            "score_sheets",
            lazy("Score sheets in any table, with columns you map"),
            read_score_sheets,
            heading=JUDGED,
            asking=SheetQuestions,
            holds=lazy(
                "Columns are preselected where the headers are clear. Every criterion needs a "
                "column, and each row must name the rater and the answer."
            ),
            is_mapped=True,
            fits=fits_sheets,
            sample=SAMPLES["score_sheets"],
        ),
    )

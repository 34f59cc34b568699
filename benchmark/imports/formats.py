"""The formats of score sheets: released judgements, people's consolidated scores, any table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from annotation.imports.formats import AnswersFormat
from benchmark.imports.methods.columns import guess_columns
from cqa_site.files.actions.guessing import guessed
from cqa_site.files.actions.reconcile import Reconciliation
from cqa_site.files.counted import Counted, register_counted
from cqa_site.files.formats import JUDGED, Format, Text, register_format
from cqa_site.files.models import ImportFile
from cqa_site.files.options import Option, register_options
from cqa_site.tabular import Preview

from . import samples
from .actions.book import SheetReconciliation
from .actions.entries import BOOK, UNSCORED_BOOK, chosen_rubric
from .actions.human import read_human_table
from .actions.judged import read_judged_answers
from .actions.tables import read_score_sheets
from .asking import AskingJudge, AskingRubric, AskingSheets
from .methods.judged_files import judge_of

NEW_SHEETS = ngettext_lazy("%(shown)s new score sheet", "%(shown)s new score sheets", "number")
NEW_UNSCORED = ngettext_lazy(
    "%(shown)s new unscored sheet", "%(shown)s new unscored sheets", "number"
)
NEXT_STEP = _("Its score sheets count beside those made here, by the same version of the rubric.")
NONE_USABLE = _(
    "None of its score sheets can be used: they are kept as unscored, each with its reason, and "
    "are in no figure."
)
SCORES_PAGE = ("scores", _("Leaderboard of scores"))


def has_no_usable_sheet(file: ImportFile) -> bool:
    """Whether all sheets that a file brings, or brought, are unscored."""
    usable, unscored = (_kept(file, book) for book in (BOOK, UNSCORED_BOOK))
    return unscored > 0 and not usable


def _kept(file: ImportFile, book: str) -> int:
    counts = file.counts.get(book, {})
    return sum(number for result, number in counts.items() if result != "rejected")


class WithSheets(Format):
    """What is said of sheets depends on how many of them can be used."""

    def caution(self, file: ImportFile) -> Text:
        """A file of which nothing counts."""
        return NONE_USABLE if has_no_usable_sheet(file) else super().caution(file)

    def follow(self, file: ImportFile) -> Text:
        """Where sheets that count stand."""
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

    def guess(
        self, file: ImportFile, shown: Preview, options: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Columns by the chosen rubric; raises ImportRefused for one that is not there."""
        mapping = guess_columns(shown.columns, chosen_rubric(file.study, options).rubric)
        return guessed(file, shown, mapping, is_own="rubric_sha256" in mapping)


class JudgedFormat(WithSheets, AnswersFormat):
    """Answers with the scores of a judge, after whom their folder is named."""

    def of_folder(self, folder: str) -> Mapping[str, Any]:
        """The judge, of ``judged_NAME``."""
        name = folder.rpartition("/")[2]
        judge = judge_of(name)
        return {} if judge == name else {"rater": judge}


def register_score_imports() -> None:
    """Make formats of score sheets known to the platform."""
    register_counted(
        Counted(BOOK, _("Score sheets"), NEW_SHEETS, _("New sheets")),
        Counted(UNSCORED_BOOK, _("Unscored sheets, kept but in no figure"), NEW_UNSCORED),
    )
    register_options(Option("rubric", longest=36, hint="A version by its id.", is_shared=True))
    register_format(
        JudgedFormat(
            "judged",
            _("Judged answers of one system (JSON)"),
            read_judged_answers,
            SheetReconciliation,
            heading=JUDGED,
            asks="scores",
            asking=AskingJudge,
            holds=_(
                "Each record becomes an answer, if it is not here yet, and one sheet of the "
                "judge. A judgement that cannot be used stays as unscored, with the reason; it "
                "is never 0."
            ),
            next_step=NEXT_STEP,
            home=SCORES_PAGE,
            fits=samples.fits_judged,
            sample=samples.SAMPLES["judged"],
        ),
        SheetsFormat(
            "human_scores",
            _("Consolidated scores by people (TSV)"),
            read_human_table,
            heading=JUDGED,
            asking=AskingRubric,
            holds=_(
                "Each row is linked to the answer of the study with the same letters and "
                "digits. Half points are kept, and the total is the sum of the criteria."
            ),
            fits=samples.fits_human,
            sample=samples.SAMPLES["human_scores"],
        ),
        SheetsFormat(
            "score_sheets",
            _("Score sheets in any table, columns mapped by you"),
            read_score_sheets,
            heading=JUDGED,
            asking=AskingSheets,
            holds=_(
                "Chosen from the headers where they are clear. Every criterion needs its "
                "column, and a row has to say whose sheet it is and for which answer."
            ),
            is_mapped=True,
            fits=samples.fits_sheets,
            sample=samples.SAMPLES["score_sheets"],
        ),
    )

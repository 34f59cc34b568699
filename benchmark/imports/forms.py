"""Forms for score imports: rubric, raters and columns, and the steps that show them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmark.imports.actions.entries import chosen_rubric
from benchmark.imports.methods.columns import (
    BY_DESCRIPTION,
    BY_ID,
    BY_PLACE,
    JUDGEMENT,
    RATER,
    RECORD,
    check_columns,
)
from benchmark.rubrics.methods.rubric import Rubric
from cqa_site.files.actions.imports import READING
from cqa_site.files.forms import ColumnsForm, ImportColumnsForm, ImportForm, SheetForm
from cqa_site.files.models import ImportFile
from cqa_site.people.models import Study
from cqa_site.web.pages import offer

LABELS = {
    "answer": _("Answer ID"),
    "source": _("File of the answer"),
    "position": _("Position in that file"),
    "choice": _("Choice"),
    "object1": _("Object 1"),
    "object2": _("Object 2"),
    "aspect": _("Aspect"),
    "system": _("System"),
    "scenario": _("Scenario"),
    "origin": _("File name with system and scenario"),
    "text": _("Text of the answer"),
    "rater": _("Rater"),
    "rater_kind": _("Kind of rater"),
    "rater_name": _("Display name of the rater"),
    "replicate": _("Replicate, from 0"),
    "total": _("Total, for checking"),
    "notes": _("Notes by criterion (JSON)"),
    "unable": _("Could not judge (JSON)"),
    "comment": _("Comment"),
    "submitted_at": _("Time"),
    "sheet": _("Sheet ID"),
    "rubric_sha256": _("Hash of the rubric"),
    "state": _("State of the sheet"),
    "reason": _("Reason for an unscored sheet"),
    "off_scale": _("Criteria outside the scale"),
    "given": _("Points outside the scale, as given"),
    "is_consolidated": _("Consolidated"),
    "is_counted": _("Counts"),
}


def rubric_choices(study: Study) -> list[tuple[str, Any]]:
    """Return all rubric versions of the study, with the newest CompQA version first."""
    versions = study.rubric_versions.order_by("name", "-number")
    return [
        ("", _("The newest version of CompQA")),
        *((str(version.public_id), str(version)) for version in versions),
    ]


class ScoredByForm(forms.Form):
    """Choice of the rubric version under which the points were given."""

    rubric = forms.ChoiceField(label=_("Rubric"), required=False)

    def __init__(self, *args, study: Study, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer(self, rubric=rubric_choices(study))


class JudgeForm(ScoredByForm):
    rater = forms.CharField(
        label=_("Judge"),
        max_length=120,
        help_text=_(
            "The model that gave the scores; in a release, the part of the folder's name after "
            "“judged_”."
        ),
    )


class RubricSheetForm(SheetForm, ScoredByForm):
    """Settings for reading a table, and the rubric under which its points were given."""

    field_order = ("sheet", "encoding", "header_row", "rubric")


class SheetColumnsForm(ColumnsForm):
    beside = ("rater", "rater_kind")
    rater = forms.CharField(
        label=_("Rater for all rows"),
        required=False,
        max_length=120,
        help_text=_("Only needed if no column names the raters."),
    )

    def __init__(self, *args: Any, rubric: Rubric, **kwargs: Any) -> None:
        self.rubric = rubric
        criteria: dict[str, Any] = {
            criterion.key: f"{criterion.key} · {criterion.name}" for criterion in rubric.criteria
        }
        super().__init__(*args, labels=LABELS | criteria, required=rubric.keys, **kwargs)
        self.fields["rater_kind"].help_text = _(
            "A model's rows without usable points are kept as unscored."
        )

    def grouped(self) -> Sequence[tuple[Any, Sequence[str]]]:
        """Return the fields in groups: answers, points, raters, and other values of a sheet."""
        return (
            (
                _("Answer: by its ID, by file and position, or by its content"),
                tuple(dict.fromkeys((*BY_ID, *BY_PLACE, *BY_DESCRIPTION))),
            ),
            (_("Points"), self.rubric.keys),
            (_("Rater"), RATER[:2]),
            (_("Other columns, as in our exports"), (*RATER[2:], *JUDGEMENT, *RECORD)),
        )

    def check(self, mapping: Mapping[str, str]) -> list[str]:
        """Return the errors in the mapping, as found by the reader that will use it."""
        has_rater = bool(self.cleaned_data.get("rater"))
        return check_columns(self.columns, mapping, self.rubric, has_rater=has_rater)


class RubricQuestions(ImportForm):
    """Settings step that asks for the rubric of people's points."""

    title = _("Score sheets")
    heading = _("Import settings")
    form_class: type[ScoredByForm] = ScoredByForm


class JudgeQuestions(RubricQuestions):
    """Settings step that asks for the rubric and the judge."""

    form_class = JudgeForm


class SheetQuestions(ImportColumnsForm):
    """Step that assigns columns; raises ImportRefused if the rubric is not in the study."""

    title = _("Score sheets")
    seen_names = (*READING, "rubric")

    def __init__(self, study: Study, file: ImportFile, seen: Mapping[str, str]) -> None:
        super().__init__(study, file, seen)
        self.rubric = chosen_rubric(study, seen).rubric
        self.sheet_form = RubricSheetForm(
            initial=seen,
            sheets=self.preview.sheets,
            header_row=self.preview.header_row,
            study=study,
        )

    def form(self, data: Any) -> SheetColumnsForm:
        """Return the form, with one column choice for each field and criterion."""
        return SheetColumnsForm(
            data, **self.about_columns, rubric=self.rubric, initial=self.initial()
        )

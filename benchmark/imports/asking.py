"""What a file with score sheets is asked about: rubric, judge, columns."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmark.imports.actions.entries import chosen_rubric
from benchmark.imports.forms import JudgeForm, RubricSheetForm, ScoredByForm, SheetColumnsForm
from cqa_site.files.asking import Asking, AskingColumns
from cqa_site.files.models import ImportFile
from cqa_site.people.models import Study


class AskingRubric(Asking):
    """By which rubric people's points were given."""

    title = _("Score sheets")
    heading = _("How to take these scores")
    form_class: type[ScoredByForm] = ScoredByForm

    def form(self, data: Any) -> forms.Form:
        """With what was said before."""
        return self.form_class(data, study=self.study, initial=self.file.options)


class AskingJudge(AskingRubric):
    """And whose judgements they are."""

    form_class = JudgeForm


class AskingSheets(AskingColumns):
    """Which column is what; raises ImportRefused for a rubric that the study has not."""

    title = _("Score sheets")
    seen_names = ("sheet", "encoding", "rubric")

    def __init__(self, study: Study, file: ImportFile, seen: Mapping[str, str]) -> None:
        super().__init__(study, file, seen)
        self.rubric = chosen_rubric(study, seen).rubric
        self.sheet_form = RubricSheetForm(initial=seen, sheets=self.preview.sheets, study=study)

    def form(self, data: Any) -> SheetColumnsForm:
        """One choice of column for each field and criterion."""
        return SheetColumnsForm(
            data, columns=self.preview.columns, rubric=self.rubric, initial=self.initial()
        )

"""Forms for datasets: the name on import, the steps of the recipe, and the filters of a cell."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from argsum.datasets.imports.argument_files import LONGEST_NAME
from argsum.datasets.methods.preprocessing import (
    DEV,
    HALF,
    LARGEST_SEED,
    ONE_KEY_POINT,
    ONE_ROW,
    ONE_SENTENCE,
    PUBLISHED_SENTENCE,
    SAYS_SOMETHING,
    TEST,
    Half,
)
from argsum.datasets.models import Cell, CellArgument
from argsum.datasets.reports.comments import SAYS_NOTHING
from argsum.datasets.reports.datasets import KEPT_ONLY, LEFT_OUT_ONLY
from cqa_site.people.models import Study
from cqa_site.web.pages import offer


class DatasetNameForm(forms.Form):
    dataset = forms.CharField(
        label=_("Dataset name"),
        max_length=LONGEST_NAME,
        required=False,
        help_text=_(
            "An existing dataset is extended; otherwise a new one is created. Default: "
            "the file name."
        ),
    )


NOTHING_SAID = _(
    "says something: at least two words, and not just “n/a”, “no comment” or “thanks”"
)

HALVES = [
    ("", _("All arguments")),
    (TEST, _("The test half of every key point’s arguments")),
    (DEV, _("The dev half: the arguments not in the test half")),
]


class HalfFields(forms.Form):
    """An optional half of the arguments and its random seed."""

    half = forms.ChoiceField(
        label=_("Half"),
        required=False,
        choices=HALVES,
        help_text=_("Drawn after the other steps, as in the paper for Debate."),
    )
    seed = forms.IntegerField(
        label=_("Seed for choosing the random half"),
        required=False,
        min_value=0,
        max_value=LARGEST_SEED,
        help_text=_("The same seed always draws the same half. Default: 1."),
    )


class DatasetForm(DatasetNameForm, HalfFields):
    """The dataset for a file of arguments, and the arguments to include."""

    field_order = ("dataset", "recipe", "half", "seed")
    recipe = forms.ChoiceField(
        label=_("Recipe"),
        required=False,
        choices=[
            ("", _("Default: unique, exactly one key point, one sentence")),
            ("published", _("As published: unique, match in one row of the file, one sentence")),
        ],
        help_text=_("For new datasets only. The dry run shows how much each step keeps."),
    )


class ExistingDatasetForm(forms.Form):
    """The existing dataset that the rows of a file refer to."""

    dataset: forms.ModelChoiceField = forms.ModelChoiceField(
        label=_("Dataset"), queryset=None, empty_label=None, to_field_name="name"
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, dataset=study.argument_datasets.all())

    def clean_dataset(self) -> str:
        """Return the dataset's name, which the import stores."""
        return self.cleaned_data["dataset"].name


class QualitiesForm(ExistingDatasetForm):
    quality = forms.CharField(
        label=_("Quality column"),
        required=False,
        max_length=80,
        help_text=_(
            "Only for files with several quality columns. Default: WA if the file has WA and "
            "MACE-P."
        ),
    )


class RecipeForm(HalfFields):
    """Preprocessing steps; duplicate arguments are always merged."""

    steps = forms.MultipleChoiceField(
        label=_("Keep an argument if it"),
        required=False,
        choices=[
            (ONE_KEY_POINT, _("matches exactly one reference key point")),
            (ONE_ROW, _("has a match in exactly one row of its file (as published)")),
            (ONE_SENTENCE, _("is exactly one sentence")),
            (PUBLISHED_SENTENCE, _("is one sentence by the published rules")),
            (SAYS_SOMETHING, NOTHING_SAID),
        ],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("The first two steps do not apply to cells without reference key points."),
    )
    field_order = ("steps", "half", "seed")

    def chosen(self) -> tuple[list[str], Half | None]:
        """Return the chosen steps, and the half if one is selected."""
        part, seed = self.cleaned_data["half"], self.cleaned_data["seed"]
        steps = self.cleaned_data["steps"]
        return (
            (steps, None)
            if not part
            else ([*steps, HALF], Half(part, 1 if seed is None else seed))
        )


class StatementRecipeForm(forms.Form):
    """Preprocessing steps for comments, which the import has already split into statements."""

    steps = forms.MultipleChoiceField(
        label=_("Keep a statement if it"),
        required=False,
        choices=[(SAYS_SOMETHING, NOTHING_SAID)],
        widget=forms.CheckboxSelectMultiple,
    )

    def chosen(self) -> tuple[list[str], None]:
        """Return the chosen steps without a half, which statements do not support."""
        return self.cleaned_data["steps"], None


class CommentFilterForm(forms.Form):
    show = forms.ChoiceField(
        label=_("Comments"),
        required=False,
        choices=[("", _("All")), (SAYS_NOTHING, _("Comments that say nothing"))],
    )
    q = forms.CharField(label=_("Text contains"), required=False, max_length=200)
    attribute = forms.ChoiceField(label=_("Column"), required=False)
    value = forms.CharField(label=_("equals"), required=False, max_length=200)

    def __init__(self, *args, attributes: list[str], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        if attributes:
            named = [(name, name) for name in attributes]
            offer(self, attribute=[("", _("Any")), *named])
        else:
            del self.fields["attribute"], self.fields["value"]


class CellFilterForm(forms.Form):
    show = forms.ChoiceField(
        label=_("Arguments"),
        required=False,
        choices=[
            ("", _("All")),
            (KEPT_ONLY, _("Kept")),
            (LEFT_OUT_ONLY, _("Left out")),
            *((key, name) for key, name in CellArgument.LeftOut.choices if key),
        ],
    )
    q = forms.CharField(label=_("Text contains"), required=False, max_length=200)
    key_point = forms.TypedChoiceField(
        label=_("Matches key point"), required=False, coerce=int, empty_value=None
    )

    def __init__(self, *args, cell: Cell, key_points: list, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        numbered = [
            (key_point.position, f"{key_point.position} · {key_point.text[:60]}")
            for key_point in key_points
        ]
        offer(self, key_point=[("", _("Any key point, or none")), *numbered])

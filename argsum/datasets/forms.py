"""Forms of datasets: the name at import, the steps of the recipe, and what of a cell to show."""

from django import forms
from django.utils.translation import gettext_lazy as _

from argsum.datasets.imports.entries import LONGEST_NAME
from argsum.datasets.methods.preprocessing import ONE_KEY_POINT, ONE_SENTENCE, SAYS_SOMETHING
from argsum.datasets.models import Cell, CellArgument
from argsum.datasets.reports.cells import KEPT_ONLY, LEFT_OUT_ONLY
from argsum.datasets.reports.comments import SAYS_NOTHING
from cqa_site.web.choices import offer


class DatasetNameForm(forms.Form):
    """Into which dataset a file goes."""

    dataset = forms.CharField(
        label=_("Name of the dataset"),
        max_length=LONGEST_NAME,
        required=False,
        help_text=_("Found by name and filled up, or made. Empty: the file's name."),
    )


NOTHING_SAID = _("says something: two words at least, and no “n/a”, “no comment” or “thanks”")


class RecipeForm(forms.Form):
    """Which steps of preprocessing apply; that arguments are unique always does."""

    steps = forms.MultipleChoiceField(
        label=_("An argument takes part if it"),
        required=False,
        choices=[
            (ONE_KEY_POINT, _("matches exactly one reference key point")),
            (ONE_SENTENCE, _("is exactly one sentence")),
            (SAYS_SOMETHING, NOTHING_SAID),
        ],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Cells without reference key points are not asked for the first."),
    )


class StatementRecipeForm(forms.Form):
    """The same of statements of comments, which the import has split already."""

    steps = forms.MultipleChoiceField(
        label=_("A statement takes part if it"),
        required=False,
        choices=[(SAYS_SOMETHING, NOTHING_SAID)],
        widget=forms.CheckboxSelectMultiple,
    )


class CommentFilterForm(forms.Form):
    """Which comments of a cell to show."""

    show = forms.ChoiceField(
        label=_("Comments"),
        required=False,
        choices=[("", _("All")), (SAYS_NOTHING, _("Those that say nothing"))],
    )
    q = forms.CharField(label=_("Text contains"), required=False, max_length=200)
    attribute = forms.ChoiceField(label=_("Column"), required=False)
    value = forms.CharField(label=_("is exactly"), required=False, max_length=200)

    def __init__(self, *args, attributes: list[str], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        if attributes:
            named = [(name, name) for name in attributes]
            offer(self, attribute=[("", _("Any")), *named])
        else:
            del self.fields["attribute"], self.fields["value"]


class CellFilterForm(forms.Form):
    """Which arguments of a cell to show."""

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
        numbered = [(each.position, f"{each.position} · {each.text[:60]}") for each in key_points]
        offer(self, key_point=[("", _("Any or none")), *numbered])

"""The form of a counting round."""

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from annotation.forms.editing import LARGEST
from argsum.actions.counting_guide import GUIDE
from argsum.actions.counting_rounds import ALL, MOST_SETS, ONE, Plan
from argsum.models import Cell, CountingRound, Dataset
from cqa_site.people.models import Study

LONGEST_INSTRUCTIONS = 20_000
PER_CELL = [
    (ONE, lazy("One of every system and cell, drawn among its settings")),
    (ALL, lazy("Every set that matches")),
]


class RoundForm(forms.Form):
    """Everything that a draft round decides."""

    name = forms.CharField(label=lazy("Name"), max_length=120)
    dataset = forms.ModelChoiceField(
        label=lazy("Dataset"),
        queryset=Dataset.objects.none(),
        to_field_name="public_id",
        required=False,
        empty_label=lazy("All datasets"),
    )
    split = forms.ChoiceField(
        label=lazy("Split"),
        choices=[("", lazy("Any split")), *Cell.Split.choices[1:]],
        required=False,
    )
    systems = forms.MultipleChoiceField(
        label=lazy("Only sets of"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy("None chosen means all systems."),
    )
    setting = forms.CharField(
        label=lazy("Only settings that contain"),
        max_length=200,
        required=False,
        help_text=lazy("For example “threshold=0.5”. Empty means any."),
    )
    per_cell = forms.ChoiceField(label=lazy("Which sets"), choices=PER_CELL, initial=ONE)
    size = forms.IntegerField(
        label=lazy("How many sets"),
        required=False,
        min_value=1,
        max_value=MOST_SETS,
        help_text=lazy("Empty takes all of these; a number draws so many of them at random."),
    )
    leave_out_used = forms.BooleanField(
        label=lazy("Leave out sets that another round holds"), required=False
    )
    raters = forms.IntegerField(
        label=lazy("People who judge each set"),
        min_value=1,
        max_value=20,
        initial=3,
        help_text=lazy("With one there is no agreement to look at."),
    )
    repeat_share = forms.FloatField(
        label=lazy("Share of own sets that come a second time"),
        min_value=0,
        max_value=0.5,
        initial=0,
        help_text=lazy(
            "Shows how far people agree with themselves. Nobody is told which sets these are."
        ),
    )
    lease_minutes = forms.IntegerField(
        label=lazy("Minutes a set stays reserved"),
        min_value=5,
        max_value=1440,
        initial=120,
        help_text=lazy("Counted from the last change. Drafts are kept in any case."),
    )
    seed = forms.IntegerField(
        label=lazy("Seed"),
        min_value=0,
        max_value=LARGEST,
        help_text=lazy("The same seed and the same sets give the same round again."),
    )
    instructions = forms.CharField(
        label=lazy("Instructions"),
        max_length=LONGEST_INSTRUCTIONS,
        required=False,
        initial=GUIDE,
        widget=forms.Textarea(attrs={"rows": 12}),
        help_text=lazy("Shown beside the form. Markdown."),
    )

    def __init__(
        self, *args, study: Study, counting_round: CountingRound | None = None, **kwargs
    ) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.counting_round = study, counting_round
        self.fields["dataset"].queryset = study.argument_datasets.all()
        names = study.summary_sets.order_by("system").values_list("system", flat=True).distinct()
        self.fields["systems"].choices = [(name, name) for name in names]

    def clean_name(self) -> str:
        """Keep names apart within the study."""
        name = self.cleaned_data["name"]
        others = self.study.counting_rounds.filter(name=name)
        if self.counting_round is not None:
            others = others.exclude(pk=self.counting_round.pk)
        if others.exists():
            raise ValidationError(_("Another round of this study has this name."))
        return name

    def plan(self) -> Plan:
        """The cleaned fields as the action takes them."""
        data = dict(self.cleaned_data)
        data["systems"] = tuple(data["systems"])
        return Plan(**data)

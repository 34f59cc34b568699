"""Form for the rules that select training pairs."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.forms import (
    ConditionsField,
    ScenariosField,
    SystemsField,
    condition_choices,
)
from annotation.editing.forms import LARGEST
from benchmark.distillation.methods import BOTH, JUDGES, PEOPLE, Rules
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models import ScoreSheet
from benchmark.scoring.reports.sheets import PEOPLE as PEOPLE_KINDS
from cqa_site.people.models import Rater, Study
from cqa_site.web.pages import offer

MOST_EACH = 20
# Minimum points, by the CompQA rubric, of the answers that the paper trained on.
LEAST_TOTAL = 18


class PairsForm(forms.Form):
    """Thresholds, filters and the split; sent by GET, so that the address contains the recipe."""

    advanced = ("each", "validation", "seed", "judges", "systems", "scenarios", "conditions")

    rubric = forms.ModelChoiceField(
        label=lazy("Rubric"),
        queryset=RubricVersion.objects.none(),
        to_field_name="public_id",
        empty_label=None,
    )
    basis = forms.ChoiceField(
        label=lazy("Source of points"),
        choices=[
            (BOTH, lazy("People and judges (lower mean)")),
            (PEOPLE, lazy("People")),
            (JUDGES, lazy("Judges")),
        ],
        initial=BOTH,
    )
    least_total = forms.FloatField(
        label=lazy("Minimum total"), min_value=0, max_value=80, initial=LEAST_TOTAL
    )
    widest_gap = forms.FloatField(
        label=lazy("Maximum difference between people and judges"),
        required=False,
        min_value=0,
        max_value=80,
        initial=2,
        help_text=lazy("In points. Leave empty for no limit."),
    )
    judges = forms.ModelMultipleChoiceField(
        label=lazy("Judges"),
        queryset=Rater.objects.none(),
        to_field_name="public_id",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy("Default: all. The means of several judges are averaged."),
    )
    each = forms.IntegerField(
        label=lazy("Maximum answers per question"),
        required=False,
        min_value=1,
        max_value=MOST_EACH,
        help_text=lazy(
            "Leave empty for all, as in the paper. A limit keeps the best; the number left out "
            "is shown below."
        ),
    )
    systems = SystemsField(label=lazy("Systems"), to_field_name="public_id", help_text="")
    scenarios = ScenariosField(label=lazy("Scenarios"), help_text="")
    conditions = ConditionsField()
    validation = forms.FloatField(
        label=lazy("Validation share"),
        min_value=0,
        max_value=0.9,
        initial=0.1,
        help_text=lazy("Share of the pairs of objects, so that no question is in both parts."),
    )
    seed = forms.IntegerField(label=lazy("Seed"), min_value=0, max_value=LARGEST, initial=1)

    def __init__(self, *args, study: Study, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer(self, rubric=study.rubric_versions.all(), systems=study.systems.all())
        offer(self, conditions=condition_choices(study))
        judged = ScoreSheet.objects.filter(study=study).order_by().values("rater")
        judges = study.raters.filter(pk__in=judged).exclude(kind__in=PEOPLE_KINDS)
        offer(self, judges=judges.order_by("name"))

    def rules(self) -> Rules:
        """Return the cleaned fields as `Rules`."""
        data: dict[str, Any] = dict(self.cleaned_data)
        data.pop("rubric")
        data["judges"] = tuple(sorted(str(judge.public_id) for judge in data["judges"]))
        data["systems"] = tuple(system.name for system in data["systems"])
        data["scenarios"] = tuple(data["scenarios"])
        data["conditions"] = tuple(sorted(data["conditions"]))
        return Rules(**data)

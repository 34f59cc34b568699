"""How a run that counts is asked for."""

from rest_framework import serializers

from annotation.faithfulness.api.inputs import MOST_SYSTEMS
from argsum.counting.actions.targets import CHOICES
from argsum.counting.forms.runs import CountingRunForm
from argsum.datasets.models import Cell
from cqa_site.people.models import Study, User
from cqa_site.runs.api.bodies import PlanInput
from cqa_site.runs.api.starts import Given, Start, as_typed, key_of
from cqa_site.runs.forms.plan import PlanForm


class CountingRunInput(PlanInput):
    """A judge that counts; the kind of the prompt says what. By default of all sets.

    Without ``replicates`` it replies ten times for each set, at temperature 1.
    """

    kind = serializers.ChoiceField(["counting"])
    choice = serializers.ChoiceField(CHOICES, required=False)
    dataset = serializers.UUIDField(required=False)
    split = serializers.ChoiceField(Cell.Split.choices[1:], allow_blank=True, required=False)
    systems = serializers.ListField(
        child=serializers.CharField(max_length=120), max_length=MOST_SYSTEMS, required=False
    )


def _counting(study: Study, actor: User, given: Given) -> PlanForm:
    if wanted := given.pop("dataset", None):
        given["dataset"] = key_of(study.argument_datasets, wanted)
    given = as_typed(CountingRunForm, study, given)
    return CountingRunForm(given, study=study, actor=actor)


COUNTING = Start(CountingRunInput, _counting)

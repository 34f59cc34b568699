"""How a run that counts is asked for."""

from rest_framework import serializers

from argsum.counting.forms.runs import CountingRunForm
from cqa_site.people.models import Study, User
from cqa_site.runs.api.bodies import PlanInput
from cqa_site.runs.api.starts import Given, Start, as_typed, key_of
from cqa_site.runs.forms.plan import PlanForm


class CountingRunInput(PlanInput):
    """A judge that counts; the kind of the prompt says what. By default of all sets.

    Without ``replicates`` it replies ten times for each set, at temperature 1.
    """

    form = CountingRunForm
    kind = serializers.ChoiceField(["counting"])


def _counting(study: Study, actor: User, given: Given) -> PlanForm:
    if wanted := given.pop("dataset", None):
        given["dataset"] = key_of(study.argument_datasets, wanted)
    given = as_typed(CountingRunForm, study, given)
    return CountingRunForm(given, study=study, actor=actor)


COUNTING = Start(CountingRunInput, _counting)

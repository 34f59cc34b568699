"""How a run that writes key points is asked for."""

from rest_framework import serializers

from argsum.keypoints.actions.system_runs import MOST_SETTINGS
from argsum.writing.actions.kind import writable
from argsum.writing.forms import MOST_KEY_POINTS, WritingForm
from cqa_site.people.models import Study, User
from cqa_site.runs.api.bodies import PlanInput
from cqa_site.runs.api.starts import Given, Start, as_typed
from cqa_site.runs.forms.plan import PlanForm


class WritingRunInput(PlanInput):
    """A language model that writes key points for a run of a system that waits for it.

    ``settings`` names those whose clusters are put into words; without it, all.
    """

    kind = serializers.ChoiceField(["writing"])
    system_run = serializers.UUIDField()
    settings = serializers.ListField(
        child=serializers.CharField(max_length=200), max_length=MOST_SETTINGS, required=False
    )
    fewest = serializers.IntegerField(
        min_value=1, max_value=MOST_KEY_POINTS, allow_null=True, required=False
    )
    most = serializers.IntegerField(
        min_value=1, max_value=MOST_KEY_POINTS, allow_null=True, required=False
    )
    words = serializers.IntegerField(min_value=3, max_value=60, required=False)
    most_arguments = serializers.IntegerField(min_value=3, max_value=10_000, required=False)


def _writing(study: Study, actor: User, given: Given) -> PlanForm:
    found = writable(study).filter(public_id=given.pop("system_run")).first()
    # The form refuses the key 0, which stands for a run that does not wait, or is not there.
    given["system_run"] = found.pk if found else 0
    typed = as_typed(WritingForm, study, given)
    return WritingForm(typed, study=study, actor=actor, system_run=found)


WRITING = Start(WritingRunInput, _writing)

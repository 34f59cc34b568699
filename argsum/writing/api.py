"""Writing runs in the REST API."""

from rest_framework import serializers

from argsum.keypoints.actions.system_runs import MOST_SETTINGS
from argsum.writing.actions.runs import writable
from argsum.writing.forms import WritingForm
from cqa_site.people.models import Study, User
from cqa_site.runs.api.bodies import Given, PlanInput, Start, as_typed
from cqa_site.runs.forms.plan import RunPlanForm


class WritingRunInput(PlanInput):
    """A language model that writes key points for a waiting system run.

    ``settings`` are the settings whose clusters need key points; by default, all.
    """

    form = WritingForm
    most_chosen = MOST_SETTINGS
    kind = serializers.ChoiceField(["writing"])
    system_run = serializers.UUIDField()


def _writing(study: Study, actor: User, body: Given) -> RunPlanForm:
    system_run = writable(study).filter(public_id=body.pop("system_run")).first()
    # The form rejects the key 0, which means that the run does not wait or does not exist.
    body["system_run"] = system_run.pk if system_run else 0
    typed = as_typed(WritingForm, study, body)
    return WritingForm(typed, study=study, actor=actor, system_run=system_run)


WRITING = Start(WritingRunInput, _writing)

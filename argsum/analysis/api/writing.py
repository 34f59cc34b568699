"""How a run that writes the key points of an analysis is asked for."""

from rest_framework import serializers

from argsum.analysis.forms import PointWritingForm
from argsum.analysis.models import Analysis
from cqa_site.people.models import Study, User
from cqa_site.runs.api.bodies import PlanInput
from cqa_site.runs.api.starts import Given, Start, as_typed, key_of
from cqa_site.runs.forms.plan import PlanForm


class PointWritingRunInput(PlanInput):
    """A language model that writes the key points of an analysis that is done.

    Key points that a person named stay. ``most_statements`` are the best of each that a request
    shows.
    """

    form = PointWritingForm
    kind = serializers.ChoiceField(["point_writing"])
    analysis = serializers.UUIDField()


def _writing(study: Study, actor: User, given: Given) -> PlanForm:
    done = study.analyses.filter(state=Analysis.State.DONE)
    given["analysis"] = key_of(done, given["analysis"])
    return PointWritingForm(as_typed(PointWritingForm, study, given), study=study, actor=actor)


POINT_WRITING = Start(PointWritingRunInput, _writing)

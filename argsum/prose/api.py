"""How a program has a language model summarize an analysis in prose."""

from rest_framework import serializers

from argsum.analysis.models import Analysis
from cqa_site.people.models import Study, User
from cqa_site.runs.api.bodies import Given, PlanInput, Start, as_typed, key_of
from cqa_site.runs.forms.plan import RunPlanForm

from .forms import ProseForm


class ProseRunInput(PlanInput):
    """A language model that summarizes an analysis that is done, one paragraph a theme.

    ``paragraphs``, ``sentences`` of each, ``words`` of a sentence and ``statements`` shown are the
    most allowed. The report of the analysis has what is printed of the summary.
    """

    form = ProseForm
    kind = serializers.ChoiceField(["analysis_prose"])
    analysis = serializers.UUIDField()


def _summarizing(study: Study, actor: User, data: Given) -> RunPlanForm:
    done = study.analyses.filter(state=Analysis.State.DONE)
    data["analysis"] = key_of(done, data["analysis"])
    return ProseForm(as_typed(ProseForm, study, data), study=study, actor=actor)


ANALYSIS_PROSE = Start(ProseRunInput, _summarizing)

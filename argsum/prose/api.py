"""Summaries in prose in the REST API."""

from rest_framework import serializers

from argsum.analysis.api.analyses import start_of
from cqa_site.runs.api.bodies import PlanInput
from .forms import ProseForm


class ProseRunInput(PlanInput):
    """A language model that summarizes a finished analysis, one paragraph per theme.

    ``paragraphs``, ``sentences`` per paragraph, ``words`` per sentence and ``statements`` shown
    are maximums. The report of the analysis contains the printed part of the summary.
    """

    form = ProseForm
    kind = serializers.ChoiceField(["analysis_prose"])
    analysis = serializers.UUIDField()


ANALYSIS_PROSE = start_of(ProseRunInput, ProseForm)

"""The summarization systems that can be run, with their parameters."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from argsum.keypoints.models import SystemRun
from argsum.systems.registry import faults, systems
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.web.rest.strict_filters import refuse_unknown


class ParameterSerializer(serializers.Serializer):
    """A parameter of a system; ``only`` names the variants for which it matters, empty for all."""

    name = serializers.CharField()
    title = serializers.CharField()
    kind = serializers.ChoiceField(["float", "int", "switch"])
    low = serializers.FloatField()
    high = serializers.FloatField()
    published = serializers.ListField(child=serializers.JSONField())
    usual = serializers.JSONField(allow_null=True)
    only = serializers.ListField(child=serializers.CharField())


class SummarizationSystemSerializer(serializers.Serializer):
    """A system; ``package`` names the installed package it comes from, empty for ours."""

    name = serializers.CharField()
    title = serializers.CharField()
    about = serializers.CharField()
    citation = serializers.CharField()
    package = serializers.CharField()
    needs = serializers.ListField(child=serializers.CharField())
    variants = serializers.ListField(child=serializers.CharField())
    parameters = ParameterSerializer(many=True)


class FaultSerializer(serializers.Serializer):
    """A system of another package that cannot be used, and why."""

    package = serializers.CharField()
    name = serializers.CharField()
    problem = serializers.CharField()


class SummarizationSystemsSerializer(serializers.Serializer):
    """What can be run, and what is installed and cannot."""

    systems = SummarizationSystemSerializer(many=True)
    faults = FaultSerializer(many=True)


class SummarizationSystemViews(StudyViews):
    """The systems of this server; every study has the same."""

    queryset = SystemRun.objects.none()
    serializer_class = SummarizationSystemsSerializer

    @extend_schema(responses=SummarizationSystemsSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """All of them, ours first."""
        refuse_unknown(request, set())
        shown = {"systems": systems(), "faults": faults()}
        return Response(SummarizationSystemsSerializer(shown).data)

"""Endpoints for surveys; their files are imported through ``imports``."""

import uuid
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.response import Response

from argsum.analysis.actions.analyses import AnalysisRefused
from argsum.analysis.api.analyses import StartedSerializer
from argsum.datasets.actions import DatasetInUse
from argsum.surveys.actions import analyse_survey, delete_survey
from argsum.surveys.models import Survey
from argsum.surveys.reports import question_rows, surveys_of
from cqa_site.api.base import NothingInput, ReadSerializer, Request, StudyViews, public_id
from cqa_site.web.rest.queries import conflict_on


class SurveyQuestionSerializer(serializers.Serializer):
    """An open question; ``dataset`` has its comments, ``analysis`` its key points."""

    text = serializers.CharField(source="question.text")
    column = serializers.CharField(source="question.column")
    dataset = public_id("question.dataset")
    replies = serializers.IntegerField()
    analysis = public_id("analysis", allow_null=True, default=None)


class SurveySerializer(ReadSerializer):
    """A survey; ``groups`` are the attributes by which its analyses can be compared."""

    groups = serializers.ListField(child=serializers.CharField())
    respondents = serializers.IntegerField(source="respondent_count")

    class Meta:
        model = Survey
        fields = ["id", "name", "tool", "groups", "respondents", "created_at"]


class SurveyDetailSerializer(SurveySerializer):
    """A survey with its questions."""

    questions = serializers.SerializerMethodField()

    class Meta(SurveySerializer.Meta):
        fields = [*SurveySerializer.Meta.fields, "questions"]

    @extend_schema_field(SurveyQuestionSerializer(many=True))
    def get_questions(self, survey: Survey) -> Any:
        """Return the questions in the order of the file."""
        return SurveyQuestionSerializer(question_rows(survey), many=True).data


class SurveyViews(StudyViews):
    """Surveys of the study."""

    serializer_class = SurveySerializer

    def rows(self) -> QuerySet[Survey]:
        """Return the surveys of the study, sorted by name."""
        return surveys_of(self.study)

    @extend_schema(responses=SurveyDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return one survey with its questions."""
        return Response(SurveyDetailSerializer(self.find_row(public_id)).data)

    @extend_schema(request=NothingInput, responses={201: StartedSerializer})
    def analyse(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Start an analysis of each question that has none; 409 if none can be started."""
        survey = self.find_row(public_id)
        self.read(NothingInput)
        with conflict_on(AnalysisRefused):
            analyses, _reasons = analyse_survey(survey=survey, actor=request.user)
        started = {"analyses": [analysis.public_id for analysis in analyses]}
        return Response(StartedSerializer(started).data, status=201)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Delete a survey with its datasets; 409 if a dataset is in use."""
        with conflict_on(DatasetInUse):
            delete_survey(survey=self.find_row(public_id), actor=request.user)
        return Response(status=204)

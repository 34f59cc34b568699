"""Questions, the systems that answer them, and their answers."""

import uuid
from typing import Any

from django.db.models import Count, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.answers.actions.learned import NotPairs, mark_learned
from annotation.answers.actions.questions import (
    AlreadyThere,
    add_missing_questions,
    add_question,
    change_system,
)
from annotation.answers.api.bodies import (
    AddedQuestionsSerializer,
    AnswerDetailSerializer,
    AnswerSerializer,
    ConditionSerializer,
    QuestionSerializer,
    SystemSerializer,
)
from annotation.answers.api.filters import (
    AnswerFilter,
    ConditionFilter,
    QuestionFilter,
    SystemFilter,
)
from annotation.answers.api.inputs import LearnedInput, QuestionInput, SystemInput
from annotation.answers.models.answers import Answer, System
from annotation.answers.models.conditions import Condition
from annotation.answers.reports.answers import numbered_arguments
from annotation.answers.reports.learned import count_learned_pairs
from annotation.corpus.models.questions import Question
from cqa_site.api.inputs import NothingInput
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.web.rest.problems import conflict_on

LINEAGE = "revision__sheet__answer"
EDITED = ("revision__public_id", f"{LINEAGE}__public_id", "revision__sheet__public_id")
ORIGIN = ("argument_list", "run", "call", "prompt")


class QuestionViews(StudyViews):
    """The comparative questions of a study."""

    queryset = Question.objects.none()
    serializer_class = QuestionSerializer
    filterset_class = QuestionFilter

    def rows(self) -> QuerySet:
        """In the order in which they were asked, each with its number of answers."""
        counted = self.study.questions.annotate(answer_count=Count("answers"))
        return counted.select_related("comparison").order_by("pk")

    @extend_schema(request=QuestionInput, responses={201: QuestionSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Ask a question; 409 if the study has it."""
        given = self.read(QuestionInput)
        comparison = self.study.comparisons.filter(public_id=given.pop("comparison")).first()
        if comparison is None:
            raise ValidationError({"comparison": ["No such comparison in this study."]})
        with conflict_on(AlreadyThere):
            made = add_question(comparison=comparison, actor=request.user, **given)
        return self.shown(self.get_queryset().get(pk=made.pk), 201)

    @extend_schema(request=NothingInput, responses=AddedQuestionsSerializer)
    def missing(self, request: Request, **kwargs: Any) -> Response:
        """Ask a plain question about every comparison that has none."""
        self.read(NothingInput)
        added = add_missing_questions(study=self.study, actor=request.user)
        return Response(AddedQuestionsSerializer({"added": added}).data)


class SystemViews(StudyViews):
    """What writes answers."""

    queryset = System.objects.none()
    serializer_class = SystemSerializer
    filterset_class = SystemFilter

    def rows(self) -> QuerySet:
        """By name, each with its number of answers."""
        return self.study.systems.annotate(
            answer_count=Count("answers"), learned_count=count_learned_pairs()
        ).order_by("name")

    @extend_schema(request=SystemInput, responses=SystemSerializer)
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change name or kind; 409 if another system has the name."""
        system = get_object_or_404(self.get_queryset(), public_id=public_id)
        given = {"name": system.name, "kind": system.kind}
        given |= self.read(SystemInput, partial=True)
        with conflict_on(AlreadyThere):
            change_system(system=system, actor=request.user, **given)
        return self.shown(system)

    @extend_schema(request=LearnedInput, responses=SystemSerializer)
    def learned(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Say what its model was trained on: that is no test of it any more, for good."""
        system = get_object_or_404(self.get_queryset(), public_id=public_id)
        given = self.read(LearnedInput)
        try:
            mark_learned(system=system, actor=request.user, **given)
        except NotPairs as reason:
            raise ValidationError({"questions": [str(reason)]}) from None
        return self.shown(get_object_or_404(self.get_queryset(), pk=system.pk))


class ConditionViews(StudyViews):
    """What answers were written under: scenario, prompt, filters, wording, decoding."""

    queryset = Condition.objects.none()
    serializer_class = ConditionSerializer
    filterset_class = ConditionFilter

    def rows(self) -> QuerySet:
        """By scenario, plain ones first, each with its number of answers."""
        counted = self.study.conditions.annotate(answer_count=Count("answers"))
        ordered = counted.order_by(*Condition._meta.ordering or ())
        return ordered.select_related("prompt").defer("prompt__system", "prompt__user")


class AnswerViews(StudyViews):
    """The answers, verbatim and with their origin."""

    queryset = Answer.objects.none()
    serializer_class = AnswerSerializer
    filterset_class = AnswerFilter

    def rows(self) -> QuerySet:
        """In the order in which they came."""
        named = [field.name for field in Answer._meta.concrete_fields]
        ids = [f"{name}__public_id" for name in (*ORIGIN, "question")]
        named += [f"condition__{field.name}" for field in Condition._meta.concrete_fields]
        beside = ("question", "system", "condition", LINEAGE, *ORIGIN)
        read = (*named, *ids, "system__public_id", "system__name", *EDITED)
        return self.study.answers.select_related(*beside).only(*read).order_by("pk")

    @extend_schema(responses=AnswerDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """One answer with the numbered arguments it may cite and their final labels."""
        answer = get_object_or_404(self.get_queryset(), public_id=public_id)
        question = Question.objects.select_related("comparison", "study").get(
            pk=answer.question_id
        )
        lists = numbered_arguments(question, [answer], with_labels=True)
        listed = lists.get(answer.argument_list_id)
        answer.arguments = listed.entries if listed else []
        return Response(AnswerDetailSerializer(answer).data)

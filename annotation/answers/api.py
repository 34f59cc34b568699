"""REST API for questions, systems, conditions and answers."""

import uuid
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.answers.actions import (
    AlreadyThere,
    NotPairs,
    add_missing_questions,
    add_question,
    change_system,
    mark_learned,
)
from annotation.answers.models import Answer, Condition, System, count_learned_pairs
from annotation.answers.reports import numbered_arguments
from annotation.corpus.models import Question
from cqa_site.api.base import Input, NothingInput, ReadSerializer, Request, StudyViews, public_id
from cqa_site.web.rest.queries import TrueFalseFilter, conflict_on


class QuestionSerializer(ReadSerializer):
    """A comparison with an optional aspect and wording; ``text`` is the full question."""

    comparison = public_id("comparison")
    object1 = serializers.CharField(source="comparison.object1")
    object2 = serializers.CharField(source="comparison.object2")
    text = serializers.CharField(source="__str__")
    answers = serializers.IntegerField(source="answer_count")

    class Meta:
        model = Question
        fields = [
            "id", "comparison", "object1", "object2", "aspect", "wording", "text", "answers",
            "created_at",
        ]  # fmt: skip


class AddedQuestionsSerializer(serializers.Serializer):
    """Number of questions added."""

    added = serializers.IntegerField()


class SystemSerializer(ReadSerializer):
    """A source of answers; ``model`` is the model name in requests if a model writes them."""

    answers = serializers.IntegerField(source="answer_count")
    learned = serializers.IntegerField(
        source="learned_count",
        help_text="Object pairs that its model was trained on. They are never used to test it.",
    )

    class Meta:
        model = System
        fields = ["id", "name", "kind", "model", "answers", "learned", "created_at"]


class ConditionSerializer(ReadSerializer):
    """How answers were written; ``is_plain`` is true if filters and wording have their defaults.

    An imported condition has only a scenario: filters, wording and decoding are empty.
    """

    prompt = public_id("prompt", allow_null=True, default=None)
    answers = serializers.IntegerField(source="answer_count")

    class Meta:
        model = Condition
        fields = [
            "id", "name", "scenario", "prompt", "filters", "wording", "decoding", "is_plain",
            "sha256", "answers", "created_at",
        ]  # fmt: skip


class AnswerSerializer(ReadSerializer):
    """One text, exactly as a system wrote it.

    An imported answer has ``source`` and ``position``; a generated answer has ``run``, ``call``
    and ``prompt``; an answer by the study's experts has ``revision`` and ``edited_from``, the
    answer that they edited. ``scenario`` is 0 if none of the four prompts was used.
    """

    question = public_id("question")
    system = public_id("system")
    system_name = serializers.CharField(source="system.name")
    condition = public_id("condition")
    condition_name = serializers.CharField(source="condition.name")
    revision = public_id("revision", allow_null=True, default=None)
    edited_from = serializers.UUIDField(
        source="revision.sheet.answer.public_id", allow_null=True, default=None
    )
    argument_list = public_id("argument_list", allow_null=True, default=None)
    run = public_id("run", allow_null=True, default=None)
    call = public_id("call", allow_null=True, default=None)
    prompt = public_id("prompt", allow_null=True, default=None)

    class Meta:
        model = Answer
        fields = [
            "id", "question", "system", "system_name", "scenario", "condition", "condition_name",
            "choice", "text", "text_sha256", "argument_list", "source", "position", "run", "call",
            "prompt", "revision", "edited_from", "model", "created_at",
        ]  # fmt: skip


class NumberedArgumentSerializer(serializers.Serializer):
    """An argument with the number that answers use to cite it; ``label`` is its final label."""

    number = serializers.IntegerField()
    argument = serializers.UUIDField(source="public_id")
    text = serializers.CharField()
    label = serializers.IntegerField(allow_null=True)  # type: ignore[assignment]  # a field of this name


class AnswerDetailSerializer(AnswerSerializer):
    """One answer with the arguments it may cite."""

    arguments = NumberedArgumentSerializer(many=True)

    class Meta:
        model = Answer
        fields = [*AnswerSerializer.Meta.fields, "arguments"]


MOST_QUESTIONS = 10_000


class QuestionInput(Input):
    """A comparison in the study, with an optional aspect and wording."""

    comparison = serializers.UUIDField()
    aspect = serializers.CharField(max_length=300, allow_blank=True, default="")
    wording = serializers.CharField(max_length=500, allow_blank=True, default="")


class SystemInput(Input):
    """Name and kind of a system; omitted fields stay unchanged."""

    name = serializers.CharField(max_length=120)
    kind = serializers.ChoiceField(System.Kind.choices)


class LearnedInput(Input):
    """Ids of questions that a system's model was trained on; ``source`` names their origin."""

    questions = serializers.ListField(child=serializers.UUIDField(), max_length=MOST_QUESTIONS)
    source = serializers.CharField(max_length=200, allow_blank=True, default="")


class QuestionFilter(filters.FilterSet):
    comparison = filters.UUIDFilter(field_name="comparison__public_id")
    aspect = filters.CharFilter(max_length=300)
    system = filters.UUIDFilter(method="answered_by")

    def answered_by(self, questions: QuerySet, name: str, system: UUID) -> QuerySet:
        """Filter by a subquery, because a join would multiply the counts of answers."""
        answers = Answer.objects.filter(system__public_id=system)
        return questions.filter(pk__in=answers.values("question"))


class ConditionFilter(filters.FilterSet):
    scenario = filters.ChoiceFilter(choices=Answer.Scenario.choices)
    is_plain = TrueFalseFilter()


class SystemFilter(filters.FilterSet):
    kind = filters.ChoiceFilter(choices=System.Kind.choices)


class AnswerFilter(filters.FilterSet):
    question = filters.UUIDFilter(field_name="question__public_id")
    system = filters.UUIDFilter(field_name="system__public_id")
    scenario = filters.ChoiceFilter(choices=Answer.Scenario.choices)
    condition = filters.UUIDFilter(field_name="condition__public_id")
    is_plain = TrueFalseFilter(field_name="condition__is_plain")
    choice = filters.NumberFilter(min_value=1, max_value=32_767, decimal_places=0)
    run = filters.UUIDFilter(field_name="run__public_id")
    source = filters.CharFilter(max_length=255)
    editing_round = filters.UUIDFilter(field_name="revision__sheet__round__public_id")
    edited_from = filters.UUIDFilter(field_name="revision__sheet__answer__public_id")


LINEAGE = "revision__sheet__answer"
EDITED = ("revision__public_id", f"{LINEAGE}__public_id", "revision__sheet__public_id")
ORIGIN = ("argument_list", "run", "call", "prompt")


class QuestionViews(StudyViews):
    """The comparative questions of a study."""

    serializer_class = QuestionSerializer
    filterset_class = QuestionFilter

    def rows(self) -> QuerySet:
        """List questions in the order they were added, each with its number of answers."""
        counted = self.study.questions.annotate(answer_count=Count("answers"))
        return counted.select_related("comparison").order_by("pk")

    @extend_schema(request=QuestionInput, responses={201: QuestionSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Add a question; 409 if the study already has it."""
        data = self.read(QuestionInput)
        comparison = self.study.comparisons.filter(public_id=data.pop("comparison")).first()
        if comparison is None:
            raise ValidationError({"comparison": ["This study has no such comparison."]})
        with conflict_on(AlreadyThere):
            question = add_question(comparison=comparison, actor=request.user, **data)
        return self.shown(self.get_queryset().get(pk=question.pk), 201)

    @extend_schema(request=NothingInput, responses=AddedQuestionsSerializer)
    def missing(self, request: Request, **kwargs: Any) -> Response:
        """Add a plain question for every comparison without a question."""
        self.read(NothingInput)
        added = add_missing_questions(study=self.study, actor=request.user)
        return Response(AddedQuestionsSerializer({"added": added}).data)


class SystemViews(StudyViews):
    """Systems that write answers."""

    serializer_class = SystemSerializer
    filterset_class = SystemFilter

    def rows(self) -> QuerySet:
        """List systems by name, each with its number of answers."""
        return self.study.systems.annotate(
            answer_count=Count("answers"), learned_count=count_learned_pairs()
        ).order_by("name")

    @extend_schema(request=SystemInput, responses=SystemSerializer)
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change the name or kind; 409 if another system has the name."""
        system = self.find_row(public_id)
        fields = {"name": system.name, "kind": system.kind}
        fields |= self.read(SystemInput, partial=True)
        with conflict_on(AlreadyThere):
            change_system(system=system, actor=request.user, **fields)
        return self.shown(system)

    @extend_schema(request=LearnedInput, responses=SystemSerializer)
    def learned(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Record the questions that the model was trained on; they are never used to test it."""
        system = self.find_row(public_id)
        data = self.read(LearnedInput)
        try:
            mark_learned(system=system, actor=request.user, **data)
        except NotPairs as reason:
            raise ValidationError({"questions": [str(reason)]}) from None
        return self.shown(get_object_or_404(self.get_queryset(), pk=system.pk))


class ConditionViews(StudyViews):
    """Conditions of answers: scenario, prompt, filters, wording, decoding."""

    serializer_class = ConditionSerializer
    filterset_class = ConditionFilter

    def rows(self) -> QuerySet:
        """List conditions by scenario, plain conditions first, each with its number of answers."""
        counted = self.study.conditions.annotate(answer_count=Count("answers"))
        ordered = counted.order_by(*Condition._meta.ordering or ())
        return ordered.select_related("prompt").defer("prompt__system", "prompt__user")


class AnswerViews(StudyViews):
    """Answers, verbatim and with their origin."""

    serializer_class = AnswerSerializer
    filterset_class = AnswerFilter

    def rows(self) -> QuerySet:
        """Return the rows in the order in which they were stored."""
        named = [field.name for field in Answer._meta.concrete_fields]
        ids = [f"{name}__public_id" for name in (*ORIGIN, "question")]
        named += [f"condition__{field.name}" for field in Condition._meta.concrete_fields]
        beside = ("question", "system", "condition", LINEAGE, *ORIGIN)
        read = (*named, *ids, "system__public_id", "system__name", *EDITED)
        return self.study.answers.select_related(*beside).only(*read).order_by("pk")

    @extend_schema(responses=AnswerDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return one answer with the numbered arguments it may cite and their final labels."""
        answer = self.find_row(public_id)
        question = Question.objects.select_related("comparison", "study").get(
            pk=answer.question_id
        )
        lists = numbered_arguments(question, [answer], with_labels=True)
        listed = lists.get(answer.argument_list_id)
        answer.arguments = listed.entries if listed else []
        return Response(AnswerDetailSerializer(answer).data)

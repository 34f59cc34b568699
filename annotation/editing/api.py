"""REST API for editing rounds, tasks, revisions and discussions."""

import uuid
from typing import Any

from django.db.models import BooleanField, Case, F, QuerySet, Value, When
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.editing.actions.rounds import NotDiscussed, add_comment, make_expert_answers
from annotation.editing.forms import LONGEST_COMMENT, EditingRoundForm
from annotation.editing.models import EditingRound, EditingSheet, Revision, RoundComment
from annotation.editing.reports import sheets_with_revisions
from cqa_site.api.base import FormInput, Input, NothingInput, ReadSerializer, Request, public_id
from cqa_site.rounds.api import RoundApi, RoundSerializer, round_views
from cqa_site.rounds.progress import TO_DO
from cqa_site.web.rest.queries import TrueFalseFilter, conflict_on


class EditingRoundSerializer(RoundSerializer):
    """The assignment and progress of a round; ``found`` is the number of matching answers."""

    form = EditingRoundForm
    found = serializers.IntegerField(source="recipe.found")
    other_conditions = serializers.IntegerField(source="recipe.other_conditions", default=0)

    class Meta:
        model = EditingRound
        fields = [*RoundSerializer.Meta.fields, "found", "other_conditions", "first_closed_at"]


class MadeAnswersSerializer(serializers.Serializer):
    """Number of new expert answers, and number of submitted texts."""

    added = serializers.IntegerField()
    submitted = serializers.IntegerField()


class EditingTaskSerializer(ReadSerializer):
    """One answer on one expert's desk."""

    editor = public_id("rater.user")
    answer = public_id("answer")
    position = serializers.IntegerField(source="place")
    state = serializers.ChoiceField(EditingSheet.Progress.choices, source="progress")
    draft_version = serializers.IntegerField(source="version")
    draft_saved_at = serializers.DateTimeField(source="saved_at", allow_null=True)
    revisions = serializers.IntegerField(source="revision_count")

    class Meta:
        model = EditingSheet
        fields = [
            "id", "editor", "answer", "is_calibration", "position", "state", "draft_version",
            "draft_saved_at", "revisions", "active_seconds", "submitted_at",
        ]  # fmt: skip


class EditingTaskDetailSerializer(EditingTaskSerializer):
    """A task with the current text on the desk, submitted or not."""

    text = serializers.CharField()

    class Meta:
        model = EditingSheet
        fields = [*EditingTaskSerializer.Meta.fields, "text"]


class RevisionSerializer(ReadSerializer):
    """A submitted version; ``checks`` lists the results of the checklist.

    A result is null if the check was not possible. ``active_seconds`` covers all work on the task
    up to this submission. ``is_after_closing`` marks versions submitted after the round was first
    closed, when experts could already see each other's versions.
    """

    task = public_id("sheet")
    editor = public_id("sheet.rater.user")
    answer = public_id("sheet.answer")
    is_calibration = serializers.BooleanField(source="sheet.is_calibration")
    text = serializers.CharField()
    comment = serializers.CharField()
    created_at = serializers.DateTimeField(source="at")
    reasons = serializers.ListField(child=serializers.ChoiceField(Revision.Reason.choices))
    checks = serializers.DictField(child=serializers.BooleanField(allow_null=True))
    is_after_closing = serializers.BooleanField()

    class Meta:
        model = Revision
        fields = [
            "id", "task", "editor", "answer", "is_calibration", "number", "text", "text_sha256",
            "reasons", "comment", "checks", "active_seconds", "is_after_closing", "created_at",
        ]  # fmt: skip


class RoundCommentSerializer(ReadSerializer):
    """A comment in the discussion of a calibration answer."""

    answer = public_id("answer")
    author = public_id("author")

    class Meta:
        model = RoundComment
        fields = ["id", "answer", "author", "text", "created_at"]


class EditingRoundInput(FormInput):
    """Settings of an editing round; omitted fields keep their defaults or current values."""

    form = EditingRoundForm
    most_chosen = 200


class RoundCommentInput(Input):
    """A comment in the discussion of one calibration answer in the round."""

    answer = serializers.UUIDField()
    text = serializers.CharField(max_length=LONGEST_COMMENT)


class EditingRoundFilter(filters.FilterSet):
    state = filters.ChoiceFilter(choices=EditingRound.State.choices)


class EditingTaskFilter(filters.FilterSet):
    editor = filters.UUIDFilter(field_name="rater__user__public_id")
    answer = filters.UUIDFilter(field_name="answer__public_id")
    state = filters.ChoiceFilter(choices=EditingSheet.Progress.choices, method="in_state")
    is_calibration = TrueFalseFilter()

    def in_state(self, sheets: QuerySet, name: str, value: str) -> QuerySet:
        """Filter by state; a change after submission reopens a task."""
        return sheets.filter(TO_DO if value == EditingSheet.Progress.OPEN else ~TO_DO)


class RevisionFilter(filters.FilterSet):
    task = filters.UUIDFilter(field_name="sheet__public_id")
    editor = filters.UUIDFilter(field_name="sheet__rater__user__public_id")
    answer = filters.UUIDFilter(field_name="sheet__answer__public_id")
    is_calibration = TrueFalseFilter(field_name="sheet__is_calibration")


class RoundCommentFilter(filters.FilterSet):
    answer = filters.UUIDFilter(field_name="answer__public_id")


COMMENT = RoundCommentSerializer

ROUNDS = round_views(
    RoundApi(
        plan=EditingRoundInput,
        shown=EditingRoundSerializer,
        related=("study",),
        filters=EditingRoundFilter,
    ),
    "round_id",
)


class EditingAnswersViews(ROUNDS.rounds):  # type: ignore[name-defined]
    """Texts submitted by a round's experts, as separate answers."""

    @extend_schema(request=NothingInput, responses=MadeAnswersSerializer)
    def make(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Add the newest submitted texts as answers; existing answers are not added again."""
        row = self.find_row(public_id)
        self.read(NothingInput)
        added = make_expert_answers(editing_round=row, actor=request.user)
        submitted = row.sheets.filter(submitted_at__isnull=False).count()
        counts = {"added": added, "submitted": submitted}
        return Response(MadeAnswersSerializer(counts).data)


class EditingTaskViews(ROUNDS.part):  # type: ignore[name-defined]
    """Editing tasks of a round, with their progress."""

    serializer_class = EditingTaskSerializer
    filterset_class = EditingTaskFilter

    def rows(self) -> QuerySet:
        """List tasks by expert, in desk order."""
        return sheets_with_revisions(self.round)

    @extend_schema(responses=EditingTaskDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return one task with its current text."""
        task = self.find_row(public_id)
        return Response(EditingTaskDetailSerializer(task).data)


class RevisionViews(ROUNDS.part):  # type: ignore[name-defined]
    """Submitted revisions of a round, with reasons and checks."""

    serializer_class = RevisionSerializer
    filterset_class = RevisionFilter

    def rows(self) -> QuerySet:
        """Return the rows in the order in which they were stored."""
        seen = When(at__gt=F("sheet__round__first_closed_at"), then=Value(value=True))
        revisions = Revision.objects.filter(sheet__round=self.round).annotate(
            is_after_closing=Case(seen, default=Value(value=False), output_field=BooleanField())
        )
        return (
            revisions.select_related("sheet__rater__user", "sheet__answer")
            .defer("sheet__draft", "sheet__submitted_text", "sheet__answer__text")
            .order_by("pk")
        )


class RoundCommentViews(ROUNDS.part):  # type: ignore[name-defined]
    """Discussions of a round's calibration answers."""

    serializer_class = COMMENT
    filterset_class = RoundCommentFilter

    def rows(self) -> QuerySet:
        """Return the rows, oldest first."""
        comments = self.round.comments.select_related("answer", "author")
        return comments.defer("answer__text").order_by("pk")

    @extend_schema(request=RoundCommentInput, responses={201: COMMENT})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Add a comment to a discussion; experts see it once the round is closed."""
        data = self.read(RoundCommentInput)
        answer = self.study.answers.filter(public_id=data["answer"]).first()
        if answer is None:
            raise ValidationError({"answer": ["This study has no such answer."]})
        with conflict_on(NotDiscussed):
            comment = add_comment(
                editing_round=self.round, answer=answer, author=request.user, text=data["text"]
            )
        return self.shown(comment, 201)

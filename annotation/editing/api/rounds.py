"""Editing rounds: draw, open, close; read tasks, revisions and discussions."""

import uuid
from typing import Any

from django.db.models import BooleanField, Case, F, QuerySet, Value, When
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.editing.actions.discussion import NotDiscussed, add_comment
from annotation.editing.actions.expert_answers import make_expert_answers
from annotation.editing.api.bodies import (
    EditingRoundSerializer,
    EditingTaskDetailSerializer,
    EditingTaskSerializer,
    MadeAnswersSerializer,
    RevisionSerializer,
    RoundCommentSerializer,
)
from annotation.editing.api.filters import (
    EditingRoundFilter,
    EditingTaskFilter,
    RevisionFilter,
    RoundCommentFilter,
)
from annotation.editing.api.inputs import EditingRoundInput, RoundCommentInput
from annotation.editing.models import EditingSheet, Revision, RoundComment
from annotation.editing.reports.editing import sheets_with_revisions
from cqa_site.api.inputs import NothingInput
from cqa_site.api.requests import Request
from cqa_site.rounds.api.rounds import RoundApi, round_views
from cqa_site.web.rest.problems import conflict_on

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
    """What a round's experts submitted, as answers of their own."""

    @extend_schema(request=NothingInput, responses=MadeAnswersSerializer)
    def make(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Make answers of the newest submitted texts; what is one already is not made again."""
        row = get_object_or_404(self.get_queryset(), public_id=public_id)
        self.read(NothingInput)
        added = make_expert_answers(editing_round=row, actor=request.user)
        submitted = row.sheets.filter(submitted_at__isnull=False).count()
        made = {"added": added, "submitted": submitted}
        return Response(MadeAnswersSerializer(made).data)


class EditingTaskViews(ROUNDS.part):  # type: ignore[name-defined]
    """Which answers are on whose desk, and how far each is."""

    queryset = EditingSheet.objects.none()
    serializer_class = EditingTaskSerializer
    filterset_class = EditingTaskFilter

    def rows(self) -> QuerySet:
        """By expert, in the order of the desk."""
        return sheets_with_revisions(self.round)

    @extend_schema(responses=EditingTaskDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """One task with its present text."""
        task = get_object_or_404(self.get_queryset(), public_id=public_id)
        return Response(EditingTaskDetailSerializer(task).data)


class RevisionViews(ROUNDS.part):  # type: ignore[name-defined]
    """What was submitted in a round, with reasons and checks."""

    queryset = Revision.objects.none()
    serializer_class = RevisionSerializer
    filterset_class = RevisionFilter

    def rows(self) -> QuerySet:
        """In the order in which they came."""
        seen = When(at__gt=F("sheet__round__first_closed_at"), then=Value(value=True))
        found = Revision.objects.filter(sheet__round=self.round).annotate(
            is_after_closing=Case(seen, default=Value(value=False), output_field=BooleanField())
        )
        return (
            found.select_related("sheet__rater__user", "sheet__answer")
            .defer("sheet__draft", "sheet__submitted_text", "sheet__answer__text")
            .order_by("pk")
        )


class RoundCommentViews(ROUNDS.part):  # type: ignore[name-defined]
    """The discussions of the calibration answers of a round."""

    queryset = RoundComment.objects.none()
    serializer_class = COMMENT
    filterset_class = RoundCommentFilter

    def rows(self) -> QuerySet:
        """Oldest first."""
        comments = self.round.comments.select_related("answer", "author")
        return comments.defer("answer__text").order_by("pk")

    @extend_schema(request=RoundCommentInput, responses={201: COMMENT})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Add a word to a discussion; experts see it once the round is closed."""
        given = self.read(RoundCommentInput)
        answer = self.study.answers.filter(public_id=given["answer"]).first()
        if answer is None:
            raise ValidationError({"answer": ["No such answer in this study."]})
        with conflict_on(NotDiscussed):
            comment = add_comment(
                editing_round=self.round,
                answer=answer,
                author=request.user,
                text=given["text"],
            )
        return self.shown(comment, 201)

"""Editing rounds: draw, open, close; read tasks, revisions and discussions."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db.models import BooleanField, Case, F, QuerySet, Value, When
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.actions.editing_discussion import NotDiscussed, add_comment
from annotation.actions.editing_rounds import plan_of, plan_round
from annotation.actions.expert_answers import make_expert_answers
from annotation.forms.editing import RoundForm
from annotation.models import EditingRound, EditingSheet, Revision, RoundComment
from annotation.reports.editing import sheets_with_revisions
from cqa_site.api.views import StudyViews
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.opening import close_round, delete_round, open_round, reopen_round
from cqa_site.web.problems import conflict_on

from . import filters, inputs, serializers

ROUND = serializers.EditingRoundSerializer
COMMENT = serializers.RoundCommentSerializer


class EditingRoundViews(StudyViews):
    """The editing rounds of a study."""

    queryset = EditingRound.objects.none()
    serializer_class = ROUND
    filterset_class = filters.EditingRoundFilter

    def rows(self) -> QuerySet:
        """Newest first."""
        return EditingRound.objects.filter(study=self.study).select_related("study")

    @extend_schema(request=inputs.EditingRoundInput, responses={201: ROUND})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Make a draft round and draw its split; 409 if too few answers match."""
        defaults = {
            name: field.initial for name, field in RoundForm.base_fields.items() if field.initial
        }
        given = self.read(inputs.EditingRoundInput)
        return self.shown(self._plan({"seed": 1} | defaults | given), 201)

    @extend_schema(request=inputs.EditingRoundInput, responses=ROUND)
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change a draft round; its split is drawn again."""
        draft = get_object_or_404(self.get_queryset(), public_id=public_id)
        given = self.read(inputs.EditingRoundInput, partial=True)
        present = plan_of(draft)
        present["experts"] = [user.public_id for user in present["experts"]]
        present["system"] = present["system"].public_id if present["system"] else None
        return self.shown(self._plan(present | given, draft))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Remove a draft; 409 for a round that was opened."""
        draft = get_object_or_404(self.get_queryset(), public_id=public_id)
        with conflict_on(RoundNotReady):
            delete_round(round_=draft, actor=request.user)
        return Response(status=204)

    def _plan(self, values: dict[str, Any], draft: EditingRound | None = None) -> EditingRound:
        """Let the page's form judge the values, so that both know the same rules."""
        values["experts"] = [str(each) for each in values["experts"]]
        form = RoundForm(values, study=self.study, round_=draft)
        inputs.require_valid(form)
        with conflict_on(RoundNotReady):
            return plan_round(
                study=self.study, plan=form.plan(), actor=self.request.user, round_=draft
            )


class EditingRoundMoveViews(EditingRoundViews):
    """Opening, closing and reopening."""

    action_of_move: Callable[..., None] = open_round

    @extend_schema(request=inputs.NothingInput, responses=ROUND)
    def move(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Move the round to its next state, or say why that is not possible."""
        row = get_object_or_404(self.get_queryset(), public_id=public_id)
        self.read(inputs.NothingInput)
        with conflict_on(RoundNotReady):
            type(self).action_of_move(round_=row, actor=request.user)
        row.refresh_from_db()
        return self.shown(row)


class EditingOpenViews(EditingRoundMoveViews):
    """Put the tasks on the experts' desks."""


class EditingCloseViews(EditingRoundMoveViews):
    """End the editing and show experts each other's calibration answers."""

    action_of_move = close_round


class EditingReopenViews(EditingRoundMoveViews):
    """Let experts go on."""

    action_of_move = reopen_round


class EditingAnswersViews(EditingRoundViews):
    """What a round's experts submitted, as answers of their own."""

    @extend_schema(request=inputs.NothingInput, responses=serializers.MadeAnswersSerializer)
    def make(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Make answers of the newest submitted texts; what is one already is not made again."""
        row = get_object_or_404(self.get_queryset(), public_id=public_id)
        self.read(inputs.NothingInput)
        added = make_expert_answers(editing_round=row, actor=request.user)
        submitted = row.sheets.filter(submitted_at__isnull=False).count()
        made = {"added": added, "submitted": submitted}
        return Response(serializers.MadeAnswersSerializer(made).data)


class RoundPartViews(StudyViews):
    """Addresses below ``editing-rounds/<round_id>/``."""

    editing_round: EditingRound

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Find the round inside the study."""
        super().initial(request, *args, **kwargs)
        self.editing_round = get_object_or_404(
            EditingRound, study=self.study, public_id=kwargs["round_id"]
        )


class EditingTaskViews(RoundPartViews):
    """Which answers are on whose desk, and how far each is."""

    queryset = EditingSheet.objects.none()
    serializer_class = serializers.EditingTaskSerializer
    filterset_class = filters.EditingTaskFilter

    def rows(self) -> QuerySet:
        """By expert, in the order of the desk."""
        return sheets_with_revisions(self.editing_round)

    @extend_schema(responses=serializers.EditingTaskDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """One task with its present text."""
        task = get_object_or_404(self.get_queryset(), public_id=public_id)
        return Response(serializers.EditingTaskDetailSerializer(task).data)


class RevisionViews(RoundPartViews):
    """What was submitted in a round, with reasons and checks."""

    queryset = Revision.objects.none()
    serializer_class = serializers.RevisionSerializer
    filterset_class = filters.RevisionFilter

    def rows(self) -> QuerySet:
        """In the order in which they came."""
        seen = When(at__gt=F("sheet__round__first_closed_at"), then=Value(value=True))
        found = Revision.objects.filter(sheet__round=self.editing_round).annotate(
            is_after_closing=Case(seen, default=Value(value=False), output_field=BooleanField())
        )
        return (
            found.select_related("sheet__rater__user", "sheet__answer")
            .defer("sheet__draft", "sheet__submitted_text", "sheet__answer__text")
            .order_by("pk")
        )


class RoundCommentViews(RoundPartViews):
    """The discussions of the calibration answers of a round."""

    queryset = RoundComment.objects.none()
    serializer_class = COMMENT
    filterset_class = filters.RoundCommentFilter

    def rows(self) -> QuerySet:
        """Oldest first."""
        comments = self.editing_round.comments.select_related("answer", "author")
        return comments.defer("answer__text").order_by("pk")

    @extend_schema(request=inputs.RoundCommentInput, responses={201: COMMENT})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Add a word to a discussion; experts see it once the round is closed."""
        given = self.read(inputs.RoundCommentInput)
        answer = self.study.answers.filter(public_id=given["answer"]).first()
        if answer is None:
            raise ValidationError({"answer": ["No such answer in this study."]})
        with conflict_on(NotDiscussed):
            comment = add_comment(
                editing_round=self.editing_round,
                answer=answer,
                author=request.user,
                text=given["text"],
            )
        return self.shown(comment, 201)

"""Scoring rounds: draw, set examples, open, close; who has done what in them."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import StudyViews
from annotation.api.inputs.base import NothingInput, require_valid
from benchmark.actions import scoring_rounds as actions
from benchmark.actions.rubrics import default_rubric
from benchmark.actions.scoring_sheets import decide_rater
from benchmark.forms.scoring import RoundForm
from benchmark.methods.rubric import RubricError
from benchmark.models import Qualification, ScoringItem, ScoringRound
from benchmark.reports.scoring_rounds import items_of, progress_of, rounds_with_counts
from cqa_site.web.problems import conflict_on

from . import round_bodies as bodies

ROUND = bodies.ScoringRoundSerializer


class ScoringRoundViews(StudyViews):
    """The scoring rounds of a study."""

    queryset = ScoringRound.objects.none()
    serializer_class = ROUND

    def rows(self) -> QuerySet:
        """Newest first."""
        return rounds_with_counts(self.study)

    @extend_schema(request=bodies.ScoringRoundInput, responses={201: ROUND})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Make a draft round and draw its answers; 409 if none matches."""
        fields = RoundForm.base_fields.items()
        defaults = {name: field.initial for name, field in fields if field.initial is not None}
        defaults["rubric"] = default_rubric(self.study).public_id
        given = self.read(bodies.ScoringRoundInput)
        return self.shown(self._plan({"seed": 1} | defaults | given), 201)

    @extend_schema(request=bodies.ScoringRoundInput, responses=ROUND)
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change a draft round; its answers are drawn again, its examples stay."""
        draft = get_object_or_404(self.get_queryset(), public_id=public_id)
        given = self.read(bodies.ScoringRoundInput, partial=True)
        present = actions.plan_of(draft)
        present["rubric"] = draft.rubric.public_id
        present["systems"] = [each.public_id for each in present["systems"]]
        return self.shown(self._plan(present | given, draft))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Remove a draft; 409 for a round that was opened."""
        draft = get_object_or_404(self.get_queryset(), public_id=public_id)
        with conflict_on(actions.RoundNotReady):
            actions.delete_round(scoring_round=draft, actor=request.user)
        return Response(status=204)

    def _plan(self, values: dict[str, Any], draft: ScoringRound | None = None) -> ScoringRound:
        """Let the page's form judge the values, so that both know the same rules."""
        form = RoundForm(values, study=self.study, scoring_round=draft)
        require_valid(form)
        with conflict_on(actions.RoundNotReady):
            planned = actions.plan_round(
                study=self.study, plan=form.plan(), actor=self.request.user, scoring_round=draft
            )
        return self.rows().get(pk=planned.pk)


class ScoringRoundMoveViews(ScoringRoundViews):
    """Opening, closing and reopening."""

    action_of_move: Callable[..., None] = actions.open_round

    @extend_schema(request=NothingInput, responses=ROUND)
    def move(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Move the round to its next state, or say why that is not possible."""
        row = get_object_or_404(self.get_queryset(), public_id=public_id)
        self.read(NothingInput)
        with conflict_on(actions.RoundNotReady):
            type(self).action_of_move(scoring_round=row, actor=request.user)
        return self.shown(self.rows().get(pk=row.pk))


class ScoringOpenViews(ScoringRoundMoveViews):
    """Make the slots and start serving."""


class ScoringCloseViews(ScoringRoundMoveViews):
    """Stop serving; drafts are kept."""

    action_of_move = actions.close_round


class ScoringReopenViews(ScoringRoundMoveViews):
    """Let people go on."""

    action_of_move = actions.reopen_round


class ScoringPartViews(StudyViews):
    """Addresses below ``scoring-rounds/<round_id>/``."""

    scoring_round: ScoringRound

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Find the round inside the study."""
        super().initial(request, *args, **kwargs)
        rounds = self.study.scoring_rounds.select_related("rubric", "study")
        self.scoring_round = get_object_or_404(rounds, public_id=kwargs["round_id"])


class ScoringItemViews(ScoringPartViews):
    """The answers of a round, and the examples of its qualification."""

    queryset = ScoringItem.objects.none()
    serializer_class = bodies.ScoringItemSerializer

    def rows(self) -> QuerySet:
        """In the order of the round."""
        return items_of(self.scoring_round, with_examples=True)

    @extend_schema(request=bodies.ExampleInput, responses={204: None})
    def set_example(self, request: Request, **kwargs: Any) -> Response:
        """Set the key of an example of a draft, or take an example out."""
        given = self.read(bodies.ExampleInput)
        answer = self.study.answers.filter(public_id=given["answer"]).first()
        if answer is None:
            raise ValidationError({"answer": ["No such answer in this study."]})
        try:
            with conflict_on(actions.RoundNotReady):
                actions.set_example(
                    scoring_round=self.scoring_round,
                    answer=answer,
                    points=given["points"],
                    notes=given.get("notes"),
                )
        except RubricError as problem:
            raise ValidationError({"points": [str(problem)]}) from problem
        return Response(status=204)


class ScorerViews(ScoringPartViews):
    """The people of a round: what they have done, and what is decided about them."""

    queryset = Qualification.objects.none()
    serializer_class = bodies.ScorerSerializer
    lookup_field = "rater_id"

    def rows(self) -> QuerySet:
        """In the order in which they came."""
        places = Qualification.objects.filter(scoring_round=self.scoring_round)
        return places.select_related("rater").order_by("pk")

    def list(self, request: Request, **kwargs: Any) -> Response:
        """A page of the people with their counts."""
        return self.listed(progress_of(self.scoring_round))

    @extend_schema(request=bodies.ScorerInput, responses=bodies.ScorerSerializer)
    def decide(self, request: Request, rater_id: uuid.UUID, **kwargs: Any) -> Response:
        """Let somebody in, keep somebody out, or take sheets out of the figures."""
        place = get_object_or_404(self.get_queryset(), rater__public_id=rater_id)
        given = self.read(bodies.ScorerInput)
        decide_rater(
            place=place,
            actor=request.user,
            decision=given["decision"],
            reason=given.get("reason", ""),
        )
        found = progress_of(self.scoring_round)
        return self.shown(next(each for each in found if each.place.pk == place.pk))

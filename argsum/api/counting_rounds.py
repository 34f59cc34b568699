"""Counting rounds: draw, open, close; who has done what in them."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import StudyViews
from annotation.api.inputs.base import NothingInput, require_valid
from argsum.actions import counting_rounds as actions
from argsum.actions.counting_people import decide_rater
from argsum.forms.counting import RoundForm
from argsum.models import CountingItem, CountingPlace, CountingRound
from argsum.reports.counting_rounds import items_of, progress_of, rounds_with_counts
from cqa_site.web.problems import conflict_on

from . import counting_bodies as bodies

ROUND = bodies.CountingRoundSerializer


class CountingRoundViews(StudyViews):
    """The counting rounds of a study."""

    queryset = CountingRound.objects.none()
    serializer_class = ROUND

    def rows(self) -> QuerySet:
        """Newest first."""
        return rounds_with_counts(self.study)

    @extend_schema(request=bodies.CountingRoundInput, responses={201: ROUND})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Make a draft round and draw its sets; 409 if none matches."""
        fields = RoundForm.base_fields.items()
        defaults = {name: field.initial for name, field in fields if field.initial is not None}
        given = self.read(bodies.CountingRoundInput)
        return self.shown(self._plan({"seed": 1} | defaults | given), 201)

    @extend_schema(request=bodies.CountingRoundInput, responses=ROUND)
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change a draft round; its sets are drawn again."""
        draft = get_object_or_404(self.get_queryset(), public_id=public_id)
        given = self.read(bodies.CountingRoundInput, partial=True)
        present = actions.plan_of(draft)
        present["dataset"] = present["dataset"] and present["dataset"].public_id
        return self.shown(self._plan(present | given, draft))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Remove a draft; 409 for a round that was opened."""
        draft = get_object_or_404(self.get_queryset(), public_id=public_id)
        with conflict_on(actions.RoundNotReady):
            actions.delete_round(counting_round=draft, actor=request.user)
        return Response(status=204)

    def _plan(self, values: dict[str, Any], draft: CountingRound | None = None) -> CountingRound:
        """Let the page's form judge the values, so that both know the same rules."""
        form = RoundForm(values, study=self.study, counting_round=draft)
        require_valid(form)
        with conflict_on(actions.RoundNotReady):
            planned = actions.plan_round(
                study=self.study, plan=form.plan(), actor=self.request.user, counting_round=draft
            )
        return self.rows().get(pk=planned.pk)


class CountingRoundMoveViews(CountingRoundViews):
    """Opening, closing and reopening."""

    action_of_move: Callable[..., None] = actions.open_round

    @extend_schema(request=NothingInput, responses=ROUND)
    def move(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Move the round to its next state, or say why that is not possible."""
        row = get_object_or_404(self.get_queryset(), public_id=public_id)
        self.read(NothingInput)
        with conflict_on(actions.RoundNotReady):
            type(self).action_of_move(counting_round=row, actor=request.user)
        return self.shown(self.rows().get(pk=row.pk))


class CountingOpenViews(CountingRoundMoveViews):
    """Make the slots and start serving."""


class CountingCloseViews(CountingRoundMoveViews):
    """Stop serving; drafts are kept."""

    action_of_move = actions.close_round


class CountingReopenViews(CountingRoundMoveViews):
    """Let people go on."""

    action_of_move = actions.reopen_round


class CountingPartViews(StudyViews):
    """Addresses below ``counting-rounds/<counting_id>/``."""

    counting_round: CountingRound

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Find the round inside the study."""
        super().initial(request, *args, **kwargs)
        rounds = self.study.counting_rounds.select_related("study")
        self.counting_round = get_object_or_404(rounds, public_id=kwargs["counting_id"])


class CountingItemViews(CountingPartViews):
    """The sets of a round."""

    queryset = CountingItem.objects.none()
    serializer_class = bodies.CountingItemSerializer

    def rows(self) -> QuerySet:
        """In the order of the round."""
        return items_of(self.counting_round)


class CounterViews(CountingPartViews):
    """The people of a round: what they have done, and what is decided about them."""

    queryset = CountingPlace.objects.none()
    serializer_class = bodies.CounterSerializer
    lookup_field = "rater_id"

    def rows(self) -> QuerySet:
        """In the order in which they came."""
        places = CountingPlace.objects.filter(counting_round=self.counting_round)
        return places.select_related("rater").order_by("pk")

    def list(self, request: Request, **kwargs: Any) -> Response:
        """A page of the people with their counts."""
        return self.listed(progress_of(self.counting_round))

    @extend_schema(request=bodies.CounterInput, responses=bodies.CounterSerializer)
    def decide(self, request: Request, rater_id: uuid.UUID, **kwargs: Any) -> Response:
        """Take somebody's sheets out of the figures, or count them again."""
        place = get_object_or_404(self.get_queryset(), rater__public_id=rater_id)
        given = self.read(bodies.CounterInput)
        decide_rater(
            place=place,
            actor=request.user,
            decision=given["decision"],
            reason=given.get("reason", ""),
        )
        found = progress_of(self.counting_round)
        return self.shown(next(each for each in found if each.place.pk == place.pk))

"""Rounds of people at work in the REST interface, written once for kinds that need no more.

A body is made from the page's form, which judges the values, too: page and program know the same
fields and the same rules.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import URLPattern
from django_filters import FilterSet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from cqa_site.api.addresses import CREATE, LIST, ROW, address
from cqa_site.api.form_bodies import FormInput
from cqa_site.api.inputs import Input, NothingInput, require_valid
from cqa_site.api.requests import AnyRequest, Request
from cqa_site.api.views import StudyViews
from cqa_site.web.rest.problems import conflict_on

from ..forms.plan import PlanForm
from ..kind import RoundNotReady, TaskKind
from ..models import Place, Round
from ..opening import (
    close_round,
    delete_round,
    locked_round,
    open_round,
    pause_round,
    reopen_round,
)
from ..progress import items_of, progress_of, rounds_of
from ..qualifying import decide_rater
from .bodies import RoundSerializer


@dataclass(frozen=True)
class RoundApi:
    """What is special about the addresses of a kind's rounds.

    ``plan`` is made from the form of the pages. The others are how a round, an item and a person
    are shown, and a decision about a person; a kind may leave out the last three.
    """

    plan: type[FormInput]
    shown: type[RoundSerializer]
    item: type[serializers.Serializer[Any]] | None = None
    person: type[serializers.Serializer[Any]] | None = None
    decision: type[Input] = NothingInput
    # What is read with a round to show it.
    related: tuple[str, ...] = ()
    filters: type[FilterSet] | None = None

    @property
    def form(self) -> type[PlanForm]:
        """The form of the pages."""
        return self.shown.form


@dataclass(frozen=True)
class RoundViews:
    """The views of a kind: of its rounds, of whatever lies below one, of items and of people."""

    kind: TaskKind
    rounds: type[StudyViews]
    part: type[StudyViews]
    items: type[StudyViews]
    people: type[StudyViews]


def round_views(api: RoundApi, round_id: str) -> RoundViews:
    """Make the views of a kind; ``round_id`` names a round's id in addresses below it."""
    kind = api.form.kind

    class Rounds(StudyViews):
        """The rounds of a study."""

        queryset = kind.Round._default_manager.none()
        serializer_class = api.shown
        filterset_class = api.filters

        def rows(self) -> QuerySet[Any]:
            """Newest first."""
            return rounds_of(kind, self.study).select_related(*api.related)

        @extend_schema(request=api.plan, responses={201: api.shown})
        def create(self, request: Request, **kwargs: Any) -> Response:
            """Make a draft, with its items where the plan draws them; 409 if that cannot be."""
            given = self.read(api.plan)
            return self.shown(self._plan(api.form.begun(self.study) | given), 201)

        @extend_schema(request=api.plan, responses=api.shown)
        @transaction.atomic
        def partial_update(self, request: Request, public_id: uuid.UUID, **kw: Any) -> Response:
            """Change a draft; items that a plan draws are drawn again."""
            given = self.read(api.plan, partial=True)
            # Locked, so that of two changes at once neither is written over.
            with conflict_on(RoundNotReady):
                draft = locked_round(self._round(public_id), Round.State.DRAFT)
            stored = api.form(study=self.study, round_=draft).stored()
            return self.shown(self._plan(stored | given, draft))

        @extend_schema(responses={204: None})
        def destroy(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
            """Remove a draft; 409 for a round that was opened."""
            with conflict_on(RoundNotReady):
                delete_round(round_=self._round(public_id), actor=request.user)
            return Response(status=204)

        @extend_schema(request=NothingInput, responses=api.shown)
        def open(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
            """Open a draft, or go on after a pause; 409 with the reason why that cannot be."""
            return self._move(open_round, public_id)

        @extend_schema(request=NothingInput, responses=api.shown)
        def pause(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
            """Stop serving for a while; work already on screens is still taken."""
            return self._move(pause_round, public_id)

        @extend_schema(request=NothingInput, responses=api.shown)
        def close(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
            """Stop serving; what people have begun is kept."""
            return self._move(close_round, public_id)

        @extend_schema(request=NothingInput, responses=api.shown)
        def reopen(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
            """Let people go on."""
            return self._move(reopen_round, public_id)

        def _round(self, public_id: uuid.UUID) -> Any:
            return get_object_or_404(self.get_queryset(), public_id=public_id)

        def _move(self, move: Callable[..., None], public_id: uuid.UUID) -> Response:
            row = self._round(public_id)
            self.read(NothingInput)
            with conflict_on(RoundNotReady):
                move(round_=row, actor=self.request.user)
            return self.shown(self.rows().get(pk=row.pk))

        def _plan(self, values: dict[str, Any], draft: Any = None) -> Any:
            form = api.form(values, study=self.study, round_=draft)
            require_valid(form)
            with conflict_on(RoundNotReady):
                planned = form.planned(
                    study=self.study, plan=form.plan(), actor=self.request.user, round_=draft
                )
            return self.rows().get(pk=planned.pk)

    class Part(StudyViews):
        """Addresses below one round."""

        round: Any

        def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
            """Find the round inside the study."""
            super().initial(request, *args, **kwargs)
            rounds = kind.Round._default_manager.filter(study=self.study)
            self.round = get_object_or_404(
                rounds.select_related("study", *api.related), public_id=kwargs[round_id]
            )

    class Items(Part):
        """What a round gives to people."""

        queryset = kind.Item._default_manager.none()
        serializer_class = api.item

        def rows(self) -> QuerySet[Any]:
            """In the order of the round."""
            return items_of(self.round)

    class People(Part):
        """The people of a round: what they have done, and what is decided about them."""

        queryset = Place.objects.none()
        serializer_class = api.person
        lookup_field = "rater_id"

        def rows(self) -> QuerySet[Any]:
            """In the order in which they came."""
            places = Place.objects.filter(round=self.round.pk)
            return places.select_related("round__study", "rater").order_by("pk")

        def list(self, request: Request, **kwargs: Any) -> Response:
            """A page of the people with their counts."""
            return self.listed(progress_of(self.round))

        @extend_schema(request=api.decision, responses=api.person)
        def decide(self, request: Request, rater_id: uuid.UUID, **kwargs: Any) -> Response:
            """Decide about one person; see the fields of the body."""
            place = get_object_or_404(self.get_queryset(), rater__public_id=rater_id)
            given = self.read(api.decision)
            decide_rater(
                place=place,
                actor=request.user,
                decision=given["decision"],
                reason=given.get("reason", ""),
            )
            found = progress_of(self.round)
            return self.shown(next(each for each in found if each.place.pk == place.pk))

    return RoundViews(kind, Rounds, Part, Items, People)


def round_addresses(
    views: RoundViews, base: str, round_id: str, names: tuple[str, ...]
) -> list[URLPattern]:
    """The addresses of a kind's rounds; ``names``: one round, items, people, a decision."""
    one, *parts = names
    row = f"{base}<uuid:public_id>/"
    below = f"{base}<uuid:{round_id}>/"
    change = {"patch": "partial_update", "delete": "destroy"}
    rounds = [
        address(base, f"{one}s", views.rounds, **CREATE),
        address(row, one, views.rounds, **ROW, **change),
        *(
            address(f"{row}{move}/", f"{one}_{move}", views.rounds, post=move)
            for move in views.kind.moves
        ),
    ]
    if not parts:
        return rounds
    items, people, decide = parts
    return [
        *rounds,
        address(f"{below}items/", items, views.items, **LIST),
        address(f"{below}people/", people, views.people, **LIST),
        address(f"{below}people/<uuid:rater_id>/decide/", decide, views.people, post="decide"),
    ]

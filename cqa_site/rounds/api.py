"""Rounds in the REST API: bodies, views and URLs for every kind."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar

from django import forms
from django.db import transaction
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import URLPattern
from django_filters import FilterSet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from cqa_site.api.base import (
    CREATE,
    LIST,
    ROW,
    AnyRequest,
    FormInput,
    Input,
    NothingInput,
    ReadSerializer,
    Request,
    StudyViews,
    address,
    body_field,
    require_valid,
)
from cqa_site.web.rest.queries import conflict_on
from .access import DECISIONS, LONGEST_REASON, decide_rater
from .forms import RoundPlanForm
from .kind import RoundNotReady, TaskKind, kind_of
from .lifecycle import (
    close_round,
    correct_round,
    delete_round,
    locked_round,
    open_round,
    pause_round,
    reopen_round,
)
from .models import Place, Round
from .progress import Pace, items_of, paces_of, progress_of, rounds_of


class QualificationInput(Input):
    """A decision on whether a person may work or whether their work counts, with a reason."""

    decision = serializers.ChoiceField(list(DECISIONS))
    reason = serializers.CharField(max_length=LONGEST_REASON, required=False, allow_blank=True)


class RoundSerializer(ReadSerializer):
    """A round with its plan and its progress, ``done`` out of ``wanted``.

    A subclass sets its form, and lists the fields other than the plan in ``Meta.fields``; a
    declared field replaces the field derived from the form.
    """

    form: ClassVar[type[RoundPlanForm]]
    wanted = serializers.IntegerField()
    done = serializers.IntegerField()

    class Meta:
        fields = ["id", "state", "wanted", "done", "created_at", "opened_at", "closed_at"]

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields of the plan, then the fields of the subclass."""
        plan = {name: self._planned(name) for name in self.form.base_fields}
        return plan | super().get_fields()

    def _planned(self, name: str) -> serializers.Field[Any, Any, Any, Any]:
        field, column = self.form.base_fields[name], self.form.column(name)
        if column is None:
            # A round that was not planned here has no stored plan; show the form's defaults.
            return body_field(
                field, read_only=True, source=f"recipe.{name}", default=lambda: _begun(field)
            )
        source: dict[str, Any] = {"source": f"{name}.public_id"} if column.is_relation else {}
        return body_field(field, read_only=True, **source)


def _begun(field: forms.Field) -> Any:
    if field.initial is not None:
        return field.initial
    return field.to_python(None) if field.required else field.clean(None)


class ItemSerializer(ReadSerializer):
    """An item of a round, with the numbers of requested and existing sheets.

    ``known`` is the known answer of a control item. Examples have ``key_points`` and need no
    sheets.
    """

    wanted = serializers.IntegerField()
    done = serializers.IntegerField()

    class Meta:
        fields = ["position", "wanted", "done", "known", "key_points", "key_notes"]


class SkipsSerializer(serializers.Serializer[Any]):
    """The number and share of items that a person skipped in the view's round."""

    skipped = serializers.IntegerField(source="pace.skipped", read_only=True)
    skipped_share = serializers.FloatField(
        source="pace.skipped_share", read_only=True, allow_null=True
    )
    is_skipping = serializers.BooleanField(
        source="pace.is_skipping",
        read_only=True,
        help_text="Whether skipped_share exceeds the round's skip_share.",
    )
    # The attribute with the key of the row's rater.
    rater_pk: ClassVar[str] = "rater_id"

    def to_representation(self, instance: Any) -> Any:
        """Add the pace of the row's rater, using one query for all rows."""
        root: Any = self.root
        if not hasattr(root, "paces"):
            root.paces = paces_of(self.context["view"].round)
        vars(instance)["pace"] = root.paces.get(attrgetter(self.rater_pk)(instance), Pace())
        return super().to_representation(instance)


class PaceSerializer(SkipsSerializer):
    """A person's skips and pace."""

    seconds_each = serializers.FloatField(
        source="pace.seconds", read_only=True, allow_null=True, help_text="Average per item."
    )
    is_hasty = serializers.BooleanField(
        source="pace.is_hasty",
        read_only=True,
        help_text="Below a fifth of the usual time per item.",
    )


class PersonSerializer(PaceSerializer):
    """A person's progress in a round; ``id`` is the id of the rater.

    ``controls`` is the number of their answers to control items, and ``met`` the number of right
    answers; ``score`` is the share of known answers that they matched in the examples.
    """

    rater_pk = "place.rater_id"
    controls = serializers.IntegerField(read_only=True)
    met = serializers.IntegerField(read_only=True)
    id = serializers.UUIDField(source="rater.public_id", read_only=True)
    name = serializers.CharField(source="rater.pseudonym", read_only=True)
    sheets = serializers.IntegerField(read_only=True)
    repeats = serializers.IntegerField(read_only=True)
    extras = serializers.IntegerField(read_only=True)
    begun = serializers.IntegerField(read_only=True)
    minutes = serializers.IntegerField(read_only=True)
    last_at = serializers.DateTimeField(read_only=True, allow_null=True)
    excluded_at = serializers.DateTimeField(
        source="place.excluded_at", read_only=True, allow_null=True
    )
    score = serializers.FloatField(source="place.score", read_only=True, allow_null=True)
    is_passed = serializers.BooleanField(source="place.is_passed", read_only=True)

    def to_representation(self, instance: Any) -> Any:
        """Add control answers with one query for all rows, or none in rounds without controls."""
        root: Any = self.root
        if not hasattr(root, "controls"):
            round_ = self.context["view"].round
            root.controls = kind_of(round_).control_answers(round_) if round_.n_controls else {}
        answers = root.controls.get(instance.place.rater_id, [])
        right = sum(answer.is_right for answer in answers)
        vars(instance).update(controls=len(answers), met=right)
        return super().to_representation(instance)


# Views and URLs shared by the kinds of rounds.
#
# Request bodies are derived from the forms of the pages, which also validate the values, so that
# the pages and the API have the same fields and rules.


@dataclass(frozen=True)
class RoundApi:
    """The parts of the round views that differ by kind.

    ``plan`` is derived from the form of the pages. The other fields set the serializers for a
    round, an item, a person and a decision about a person; the last three are optional.
    """

    plan: type[FormInput]
    shown: type[RoundSerializer]
    item: type[serializers.Serializer[Any]] | None = None
    person: type[serializers.Serializer[Any]] | None = None
    decision: type[Input] = NothingInput
    # Related objects that are loaded with a round.
    related: tuple[str, ...] = ()
    filters: type[FilterSet] | None = None

    @property
    def form(self) -> type[RoundPlanForm]:
        """The form of the pages."""
        return self.shown.form


@dataclass(frozen=True)
class RoundViews:
    """The views of a kind: rounds, parts of a round, items and people."""

    kind: TaskKind
    rounds: type[StudyViews]
    part: type[StudyViews]
    items: type[StudyViews]
    people: type[StudyViews]


def round_views(api: RoundApi, round_id: str) -> RoundViews:
    """Create the views of a kind; ``round_id`` is the URL parameter with a round's id."""
    kind = api.form.kind

    class Rounds(StudyViews):
        """The rounds of a study."""

        queryset = kind.Round._default_manager.none()
        serializer_class = api.shown
        filterset_class = api.filters

        def rows(self) -> QuerySet[Any]:
            """Return the rows, newest first."""
            return rounds_of(kind, self.study).select_related("onboarding", *api.related)

        @extend_schema(request=api.plan, responses={201: api.shown})
        def create(self, request: Request, **kwargs: Any) -> Response:
            """Create a draft, with items if the plan draws them; 409 if this is not possible."""
            body = self.read(api.plan)
            return self.shown(self._plan(api.form.begun(self.study) | body), 201)

        @extend_schema(request=api.plan, responses=api.shown)
        @transaction.atomic
        def partial_update(self, request: Request, public_id: uuid.UUID, **kw: Any) -> Response:
            """Change a draft and redraw its items, or change some fields of a running round."""
            body = self.read(api.plan, partial=True)
            # Locked, so that two simultaneous changes do not overwrite each other.
            with conflict_on(RoundNotReady):
                row = locked_round(self._round(public_id), *Round.State)
            form = api.form(study=self.study, round_=row)
            if row.state == Round.State.DRAFT:
                return self.shown(self._plan(form.stored() | body, row))
            return self.shown(self._correct(form, body, row))

        @extend_schema(responses={204: None})
        def destroy(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
            """Remove a draft; 409 for a round that was opened."""
            with conflict_on(RoundNotReady):
                delete_round(round_=self._round(public_id), actor=request.user)
            return Response(status=204)

        @extend_schema(request=NothingInput, responses=api.shown)
        def open(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
            """Open a draft, or resume a paused round; 409 with a reason if this is impossible."""
            return self._move(open_round, public_id)

        @extend_schema(request=NothingInput, responses=api.shown)
        def pause(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
            """Pause serving; work already on people's screens is still accepted."""
            return self._move(pause_round, public_id)

        @extend_schema(request=NothingInput, responses=api.shown)
        def close(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
            """Stop serving; unfinished work is kept."""
            return self._move(close_round, public_id)

        @extend_schema(request=NothingInput, responses=api.shown)
        def reopen(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
            """Reopen a closed round."""
            return self._move(reopen_round, public_id)

        def _round(self, public_id: uuid.UUID) -> Any:
            return self.find_row(public_id)

        def _move(self, move: Callable[..., None], public_id: uuid.UUID) -> Response:
            row = self._round(public_id)
            self.read(NothingInput)
            with conflict_on(RoundNotReady):
                move(round_=row, actor=self.request.user)
            return self.shown(self.rows().get(pk=row.pk))

        def _correct(self, form: RoundPlanForm, body: dict[str, Any], row: Any) -> Any:
            with conflict_on(RoundNotReady):
                if fixed := sorted(set(body) - set(form.correctable)):
                    raise RoundNotReady(
                        f"The round is {row.get_state_display()}: {', '.join(fixed)} can "
                        f"no longer change, only {', '.join(form.correctable)}."
                    )
                filled = api.form(form.stored() | body, study=self.study, round_=row)
                filled.keep_correctable()
                require_valid(filled)
                values = {name: filled.cleaned_data[name] for name in body}
                correct_round(round_=row, actor=self.request.user, values=values)
            return self.rows().get(pk=row.pk)

        def _plan(self, values: dict[str, Any], draft: Any = None) -> Any:
            form = api.form(values, study=self.study, round_=draft)
            require_valid(form)
            with conflict_on(RoundNotReady):
                planned = form.store(self.request.user)
            return self.rows().get(pk=planned.pk)

    class Part(StudyViews):
        """A view below one round."""

        round: Any

        def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
            """Find the round in the study."""
            super().initial(request, *args, **kwargs)
            rounds = kind.Round._default_manager.filter(study=self.study)
            self.round = get_object_or_404(
                rounds.select_related("study", *api.related), public_id=kwargs[round_id]
            )

    class Items(Part):
        """The items that a round serves to people."""

        queryset = kind.Item._default_manager.none()
        serializer_class = api.item

        def rows(self) -> QuerySet[Any]:
            """Return the items in the order of the round."""
            return items_of(self.round)

    class People(Part):
        """The people of a round: their progress, and decisions about them."""

        queryset = Place.objects.none()
        serializer_class = api.person
        lookup_field = "rater_id"

        def rows(self) -> QuerySet[Any]:
            """Return the rows in the order in which they were stored."""
            places = Place.objects.filter(round=self.round.pk)
            return places.select_related("round__study", "rater").order_by("pk")

        def list(self, request: Request, **kwargs: Any) -> Response:
            """Return one page of people with their counts."""
            return self.listed(progress_of(self.round))

        @extend_schema(request=api.decision, responses=api.person)
        def decide(self, request: Request, rater_id: uuid.UUID, **kwargs: Any) -> Response:
            """Record a decision about one person; see the fields of the request body."""
            place = get_object_or_404(self.get_queryset(), rater__public_id=rater_id)
            body = self.read(api.decision)
            decide_rater(
                place=place,
                actor=request.user,
                decision=body["decision"],
                reason=body.get("reason", ""),
            )
            progresses = progress_of(self.round)
            return self.shown(
                next(progress for progress in progresses if progress.place.pk == place.pk)
            )

    return RoundViews(kind, Rounds, Part, Items, People)


def round_addresses(
    views: RoundViews, base: str, round_id: str, names: tuple[str, ...]
) -> list[URLPattern]:
    """Return the URLs of a kind; ``names`` are their names: round, items, people, decision."""
    name, *parts = names
    row = f"{base}<uuid:public_id>/"
    below = f"{base}<uuid:{round_id}>/"
    change = {"patch": "partial_update", "delete": "destroy"}
    rounds = [
        address(base, f"{name}s", views.rounds, **CREATE),
        address(row, name, views.rounds, **ROW, **change),
        *(
            address(f"{row}{move}/", f"{name}_{move}", views.rounds, post=move)
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

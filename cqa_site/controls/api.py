"""Hidden control items of rounds in the REST interface, for every kind of sheets."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from cqa_site.api.base import CREATE, LIST, FormInput, Input, Request, S, address, require_valid
from cqa_site.rounds.controls import (
    CHANGEABLE,
    control_offers,
    set_control,
    set_tolerance,
    take_offers,
)
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.onboarding.example_api import KNOWN, KnownAnswerViews
from cqa_site.web.rest.queries import conflict_on, invalid_on

from .forms import KnownForm, ToleranceForm
from .pages import controlled_round, offering_round
from .reports import control_report


class KnownInput(Input):
    """The known answer of the item at a position; null makes it an ordinary item."""

    position = serializers.IntegerField(min_value=1, max_value=10**6)
    known = serializers.DictField(allow_null=True, help_text=KNOWN)


class ToleranceInput(FormInput):
    """How far a right answer may be from the known one; null stands for the kind's default."""

    form = ToleranceForm


class ControlItemSerializer(serializers.Serializer[Any]):
    """A control item, and how many of its answers were right."""

    position = serializers.IntegerField(source="item.position")
    known = serializers.DictField(source="item.known", help_text=KNOWN)
    answers = serializers.IntegerField()
    right = serializers.IntegerField()
    is_contested = serializers.BooleanField()


class AgreedAnswerInput(Input):
    """The answer to take, by the ``id`` of the list; or ``all`` that are settled or agreed."""

    id = serializers.UUIDField(required=False)
    all = serializers.ChoiceField(["settled", "agreed"], required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Take one of the two."""
        if len(attrs) != 1:
            raise ValidationError({"id": ["Send either id or all."]})
        return attrs


class AgreedAnswerSerializer(serializers.Serializer[Any]):
    """A known answer of other rounds; ``id`` is that of the first sheet, or of the argument.

    ``people`` agreed on it; if ``is_settled``, people disagreed and ``people`` decided. ``reason``
    says why this round cannot take it.
    """

    id = serializers.UUIDField(source="source.public_id")
    known = serializers.DictField(help_text=KNOWN)
    people = serializers.IntegerField()
    is_settled = serializers.BooleanField()
    is_present = serializers.BooleanField(help_text="Whether a label round has the item already.")
    reason = serializers.CharField()


class PersonOnControlsSerializer(serializers.Serializer[Any]):
    """A person's record; ``fall_at`` is the control answer at which a fall was signalled."""

    id = serializers.UUIDField(source="rater.public_id")
    name = serializers.CharField(source="rater.pseudonym")
    n = serializers.IntegerField(source="controls.n")
    right = serializers.IntegerField(source="controls.right")
    accuracy = serializers.FloatField(source="controls.accuracy")
    interval = serializers.ListField(source="controls.interval", child=serializers.FloatField())
    fall_at = serializers.IntegerField(source="fall.signal", allow_null=True, default=None)


class HiddenControlViews(KnownAnswerViews):
    """The control items of a round."""

    serializer_class: Any = ControlItemSerializer
    find_round = staticmethod(controlled_round)

    def list(self, request: Request, **kwargs: Any) -> Response:
        """Return the items in the order of the round."""
        return self.listed(control_report(self.round).rows)

    @extend_schema(request=KnownInput, responses={204: None})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Set or remove the known answer of an item; 409 if this is not possible."""
        body = self.read(KnownInput)
        item = self.item_at(body["position"])
        if (known := body["known"]) is not None:
            form = KnownForm(known, round_=self.round)
            require_valid(form)
            known = form.cleaned_data
        with conflict_on(RoundNotReady):
            set_control(round_=self.round, item=item, known=known, actor=request.user)
        return Response(status=204)

    @extend_schema(request=ToleranceInput, responses=ToleranceInput)
    def partial_update(self, request: Request, **kwargs: Any) -> Response:
        """Set the tolerance."""
        body = self.read(ToleranceInput, partial=True)
        before = {"tolerance": self.round.control_tolerance}
        form = ToleranceForm(before | body, round_=self.round)
        require_valid(form)
        tolerance = form.cleaned_data["tolerance"]
        set_tolerance(round_=self.round, tolerance=tolerance, actor=request.user)
        return Response({"tolerance": tolerance})


class AgreedAnswerViews(HiddenControlViews):
    """Answers of other rounds that can be known answers in this one."""

    serializer_class = AgreedAnswerSerializer
    find_round = staticmethod(offering_round)

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List settled disputes of label rounds, then agreed answers; none for a closed round."""
        is_changeable = self.round.state in CHANGEABLE
        return self.listed(control_offers(self.round) if is_changeable else [])

    @extend_schema(request=AgreedAnswerInput, responses={204: None})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Make answers control items; 409 if this is not possible."""
        body = self.read(AgreedAnswerInput)
        with conflict_on(RoundNotReady), invalid_on("id", LookupError):
            take_offers(
                round_=self.round,
                actor=request.user,
                source=body.get("id"),
                is_settled=body.get("all") == "settled",
            )
        return Response(status=204)


class PersonOnControlsViews(HiddenControlViews):
    """Everybody's record on the control items."""

    serializer_class = PersonOnControlsSerializer

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List people in the order of their arrival."""
        return self.listed(control_report(self.round).people)


CONTROLS = S + "rounds/<uuid:any_round_id>/controls/"
urlpatterns = [
    address(CONTROLS, "round_controls", HiddenControlViews, **CREATE, patch="partial_update"),
    address(f"{CONTROLS}agreed/", "round_agreed_answers", AgreedAnswerViews, **CREATE),
    address(f"{CONTROLS}people/", "round_control_people", PersonOnControlsViews, **LIST),
]

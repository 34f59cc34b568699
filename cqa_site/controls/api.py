"""Known answers in the REST API: hidden control items of rounds, and examples of drafts."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from cqa_site.api.base import (
    CREATE,
    LIST,
    AnyRequest,
    FormInput,
    Input,
    Request,
    S,
    StudyViews,
    address,
    require_valid,
)
from cqa_site.rounds.controls import (
    CHANGEABLE,
    control_offers,
    offer_named,
    offered_examples,
    set_control,
    set_example,
    set_tolerance,
    take_example,
    take_offers,
)
from cqa_site.rounds.examples import WHERE, examples_of
from cqa_site.rounds.kind import RoundNotReady, sheet_kind_of
from cqa_site.rounds.models import Place
from cqa_site.rounds.progress import items_of
from cqa_site.web.rest.queries import conflict_on, invalid_on
from .example_pages import draft_with_examples
from .forms import LONGEST_NOTE, ExampleForm, KnownForm, ToleranceForm
from .pages import controlled_round, offering_round
from .reports import control_report

KNOWN = "The keys are the fields of the known answer: criteria, verdict, counts or answer."
NOTES = "Reasons under the same keys, and `where`: the place in the guideline."


class KnownInput(Input):
    """The known answer of the item at this position; null makes it an ordinary item."""

    position = serializers.IntegerField(min_value=1, max_value=10**6)
    known = serializers.DictField(allow_null=True, help_text=KNOWN)


class ExampleInput(KnownInput):
    """The known answer of an example; null makes drawn items ordinary and removes other items."""

    notes = serializers.DictField(
        child=serializers.CharField(max_length=LONGEST_NOTE), required=False, help_text=NOTES
    )


class ExampleSerializer(serializers.Serializer[Any]):
    """An example; the first examples train people, and the others qualify them."""

    position = serializers.IntegerField()
    known = serializers.DictField(source="key_points", help_text=KNOWN)
    notes = serializers.DictField(source="key_notes", help_text=NOTES)


class OfferedExampleInput(Input):
    """The ``id`` of the known answer to use, from the list."""

    id = serializers.CharField(max_length=60)


class OfferedExampleSerializer(serializers.Serializer[Any]):
    """A known answer from another round.

    ``people`` is the number of people who agreed on it; null for examples and control items.
    """

    id = serializers.CharField()
    known = serializers.DictField(help_text=KNOWN)
    notes = serializers.DictField(help_text=NOTES)
    people = serializers.IntegerField(allow_null=True)


class ToleranceInput(FormInput):
    """The largest difference from the known answer that counts as right; null for the default."""

    form = ToleranceForm


class ControlItemSerializer(serializers.Serializer[Any]):
    """A control item and the number of right answers to it."""

    position = serializers.IntegerField(source="item.position")
    known = serializers.DictField(source="item.known", help_text=KNOWN)
    answers = serializers.IntegerField()
    right = serializers.IntegerField()
    is_contested = serializers.BooleanField()


class AgreedAnswerInput(Input):
    """The ``id`` of a listed answer, or ``all`` to use all settled or all agreed answers."""

    id = serializers.UUIDField(required=False)
    all = serializers.ChoiceField(["settled", "agreed"], required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require exactly one of the two fields."""
        if len(attrs) != 1:
            raise ValidationError({"id": ["Send either id or all."]})
        return attrs


class AgreedAnswerSerializer(serializers.Serializer[Any]):
    """A known answer from other rounds; ``id`` identifies the first sheet or the argument.

    ``people`` is the number of people who agreed on it or, if ``is_settled``, who decided after
    others had disagreed. ``reason`` explains why this round cannot use it.
    """

    id = serializers.UUIDField(source="source.public_id")
    known = serializers.DictField(help_text=KNOWN)
    people = serializers.IntegerField()
    is_settled = serializers.BooleanField()
    is_present = serializers.BooleanField(help_text="Whether a label round already has the item.")
    reason = serializers.CharField()


class PersonOnControlsSerializer(serializers.Serializer[Any]):
    """A person's record; at control answer ``fall_at``, a fall in accuracy was signalled."""

    id = serializers.UUIDField(source="rater.public_id")
    name = serializers.CharField(source="rater.pseudonym")
    n = serializers.IntegerField(source="controls.n")
    right = serializers.IntegerField(source="controls.right")
    accuracy = serializers.FloatField(source="controls.accuracy")
    interval = serializers.ListField(source="controls.interval", child=serializers.FloatField())
    fall_at = serializers.IntegerField(source="fall.signal", allow_null=True, default=None)


class KnownAnswerViews(StudyViews):
    """The known answers to a round's items."""

    queryset = Place.objects.none()
    find_round: Any
    round: Any
    form: ClassVar[type[KnownForm]] = KnownForm

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Find the round in the study."""
        super().initial(request, *args, **kwargs)
        self.round = self.find_round(self.study, kwargs["any_round_id"])

    def read_known(self, body: type[KnownInput]) -> tuple[Any, dict[str, Any]]:
        """Return the item named in the request, and its known answer as keyword arguments."""
        sent = self.read(body)
        item = items_of(self.round).filter(position=sent["position"]).first()
        if item is None:
            raise ValidationError({"position": ["This round has no such item."]})
        if sent["known"] is None:
            return item, {"known": None}
        notes = sent.get("notes", {})
        fields = {name if name == WHERE else f"why-{name}": notes[name] for name in notes}
        form = self.form(sent["known"] | fields, round_=self.round)
        require_valid(form)
        return item, form.values


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
        item, values = self.read_known(KnownInput)
        with conflict_on(RoundNotReady):
            set_control(round_=self.round, item=item, actor=request.user, **values)
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
    """Answers from other rounds that can become known answers in this round."""

    serializer_class = AgreedAnswerSerializer
    find_round = staticmethod(offering_round)

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List settled disputes of label rounds, then agreed answers; a closed round has none."""
        is_changeable = self.round.state in CHANGEABLE
        return self.listed(control_offers(self.round) if is_changeable else [])

    @extend_schema(request=AgreedAnswerInput, responses={204: None})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Create control items from answers; 409 if this is not possible."""
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
    """Each person's record on the control items."""

    serializer_class = PersonOnControlsSerializer

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List people in order of arrival."""
        return self.listed(control_report(self.round).people)


class RoundExampleViews(KnownAnswerViews):
    """The examples of a draft."""

    serializer_class: Any = ExampleSerializer
    find_round = staticmethod(draft_with_examples)
    form = ExampleForm

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List examples in the order in which people do them."""
        return self.listed(list(examples_of(self.round)))

    @extend_schema(request=ExampleInput, responses={204: None})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Make an item an example with a known answer, or undo this."""
        item, values = self.read_known(ExampleInput)
        thing = getattr(item, sheet_kind_of(self.round).subject)
        with conflict_on(RoundNotReady):
            set_example(round_=self.round, thing=thing, actor=request.user, **values)
        return Response(status=204)


class OfferedExampleViews(RoundExampleViews):
    """Known answers from other rounds that a draft can use as examples."""

    serializer_class = OfferedExampleSerializer

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List the answers in the order in which a round adds missing examples when it opens."""
        return self.listed(offered_examples(self.round))

    @extend_schema(request=OfferedExampleInput, responses={204: None})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Make a known answer an example."""
        wanted = self.read(OfferedExampleInput)["id"]
        with conflict_on(RoundNotReady), invalid_on("id", LookupError):
            offer = offer_named(offered_examples(self.round), wanted)
            take_example(round_=self.round, offer=offer, actor=request.user)
        return Response(status=204)


CONTROLS = S + "rounds/<uuid:any_round_id>/controls/"
EXAMPLES = S + "rounds/<uuid:any_round_id>/examples/"
urlpatterns = [
    address(CONTROLS, "round_controls", HiddenControlViews, **CREATE, patch="partial_update"),
    address(f"{CONTROLS}agreed/", "round_agreed_answers", AgreedAnswerViews, **CREATE),
    address(f"{CONTROLS}people/", "round_control_people", PersonOnControlsViews, **LIST),
    address(EXAMPLES, "round_examples", RoundExampleViews, **CREATE),
    address(f"{EXAMPLES}offered/", "round_offered_examples", OfferedExampleViews, **CREATE),
]

"""Examples of drafts in the REST interface, for every kind of sheets with right answers."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from cqa_site.api.base import (
    CREATE,
    AnyRequest,
    Input,
    Request,
    S,
    StudyViews,
    address,
    require_valid,
)
from cqa_site.web.rest.queries import conflict_on, invalid_on

from ..examples import WHERE, examples_of
from ..kind import RoundNotReady, sheet_kind_of
from ..models import Place
from ..progress import items_of
from .example_pages import LONGEST_NOTE, ExampleForm, draft_with_examples
from .examples import offer_named, offered_examples, set_example, take_offer

KNOWN = "Named like the fields of the known answer: criteria, verdict, counts or answer."
NOTES = "Reasons by the same names, and `where`: the place in the guideline."


class ExampleInput(Input):
    """The known answer of the item at a position; null removes the example from the round."""

    position = serializers.IntegerField(min_value=1, max_value=10**6)
    known = serializers.DictField(allow_null=True, help_text=KNOWN)
    notes = serializers.DictField(
        child=serializers.CharField(max_length=LONGEST_NOTE), required=False, help_text=NOTES
    )


class ExampleSerializer(serializers.Serializer[Any]):
    """An example; the first ones train, the others qualify."""

    position = serializers.IntegerField()
    known = serializers.DictField(source="key_points", help_text=KNOWN)
    notes = serializers.DictField(source="key_notes", help_text=NOTES)


class OfferedExampleInput(Input):
    """The known answer to take, by the ``id`` of the list."""

    id = serializers.CharField(max_length=60)


class OfferedExampleSerializer(serializers.Serializer[Any]):
    """A known answer of another round; ``people`` agreed on it, null for its own known items."""

    id = serializers.CharField()
    known = serializers.DictField(help_text=KNOWN)
    notes = serializers.DictField(help_text=NOTES)
    people = serializers.IntegerField(allow_null=True)


class KnownAnswerViews(StudyViews):
    """Known answers of a round's items."""

    queryset = Place.objects.none()
    find_round: Any
    round: Any

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Find the round inside the study."""
        super().initial(request, *args, **kwargs)
        self.round = self.find_round(self.study, kwargs["any_round_id"])

    def item_at(self, position: int) -> Any:
        """Return an item of the round; raises ValidationError."""
        item = items_of(self.round).filter(position=position).first()
        if item is None:
            raise ValidationError({"position": ["This round has no such item."]})
        return item


class RoundExampleViews(KnownAnswerViews):
    """The examples of a draft."""

    serializer_class: Any = ExampleSerializer
    find_round = staticmethod(draft_with_examples)

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List examples in the order in which people do them."""
        return self.listed(list(examples_of(self.round)))

    @extend_schema(request=ExampleInput, responses={204: None})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Set the known answer of an item as an example, or remove the example."""
        body = self.read(ExampleInput)
        item = self.item_at(body["position"])
        about: dict[str, Any] = {"known": None}
        if body["known"] is not None:
            notes = body.get("notes", {})
            fields = {name if name == WHERE else f"why-{name}": notes[name] for name in notes}
            form = ExampleForm(body["known"] | fields, round_=self.round)
            require_valid(form)
            about = {"known": form.known, "notes": form.notes}
        thing = getattr(item, sheet_kind_of(self.round).subject)
        with conflict_on(RoundNotReady):
            set_example(round_=self.round, thing=thing, actor=request.user, **about)
        return Response(status=204)


class OfferedExampleViews(RoundExampleViews):
    """Known answers of other rounds that a draft can take as examples."""

    serializer_class = OfferedExampleSerializer

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List them in the order in which an opening round takes what is missing."""
        return self.listed(offered_examples(self.round))

    @extend_schema(request=OfferedExampleInput, responses={204: None})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Make a known answer an example."""
        wanted = self.read(OfferedExampleInput)["id"]
        with conflict_on(RoundNotReady), invalid_on("id", LookupError):
            offer = offer_named(offered_examples(self.round), wanted)
            take_offer(round_=self.round, offer=offer, actor=request.user)
        return Response(status=204)


EXAMPLES = S + "rounds/<uuid:any_round_id>/examples/"
urlpatterns = [
    address(EXAMPLES, "round_examples", RoundExampleViews, **CREATE),
    address(f"{EXAMPLES}offered/", "round_offered_examples", OfferedExampleViews, **CREATE),
]

"""The items of a round: pick arguments, mark control items."""

import uuid
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.labelling.actions import campaigns as actions
from annotation.labelling.api.bodies import ItemSerializer
from annotation.labelling.api.filters import ItemFilter
from annotation.labelling.api.inputs import AddedSerializer, ControlInput, ItemsInput
from annotation.labelling.models.campaigns import Item
from cqa_site.api.requests import Request
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.web.rest.problems import conflict_on

from .campaigns import CampaignViews


class ItemViews(CampaignViews):
    """The items of a round, control items included."""

    queryset = Item.objects.none()
    serializer_class = ItemSerializer
    filterset_class = ItemFilter

    def rows(self) -> QuerySet:
        """Items in the order they were added."""
        return self.campaign.items.select_related("argument__comparison").order_by("pk")

    @extend_schema(request=ItemsInput, responses={201: AddedSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Add arguments as ordinary items; those already there stay as they are."""
        wanted = list(dict.fromkeys(self.read(ItemsInput)["arguments"]))
        known = keys_of(wanted, self.study.arguments.all())
        if len(known) < len(wanted):
            raise ValidationError({"arguments": ["Some are no arguments of this study."]})
        with conflict_on(RoundNotReady):
            added = actions.add_items(
                campaign=self.campaign, argument_ids=[known[each] for each in wanted]
            )
        return Response({"added": added}, status=201)

    @extend_schema(request=ControlInput, responses=ItemSerializer)
    def control(self, request: Request, **kwargs: Any) -> Response:
        """Make an item of a draft a control item with a known label, or an ordinary one."""
        given = self.read(ControlInput)
        item = self.get_queryset().filter(external_id=given["item_id"]).first()
        if item is None:
            raise ValidationError({"item_id": ["No such item in this round."]})
        with conflict_on(RoundNotReady):
            actions.set_control(campaign=self.campaign, item=item, label=given["label"])
        return self.shown(self.get_queryset().get(pk=item.pk))


def keys_of(ids: list[uuid.UUID], rows: QuerySet) -> dict[uuid.UUID, int]:
    """Keys of the rows with these public ids, in pieces that every database takes."""
    found: dict[uuid.UUID, int] = {}
    for start in range(0, len(ids), 500):
        piece = rows.filter(public_id__in=ids[start : start + 500])
        found.update(piece.values_list("public_id", "pk"))
    return found

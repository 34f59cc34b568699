"""Campaigns and their items: make a draft, fill it, open, pause, close."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.forms import model_to_dict
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.labelling.actions import campaigns as actions
from annotation.labelling.actions.guidelines import default_guideline
from annotation.labelling.api.bodies import CampaignSerializer, ItemSerializer
from annotation.labelling.api.filters import CampaignFilter, ItemFilter
from annotation.labelling.api.inputs import (
    AddedSerializer,
    CampaignInput,
    ControlInput,
    ItemsInput,
)
from annotation.labelling.forms.campaigns import CampaignForm
from annotation.labelling.models.campaigns import Campaign, Item, campaigns_of
from cqa_site.api.inputs import NothingInput, require_valid
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.opening import WHOLE, close_round, open_round, pause_round
from cqa_site.web.rest.problems import Conflict, conflict_on

from .access import CampaignViews

CAMPAIGN = CampaignSerializer


class CampaignSetViews(StudyViews):
    """The campaigns of a study."""

    queryset = Campaign.objects.none()
    serializer_class = CAMPAIGN
    filterset_class = CampaignFilter

    def rows(self) -> QuerySet:
        """Newest first."""
        return campaigns_of(self.study).select_related("guideline")

    @extend_schema(request=CampaignInput, responses={201: CAMPAIGN})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Make a draft; what is left out keeps its default."""
        given = self.read(CampaignInput)
        draft = Campaign(
            study=self.study,
            guideline=default_guideline(self.study, actor=request.user),
            created_by=request.user,
            **Campaign.USUAL,
        )
        return self.shown(self._save(draft, given), 201)

    @extend_schema(request=CampaignInput, responses=CAMPAIGN)
    @transaction.atomic
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change a draft; what is left out keeps its value."""
        given = self.read(CampaignInput, partial=True)
        # Locked, so that a campaign opened at this moment is not written back as a draft.
        rows = self.get_queryset().select_for_update(of=WHOLE)
        draft = get_object_or_404(rows, public_id=public_id)
        if draft.state != Campaign.State.DRAFT:
            raise Conflict("Only a draft can be changed.")
        return self.shown(self._save(draft, given))

    def _save(self, draft: Campaign, given: dict[str, Any]) -> Campaign:
        """Let the page's form judge the settings, so that both know the same rules."""
        if "guideline" in given:
            guideline = self.study.guidelines.filter(public_id=given["guideline"]).first()
            given["guideline"] = guideline.pk if guideline else None
        values = model_to_dict(draft, fields=CampaignForm.Meta.fields) | given
        form = CampaignForm(values, study=self.study, instance=draft)
        require_valid(form)
        return form.save()


class CampaignMoveViews(CampaignViews):
    """Opening, pausing and closing."""

    queryset = Campaign.objects.none()
    serializer_class = CAMPAIGN

    @extend_schema(request=NothingInput, responses=CAMPAIGN)
    def open(self, request: Request, **kwargs: Any) -> Response:
        """Open a draft, or resume after a pause; 409 with the reason if that is not possible."""
        return self._move(open_round)

    @extend_schema(request=NothingInput, responses=CAMPAIGN)
    def pause(self, request: Request, **kwargs: Any) -> Response:
        """Stop serving items; work already on screens is still taken."""
        return self._move(pause_round)

    @extend_schema(request=NothingInput, responses=CAMPAIGN)
    def close(self, request: Request, **kwargs: Any) -> Response:
        """End the round for good; answers that still come in are kept as extras."""
        return self._move(close_round)

    def _move(self, move: Callable[..., None]) -> Response:
        self.read(NothingInput)
        with conflict_on(RoundNotReady):
            move(round_=self.campaign, actor=self.request.user)
        self.campaign.refresh_from_db()
        return self.shown(self.campaign)


class ItemViews(CampaignViews):
    """The items of a campaign, control items included."""

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
            raise ValidationError({"item_id": ["No such item in this campaign."]})
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

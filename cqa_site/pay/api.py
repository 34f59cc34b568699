"""Pay for a crowd link in the REST API."""

import uuid
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from cqa_site.api.base import AnyRequest, FormInput, Request, public_id, require_valid
from cqa_site.results.api import StatisticSerializer
from cqa_site.rounds.crowd.api import CrowdRoundViews
from cqa_site.rounds.crowd.participants import links_of
from cqa_site.rounds.crowd.pay import PaySummary, earnings_of
from cqa_site.rounds.models import ParticipantLink
from .forms import PayTermsForm, terms_of


class PayTermsInput(FormInput):
    """Pay terms of a link. Omitted fields keep their values; null clears a value."""

    form = PayTermsForm


class PersonPaySerializer(serializers.Serializer[Any]):
    """One participant's earnings, with the time for each step and for the items (``work``)."""

    id = public_id("participant.user")
    outcome = serializers.CharField(source="participant.outcome")
    items = serializers.IntegerField()
    seconds = serializers.DictField(child=serializers.FloatField())
    worked = serializers.FloatField(help_text="Total seconds.")
    pay = serializers.FloatField(allow_null=True)
    bonus = serializers.FloatField()
    hourly = serializers.FloatField(allow_null=True)


class PaySerializer(serializers.Serializer[Any]):
    """The pay terms of a link, and people's earnings through it."""

    terms = serializers.SerializerMethodField()
    median = StatisticSerializer(help_text="Pay per hour of participants who completed the work.")
    is_below = serializers.BooleanField(
        help_text="Whether this median, with 10 or more participants, is below the floor."
    )
    mending_reward = serializers.SerializerMethodField(
        help_text="The lowest reward with which the median meets the floor; null if it does."
    )
    people = PersonPaySerializer(many=True, source="earnings")

    def get_terms(self, summary: PaySummary) -> dict[str, Any]:
        """Return the pay terms under the field names of the request body."""
        return terms_of(summary.link)

    def get_mending_reward(self, summary: PaySummary) -> float | None:
        """Return the reward suggested by the warning, or None if there is no warning."""
        return float(summary.mending[0]) if summary.is_below else None


class LinkPayViews(CrowdRoundViews):
    """The pay terms and earnings of one link."""

    queryset = ParticipantLink.objects.none()
    serializer_class = PaySerializer
    link: ParticipantLink

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Find the link in the round."""
        super().initial(request, *args, **kwargs)
        self.link = get_object_or_404(links_of(self.round), public_id=kwargs["link_id"])
        self.link.round = self.round

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return the pay terms, the median hourly pay and each person's pay."""
        return self.shown(PaySummary(self.link, earnings_of(self.round, link=self.link)))

    @extend_schema(request=PayTermsInput, responses=PaySerializer)
    def partial_update(self, request: Request, link_id: uuid.UUID, **kwargs: Any) -> Response:
        """Store the pay terms of the link."""
        form = PayTermsForm(
            terms_of(self.link) | self.read(PayTermsInput, partial=True), link=self.link
        )
        form.store(request.user)
        require_valid(form)
        return self.retrieve(request)

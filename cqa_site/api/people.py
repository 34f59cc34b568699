"""The people of a study: members, invitations, and the log of what everybody changed."""

import uuid
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from cqa_site.api.bodies import (
    AuditEventSerializer,
    InvitationInput,
    InvitationSerializer,
    MemberInput,
    MemberSerializer,
    NewInvitationSerializer,
)
from cqa_site.api.filters import AuditEventFilter, MemberFilter
from cqa_site.api.inputs import NothingInput, require_valid
from cqa_site.api.requests import Request
from cqa_site.api.views import AdminViews, StudyViews
from cqa_site.people.actions import invitations, members
from cqa_site.people.forms import InvitationForm
from cqa_site.people.models import AuditEvent, Invitation, Membership
from cqa_site.web.rest.problems import Conflict


class MemberViews(AdminViews):
    """The people of a study."""

    queryset = Membership.objects.none()
    serializer_class = MemberSerializer
    filterset_class = MemberFilter

    def rows(self) -> QuerySet:
        """Members, also those who left."""
        return self.study.memberships.select_related("user", "study").order_by("pk")

    @extend_schema(request=MemberInput, responses=MemberSerializer)
    @transaction.atomic
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Give a member another role, or close and open the study to them.

        Crowd participants have no role to change; their link is closed instead.
        """
        accounts = self.get_queryset().filter(user__email__isnull=False)
        membership = get_object_or_404(accounts, user__public_id=public_id)
        given = self.read(MemberInput, partial=True)
        try:
            self._change(membership, **given)
        except members.LastAdmin as refusal:
            raise Conflict("A study needs an active admin; make somebody else admin.") from refusal
        return self.shown(self.get_queryset().get(pk=membership.pk))

    def _change(
        self, membership: Membership, role: str | None = None, is_active: bool | None = None
    ) -> None:
        actor = self.request.user
        if role is not None:
            members.change_role(membership=membership, role=role, actor=actor)
        if is_active is not None:
            act = members.reactivate_member if is_active else members.deactivate_member
            act(membership=membership, actor=actor)


class InvitationViews(AdminViews):
    """Links that make their bearer a member, once."""

    queryset = Invitation.objects.none()
    serializer_class = InvitationSerializer

    def rows(self) -> QuerySet:
        """Newest first."""
        return self.study.invitations.select_related("created_by", "used_by", "study").order_by(
            "-created_at", "-pk"
        )

    @extend_schema(request=InvitationInput, responses={201: NewInvitationSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Make an invitation; ``address`` is told this once, only its hash is kept."""
        form = InvitationForm(self.read(InvitationInput), instance=Invitation(study=self.study))
        require_valid(form)
        made, secret = invitations.create_invitation(
            study=self.study, actor=request.user, **form.cleaned_data
        )
        address = request.build_absolute_uri(reverse("invitation", args=[secret]))
        vars(made).update(address=address)
        return Response(NewInvitationSerializer(made).data, status=201)

    @extend_schema(request=NothingInput, responses=InvitationSerializer)
    def revoke(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Make an unused link useless; 409 when it was used or revoked before."""
        invitation = get_object_or_404(self.get_queryset(), public_id=public_id)
        self.read(NothingInput)
        if not invitations.revoke_invitation(invitation=invitation, actor=request.user):
            raise Conflict("That invitation had been used or revoked before.")
        return self.shown(self.get_queryset().get(pk=invitation.pk))


class LogViews(StudyViews):
    """Who changed what and why; rows are only ever added."""

    queryset = AuditEvent.objects.none()
    serializer_class = AuditEventSerializer
    filterset_class = AuditEventFilter

    def rows(self) -> QuerySet:
        """Newest first."""
        return self.study.audit_events.select_related("actor")

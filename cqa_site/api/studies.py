"""Studies and their people in the REST API: bodies, filters and views."""

import uuid
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import path, reverse
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView

from cqa_site.api.base import (
    CREATE,
    LIST,
    AdminViews,
    AnyRequest,
    Input,
    NothingInput,
    PersonViews,
    ReadSerializer,
    Request,
    S,
    StudyViews,
    address,
    public_id,
    require_valid,
    resource,
)
from cqa_site.people import actions
from cqa_site.people.access import may_open_studies, memberships_of
from cqa_site.people.actions import create_study
from cqa_site.people.forms import InvitationForm, StudyForm
from cqa_site.people.models import (
    INVITATION_LIFETIME,
    ApiToken,
    AuditEvent,
    Invitation,
    Membership,
    Role,
    Study,
    User,
)
from cqa_site.web.rest.queries import Conflict, TrueFalseFilter


class StudyInput(Input):
    """The name of a study."""

    name = serializers.CharField(max_length=120)
    description = serializers.CharField(allow_blank=True, required=False)
    goal = serializers.CharField(allow_blank=True, required=False, max_length=20)


class DeletionInput(Input):
    """The name of the study, as a confirmation."""

    name = serializers.CharField()


class DeletionSerializer(serializers.Serializer):
    """The address that shows the progress of the deletion."""

    page = serializers.CharField(read_only=True)


class MemberInput(Input):
    """A member's role, and whether the study is open to them; both are optional."""

    role = serializers.ChoiceField(Role.choices, required=False)
    is_active = serializers.BooleanField(required=False)


class InvitationInput(Input):
    """The note, role and duration of an invitation."""

    note = serializers.CharField(max_length=120)
    role = serializers.ChoiceField(Role.choices)
    days = serializers.IntegerField(min_value=1, max_value=90, default=INVITATION_LIFETIME.days)
    leads_to = serializers.CharField(
        max_length=200,
        default="",
        allow_blank=True,
        help_text="Path of the study page where the person starts. Default: the first page.",
    )


class MemberSerializer(ReadSerializer):
    """One person's role in the study."""

    id = public_id("user")
    name = serializers.CharField(source="user.name")
    email = serializers.EmailField(source="user.email", allow_null=True)

    class Meta:
        model = Membership
        fields = ["id", "name", "email", "role", "is_active", "created_at"]


class InvitationSerializer(ReadSerializer):
    """An invitation, without its secret."""

    is_open = serializers.BooleanField()
    created_by = public_id("created_by")
    used_by = public_id("used_by", allow_null=True, default=None)

    class Meta:
        model = Invitation
        fields = [
            "id", "note", "role", "is_open", "created_by", "created_at", "expires_at", "used_at",
            "used_by", "revoked_at",
        ]  # fmt: skip


class NewInvitationSerializer(InvitationSerializer):
    """A new invitation, with the address to send to the person."""

    address = serializers.CharField()

    class Meta:
        model = Invitation
        fields = [*InvitationSerializer.Meta.fields, "address"]


class AuditEventSerializer(serializers.ModelSerializer):
    """One line of the log; if it has no actor, a rule or a command made the change."""

    actor = public_id("actor", allow_null=True, default=None)
    actor_name = serializers.CharField(source="actor", read_only=True, allow_null=True)
    details = serializers.DictField(read_only=True)

    class Meta:
        model = AuditEvent
        fields = ["at", "actor", "actor_name", "verb", "subject", "reason", "details"]
        read_only_fields = fields


class TokenSerializer(ReadSerializer):
    """The token of this request, without its secret."""

    class Meta:
        model = ApiToken
        fields = ["id", "name", "scope", "last_four", "created_at", "expires_at"]


class MeSerializer(ReadSerializer):
    """The person behind the token."""

    token = TokenSerializer()

    class Meta:
        model = User
        fields = ["id", "email", "name", "token"]


class StudyNameSerializer(serializers.ModelSerializer):
    """The part of a study that every member may see."""

    id = public_id("study")
    name = serializers.CharField(source="study.name", read_only=True)
    is_archived = serializers.BooleanField(source="study.is_archived", read_only=True)

    class Meta:
        model = Membership
        fields = ["id", "name", "role", "is_archived"]
        read_only_fields = fields


class StudySerializer(ReadSerializer):
    """A study as its researchers see it."""

    class Meta:
        model = Study
        fields = [
            "id", "name", "goal", "description", "is_demo", "is_archived", "archived_at",
            "created_at",
        ]  # fmt: skip


class StudyFilter(filters.FilterSet):
    is_archived = TrueFalseFilter(
        field_name="study__archived_at", lookup_expr="isnull", exclude=True
    )


class MemberFilter(filters.FilterSet):
    role = filters.ChoiceFilter(choices=Role.choices)
    is_active = TrueFalseFilter()


class AuditEventFilter(filters.FilterSet):
    verb = filters.CharFilter(max_length=60)
    subject = filters.CharFilter(max_length=200)


class MeView(APIView):
    """The person and the token behind this request."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=MeSerializer, operation_id="me")
    def get(self, request: Request) -> Response:
        """Return the person and the token of this request."""
        person = request.user
        vars(person).update(token=request.auth)
        return Response(MeSerializer(person).data)


class StudyNameViews(PersonViews):
    """The studies this person is a member of."""

    queryset = Membership.objects.none()
    serializer_class = StudyNameSerializer
    filterset_class = StudyFilter

    def list(self, request: Request) -> Response:
        """List your studies with their names and your role in each."""
        return self.listed(memberships_of(request.user).order_by("study__name", "pk"))

    @extend_schema(request=StudyInput, responses={201: StudySerializer})
    def create(self, request: Request) -> Response:
        """Create a study, if this site allows you to; you become its first admin."""
        if not may_open_studies(request.user):
            raise PermissionDenied("Only people who may create studies on this site can do that.")
        form = StudyForm(self.read(StudyInput))
        require_valid(form)
        study = create_study(actor=request.user, **form.cleaned_data)
        return Response(StudySerializer(study).data, status=201)


@extend_schema(exclude=True)
class UnknownAddress(APIView):
    """Every other address, with the same 404 as for a study that does not exist."""

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Raise 404 for every method."""
        super().initial(request, *args, **kwargs)
        raise NotFound


class MemberViews(AdminViews):
    """The people of a study."""

    serializer_class = MemberSerializer
    filterset_class = MemberFilter

    def rows(self) -> QuerySet:
        """Return all members, including former ones."""
        return self.study.memberships.select_related("user", "study").order_by("pk")

    @extend_schema(request=MemberInput, responses=MemberSerializer)
    @transaction.atomic
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change a member's role, or deactivate or reactivate the membership.

        Crowd participants have no role to change; close their link instead.
        """
        accounts = self.get_queryset().filter(user__email__isnull=False)
        membership = get_object_or_404(accounts, user__public_id=public_id)
        body = self.read(MemberInput, partial=True)
        try:
            self._change(membership, **body)
        except actions.LastAdmin as refusal:
            raise Conflict(
                "A study needs an active admin. Make someone else an admin first."
            ) from refusal
        return self.shown(self.get_queryset().get(pk=membership.pk))

    def _change(
        self, membership: Membership, role: str | None = None, is_active: bool | None = None
    ) -> None:
        actor = self.request.user
        if role is not None:
            actions.change_role(membership=membership, role=role, actor=actor)
        if is_active is not None:
            act = actions.reactivate_member if is_active else actions.deactivate_member
            act(membership=membership, actor=actor)


class InvitationViews(AdminViews):
    """Single-use links that make their holder a member."""

    serializer_class = InvitationSerializer

    def rows(self) -> QuerySet:
        """Return the rows, newest first."""
        return self.study.invitations.select_related("created_by", "used_by", "study").order_by(
            "-created_at", "-pk"
        )

    @extend_schema(request=InvitationInput, responses={201: NewInvitationSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Create an invitation; its ``address`` is returned once, as only a hash is stored."""
        form = InvitationForm(self.read(InvitationInput), instance=Invitation(study=self.study))
        require_valid(form)
        invitation, secret = actions.create_invitation(
            study=self.study, actor=request.user, **form.cleaned_data
        )
        address = request.build_absolute_uri(reverse("invitation", args=[secret]))
        vars(invitation).update(address=address)
        return Response(NewInvitationSerializer(invitation).data, status=201)

    @extend_schema(request=NothingInput, responses=InvitationSerializer)
    def revoke(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Revoke an unused invitation; 409 if it was already used or revoked."""
        invitation = self.find_row(public_id)
        self.read(NothingInput)
        if not actions.revoke_invitation(invitation=invitation, actor=request.user):
            raise Conflict("This invitation was already used or revoked.")
        return self.shown(self.get_queryset().get(pk=invitation.pk))


class LogViews(StudyViews):
    """Changes with their author and reason; rows are only ever added."""

    serializer_class = AuditEventSerializer
    filterset_class = AuditEventFilter

    def rows(self) -> QuerySet:
        """Return the rows, newest first."""
        return self.study.audit_events.select_related("actor")


urlpatterns = [
    path("me/", MeView.as_view(), name="api_me"),
    address("studies/", "studies", StudyNameViews, **CREATE),
    address(S + "log/", "log", LogViews, **LIST),
    *resource(S + "members/", "members", "member", MemberViews, row={"patch": "partial_update"}),
    *resource(
        S + "invitations/", "invitations", "invitation", InvitationViews, "revoke", listed=CREATE
    ),
]

"""Onboardings, their versions, results and qualifications in the REST API."""

import uuid
from functools import partial
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from cqa_site.api.base import (
    AnyRequest,
    DataSerializer,
    FormInput,
    ReadSerializer,
    Request,
    StudyViews,
    public_id,
    require_valid,
)
from cqa_site.people.actions import rater_for
from cqa_site.web.rest.queries import Conflict
from ..models import Onboarding, OnboardingVersion, Qualification, TypedText
from ..rules.pages import ruled_round
from ..typing_signals import summaries, typing_of
from .actions import grant_qualification, save_version, withdraw_qualification
from .forms import GrantForm, OnboardingForm, WithdrawForm, fields_of
from .planning import onboarding_in, onboardings_of
from .reports import OnboardingPerson, StepCount, people_of, raters_of, step_counts
from .steps import state_of


class OnboardingInput(FormInput):
    """The guideline and steps of a first version; omitted steps are left out."""

    form = OnboardingForm
    left_out = ("keeps_qualifications",)


class OnboardingVersionInput(FormInput):
    """Changes for the next version; omitted fields stay as in the newest version."""

    form = OnboardingForm


class GrantInput(FormInput):
    """A member to admit without the steps of a version, and the reason."""

    form = GrantForm
    version = serializers.UUIDField(required=False, help_text="Default: the newest version.")


class WithdrawalInput(FormInput):
    """The reason for ending a qualification, and whether the person can repeat the steps."""

    form = WithdrawForm


class OnboardingSerializer(ReadSerializer):
    """An onboarding with the number of its newest version."""

    number = serializers.IntegerField()

    class Meta:
        model = Onboarding
        fields = ["id", "name", "number", "created_at"]


class OnboardingVersionSerializer(ReadSerializer):
    """A version with its guideline and steps; a round's ``onboarding`` is a version's ``id``."""

    steps = serializers.JSONField()

    class Meta:
        model = OnboardingVersion
        fields = ["id", "number", "text", "steps", "valid_days", "keeps_qualifications"]
        fields += ["created_at"]


class StepCountSerializer(DataSerializer):
    """The number of people who did a step of the newest version, by outcome."""

    shows = StepCount


class QualificationSerializer(ReadSerializer):
    """The qualification of a person who passed the steps of a version or was admitted."""

    rater = public_id("rater")
    version = public_id("version")
    state = serializers.SerializerMethodField(help_text="valid, expired or withdrawn")
    is_granted = serializers.BooleanField(
        source="granted_by_id", help_text="Whether a researcher admitted the person."
    )

    class Meta:
        model = Qualification
        fields = ["id", "rater", "version", "state", "is_granted", "reason", "granted_at"]
        fields += ["expires_at", "withdrawn_at", "withdrawal_reason"]

    def get_state(self, row: Qualification) -> str:
        """Return the state in the same words as the page."""
        return state_of(row)


class OnboardingPersonSerializer(serializers.Serializer[Any]):
    """A person with the newest outcome of each step; ``id`` is the id of the rater."""

    id = serializers.UUIDField(source="rater.public_id")
    name = serializers.CharField(source="rater.pseudonym")
    steps = serializers.SerializerMethodField()
    state = serializers.CharField(
        help_text="State of the newest qualification; empty if there is none."
    )

    def get_steps(self, person: OnboardingPerson) -> dict[str, str]:
        """Map each step to its outcome."""
        return {step: result.outcome for step, result in person.steps.items()}


class OnboardingViews(StudyViews):
    """The onboardings of a study."""

    queryset = Onboarding.objects.none()
    serializer_class = OnboardingSerializer

    def rows(self) -> QuerySet[Any]:
        """Return the rows, ordered by name."""
        return onboardings_of(self.study)

    @extend_schema(request=OnboardingInput, responses={201: OnboardingSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Create an onboarding with its first version."""
        form = OnboardingForm(_usual() | self.read(OnboardingInput), study=self.study)
        row = _saved(form, request).onboarding
        return self.shown(self.rows().get(pk=row.pk), 201)


def _usual() -> dict[str, Any]:
    """Return the default values of a version."""
    fields = OnboardingForm.base_fields.items()
    return {name: field.initial for name, field in fields if field.initial is not None}


def _saved(form: OnboardingForm, request: Request) -> OnboardingVersion:
    require_valid(form)
    return save_version(
        study=form.study,
        name=form.cleaned_data["name"],
        actor=request.user,
        onboarding=form.onboarding,
        **form.version_fields(),
    )


class OnboardingPartViews(StudyViews):
    """Views below ``onboarding/<onboarding_id>/``."""

    onboarding: Onboarding

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Find the onboarding in the study."""
        super().initial(request, *args, **kwargs)
        self.onboarding = onboarding_in(self.study, kwargs["onboarding_id"])

    @property
    def newest(self) -> OnboardingVersion:
        """Return the version with the highest number."""
        return self.onboarding.versions.select_related("onboarding__study")[0]


class OnboardingVersionViews(OnboardingPartViews):
    """The versions of an onboarding."""

    queryset = OnboardingVersion.objects.none()
    serializer_class = OnboardingVersionSerializer

    def rows(self) -> QuerySet[Any]:
        """Return the rows, newest first."""
        return self.onboarding.versions.all()

    @extend_schema(request=OnboardingVersionInput, responses={201: OnboardingVersionSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Create the next version from the newest version and the changes in the body."""
        body = self.read(OnboardingVersionInput, partial=True)
        body = _usual() | fields_of(self.newest) | body
        form = OnboardingForm(body, study=self.study, onboarding=self.onboarding)
        return self.shown(_saved(form, request), 201)


class OnboardingStepViews(OnboardingPartViews):
    """The outcomes of the steps in the newest version."""

    queryset = OnboardingVersion.objects.none()
    serializer_class = StepCountSerializer

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List counts for each step, in the order of the steps."""
        return self.listed(step_counts(self.newest))


class OnboardingPeopleViews(OnboardingPartViews):
    """People who did a step or have a qualification."""

    queryset = OnboardingVersion.objects.none()
    serializer_class = OnboardingPersonSerializer

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List people in the order of their arrival."""
        return self.listed(raters_of(self.onboarding), partial(people_of, self.onboarding))


class QualificationViews(OnboardingPartViews):
    """The qualifications of an onboarding."""

    queryset = Qualification.objects.none()
    serializer_class = QualificationSerializer

    def rows(self) -> QuerySet[Any]:
        """Return the rows, newest first."""
        rows = Qualification.objects.filter(version__onboarding=self.onboarding)
        return rows.select_related("version__onboarding__study", "rater").order_by("-pk")

    @extend_schema(request=GrantInput, responses={201: QualificationSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Let a member work without the steps; 409 if they are already qualified."""
        body = self.read(GrantInput)
        form = GrantForm(body, study=self.study)
        require_valid(form)
        rows = self.onboarding.versions.select_related("onboarding__study")
        named = {"public_id": body["version"]} if "version" in body else {}
        version = rows.filter(**named).first()
        if version is None:
            raise ValidationError({"version": ["This onboarding has no such version."]})
        membership = self.study.memberships.get(user=form.cleaned_data["person"])
        row = grant_qualification(
            version=version,
            rater=rater_for(membership=membership),
            actor=request.user,
            reason=form.cleaned_data["reason"],
        )
        if row is None:
            raise Conflict("This person is already qualified.")
        return self.shown(self.rows().get(pk=row.pk), 201)

    @extend_schema(request=WithdrawalInput, responses=QualificationSerializer)
    def withdraw(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """End a qualification; the person gets no more items until it is renewed."""
        row = self.find_row(public_id)
        body = self.read(WithdrawalInput)
        withdrawn = withdraw_qualification(
            qualification=row,
            actor=request.user,
            reason=body["reason"],
            can_repeat=body.get("can_repeat", False),
        )
        if withdrawn is None:
            raise Conflict("This qualification has already ended.")
        return self.shown(self.rows().get(pk=row.pk))


class TypingSerializer(serializers.Serializer[Any]):
    """Typing counts for a person's texts in a round; ``id`` is the id of the rater."""

    id = serializers.UUIDField(source="rater.public_id")
    name = serializers.CharField(source="rater.pseudonym")
    texts = serializers.IntegerField()
    typed = serializers.IntegerField(help_text="Characters typed with single keys.")
    pasted = serializers.IntegerField(help_text="Characters pasted from the clipboard.")
    inserted = serializers.IntegerField(help_text="Characters entered by dictation or completion.")
    pastes = serializers.IntegerField()
    seconds = serializers.FloatField(
        help_text="Time between keys, without pauses longer than two seconds."
    )
    pasted_share = serializers.FloatField(allow_null=True)
    speed = serializers.FloatField(allow_null=True, help_text="Characters per second.")
    traps = serializers.IntegerField(help_text="Number of texts with the hidden field filled in.")
    signals = serializers.ListField(child=serializers.CharField())


class TypingViews(StudyViews):
    """Typing counts for a round whose consent form covers the recording of typing."""

    queryset = TypedText.objects.none()
    serializer_class: Any = TypingSerializer

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List people in the order of their arrival."""
        return self.listed(typing_of(ruled_round(self.study, kwargs["any_round_id"])), summaries)

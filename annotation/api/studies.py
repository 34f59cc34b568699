"""Who the token belongs to, their studies, and what a study holds: sentences, guidelines, work."""

from typing import Any

from django.db.models import QuerySet
from django.forms import model_to_dict
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.actions.guidelines import save_version
from annotation.models import Argument, Comparison, Guideline
from annotation.models.scales import ScaleNotValid
from cqa_site.api.requests import Request
from cqa_site.api.views import AdminViews, PersonViews, StudyViews
from cqa_site.people.access import memberships_of
from cqa_site.people.actions.studies import change_study, create_study
from cqa_site.people.forms import StudyForm
from cqa_site.people.models import Membership
from cqa_site.runs.models import Job
from cqa_site.web.problems import invalid_on

from . import filters, inputs, serializers


class MeView(APIView):
    """The person and the token behind this request."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=serializers.MeSerializer, operation_id="me")
    def get(self, request: Request) -> Response:
        """Who am I."""
        person = request.user
        person.token = request.auth
        return Response(serializers.MeSerializer(person).data)


class StudyNameViews(PersonViews):
    """The studies this person is a member of."""

    queryset = Membership.objects.none()
    serializer_class = serializers.StudyNameSerializer

    def list(self, request: Request) -> Response:
        """Names and own roles; nothing else, whatever the role."""
        return self.listed(memberships_of(request.user).order_by("study__name", "pk"))

    @extend_schema(request=inputs.StudyInput, responses={201: serializers.StudySerializer})
    def create(self, request: Request) -> Response:
        """Open a study; site administrators only, who become its first admin."""
        if not (request.user.is_staff or request.user.is_superuser):
            raise PermissionDenied("Only site administrators may open a study.")
        form = StudyForm(self.read(inputs.StudyInput))
        inputs.require_valid(form)
        study = create_study(actor=request.user, **form.cleaned_data)
        return Response(serializers.StudySerializer(study).data, status=201)


class StudyDetailViews(AdminViews):
    """One study."""

    queryset = Membership.objects.none()
    serializer_class = serializers.StudySerializer

    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Name, description and when it was made."""
        return self.shown(self.study)

    @extend_schema(request=inputs.StudyInput, responses=serializers.StudySerializer)
    def partial_update(self, request: Request, **kwargs: Any) -> Response:
        """Change name or description; what is left out keeps its value."""
        given = self.read(inputs.StudyInput, partial=True)
        form = StudyForm(model_to_dict(self.study, fields=StudyForm.Meta.fields) | given)
        inputs.require_valid(form)
        change_study(study=self.study, actor=request.user, **form.cleaned_data)
        return self.shown(self.study)


class ComparisonViews(StudyViews):
    """The pairs of objects of a study."""

    queryset = Comparison.objects.none()
    serializer_class = serializers.ComparisonSerializer
    filterset_class = filters.ComparisonFilter

    def rows(self) -> QuerySet:
        """Comparisons by object."""
        return self.study.comparisons.all()


class ArgumentViews(StudyViews):
    """The sentences of a study."""

    queryset = Argument.objects.none()
    serializer_class = serializers.ArgumentSerializer
    filterset_class = filters.ArgumentFilter

    def rows(self) -> QuerySet:
        """Arguments in the order they came in."""
        return self.study.arguments.select_related("comparison", "origin").order_by("pk")


class GuidelineViews(StudyViews):
    """The versions of the guideline."""

    queryset = Guideline.objects.none()
    serializer_class = serializers.GuidelineSerializer

    def rows(self) -> QuerySet:
        """Newest version first."""
        return self.study.guidelines.all()

    @extend_schema(request=inputs.GuidelineInput, responses={201: serializers.GuidelineSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Write the next version."""
        given = self.read(inputs.GuidelineInput)
        with invalid_on("levels", ScaleNotValid):
            version = save_version(study=self.study, actor=request.user, **given)
        return self.shown(version, 201)


class JobViews(StudyViews):
    """Background work of a study."""

    queryset = Job.objects.none()
    serializer_class = serializers.JobSerializer
    filterset_class = filters.JobFilter

    def rows(self) -> QuerySet:
        """Newest first."""
        return self.study.jobs.order_by("-created_at", "-pk")


@extend_schema(exclude=True)
class UnknownAddress(APIView):
    """Every other address: the same 404 as for a study nobody may see."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Answer whatever the method is."""
        super().initial(request, *args, **kwargs)
        raise NotFound

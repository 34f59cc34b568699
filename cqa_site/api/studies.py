"""Who the token belongs to, and their studies."""

from typing import Any

from django.forms import model_to_dict
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView

from cqa_site.api.bodies import MeSerializer, StudyInput, StudyNameSerializer, StudySerializer
from cqa_site.api.inputs import require_valid
from cqa_site.api.requests import AnyRequest, Request
from cqa_site.api.views import AdminViews, PersonViews
from cqa_site.people.access import may_open_studies, memberships_of
from cqa_site.people.actions.studies import change_study, create_study
from cqa_site.people.forms import StudyForm
from cqa_site.people.models import Membership


class MeView(APIView):
    """The person and the token behind this request."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=MeSerializer, operation_id="me")
    def get(self, request: Request) -> Response:
        """Who am I."""
        person = request.user
        vars(person).update(token=request.auth)
        return Response(MeSerializer(person).data)


class StudyNameViews(PersonViews):
    """The studies this person is a member of."""

    queryset = Membership.objects.none()
    serializer_class = StudyNameSerializer

    def list(self, request: Request) -> Response:
        """Names and own roles; nothing else, whatever the role."""
        return self.listed(memberships_of(request.user).order_by("study__name", "pk"))

    @extend_schema(request=StudyInput, responses={201: StudySerializer})
    def create(self, request: Request) -> Response:
        """Open a study, for those who may on this site; they become its first admin."""
        if not may_open_studies(request.user):
            raise PermissionDenied("Only people who may open studies on this site can do that.")
        form = StudyForm(self.read(StudyInput))
        require_valid(form)
        study = create_study(actor=request.user, **form.cleaned_data)
        return Response(StudySerializer(study).data, status=201)


class StudyDetailViews(AdminViews):
    """One study."""

    queryset = Membership.objects.none()
    serializer_class = StudySerializer

    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Name, description and when it was made."""
        return self.shown(self.study)

    @extend_schema(request=StudyInput, responses=StudySerializer)
    def partial_update(self, request: Request, **kwargs: Any) -> Response:
        """Change name or description; what is left out keeps its value."""
        given = self.read(StudyInput, partial=True)
        form = StudyForm(model_to_dict(self.study, fields=StudyForm.Meta.fields) | given)
        require_valid(form)
        change_study(study=self.study, actor=request.user, **form.cleaned_data)
        return self.shown(self.study)


@extend_schema(exclude=True)
class UnknownAddress(APIView):
    """Every other address: the same 404 as for a study nobody may see."""

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Answer whatever the method is."""
        super().initial(request, *args, **kwargs)
        raise NotFound

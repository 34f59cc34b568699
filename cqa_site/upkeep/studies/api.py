"""REST API for changing, archiving, restoring and deleting a study."""

from typing import Any

from django.forms import model_to_dict
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from cqa_site.api.base import CHANGE, AdminViews, NothingInput, Request, S, address, require_valid
from cqa_site.api.studies import DeletionInput, DeletionSerializer, StudyInput, StudySerializer
from cqa_site.people.actions import change_study
from cqa_site.people.forms import StudyForm
from cqa_site.people.models import Membership
from cqa_site.web.rest.queries import conflict_on
from .deletion import NotArchived, StudyBusy, archive_study, delete_study, unarchive_study
from .views import StudyNameForm


class StudyDetailViews(AdminViews):
    """API views of one study."""

    queryset = Membership.objects.none()
    serializer_class = StudySerializer
    in_archive = ("archive", "unarchive", "destroy")

    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return the name, description and creation date."""
        return self.shown(self.study)

    @extend_schema(request=StudyInput, responses=StudySerializer)
    def partial_update(self, request: Request, **kwargs: Any) -> Response:
        """Change the name or description; omitted fields keep their values."""
        body = self.read(StudyInput, partial=True)
        form = StudyForm(model_to_dict(self.study, fields=StudyForm.Meta.fields) | body)
        require_valid(form)
        change_study(study=self.study, actor=request.user, **form.cleaned_data)
        return self.shown(self.study)

    @extend_schema(request=NothingInput, responses=StudySerializer)
    def archive(self, request: Request, **kwargs: Any) -> Response:
        """Archive the study, so that nothing in it can change; return 409 if work is active."""
        self.read(NothingInput)
        with conflict_on(StudyBusy):
            archive_study(study=self.study, actor=request.user)
        return self.shown(self.study)

    @extend_schema(request=NothingInput, responses=StudySerializer)
    def unarchive(self, request: Request, **kwargs: Any) -> Response:
        """Restore an archived study."""
        self.read(NothingInput)
        unarchive_study(study=self.study, actor=request.user)
        return self.shown(self.study)

    @extend_schema(request=DeletionInput, responses={202: DeletionSerializer})
    def destroy(self, request: Request, **kwargs: Any) -> Response:
        """Delete an archived study permanently in the background; the body is ``{"name": …}``."""
        form = StudyNameForm(self.read(DeletionInput), study=self.study)
        require_valid(form)
        with conflict_on(NotArchived, StudyBusy):
            job = delete_study(study=self.study, actor=request.user)
        return Response({"page": reverse("study_deletion", args=[job.public_id])}, status=202)


urlpatterns = [
    address(S, "study", StudyDetailViews, **CHANGE, delete="destroy"),
    address(S + "archive/", "study_archive", StudyDetailViews, post="archive"),
    address(S + "unarchive/", "study_unarchive", StudyDetailViews, post="unarchive"),
]

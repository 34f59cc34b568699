"""Several runs of answers in one launch: estimated, started, watched and steered together."""

import uuid
from typing import Any

from django.db.models import Prefetch, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from annotation.generation.actions import launches as actions
from annotation.generation.api.bodies import LaunchEstimateSerializer, LaunchSerializer
from annotation.generation.api.inputs import LaunchChangeInput, LaunchInput
from annotation.generation.api.starts import matrix_form
from annotation.generation.forms.matrix import MatrixForm
from annotation.generation.models import GenerationLaunch, GenerationRun
from cqa_site.api.inputs import require_valid
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.runs.actions.runs import RunRefused
from cqa_site.web.rest.problems import conflict_on

LAUNCH = LaunchSerializer


class LaunchViews(StudyViews):
    """The launches of a study, each with its runs."""

    queryset = GenerationLaunch.objects.none()
    serializer_class = LAUNCH

    def rows(self) -> QuerySet:
        """Newest first."""
        found = self.study.generation_launches.select_related("budget")
        generations = GenerationRun.objects.select_related("run", "condition").order_by("run")
        return found.prefetch_related(Prefetch("generations", generations))

    @extend_schema(request=LaunchInput, responses={201: LAUNCH})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Start one run for each combination; the same launch under way comes back instead."""
        matrix = self._form().matrix
        with conflict_on(RunRefused):
            made = actions.start_launch(study=self.study, actor=request.user, matrix=matrix)
        return self._told(made.public_id, 201)

    @extend_schema(request=LaunchInput, responses=LaunchEstimateSerializer)
    def estimate(self, request: Request, **kwargs: Any) -> Response:
        """What all runs would take together. Nothing is stored or sent."""
        matrix = self._form().matrix
        found = actions.estimate_matrix(self.study, matrix)
        cap, total = matrix.cap_micro, found.total
        shown = {
            "runs": len(matrix.plans),
            "folded": matrix.folded,
            "empty": found.empty,
            "requests": total.requests,
            "tokens_in": total.tokens_in,
            "tokens_out": total.tokens_out,
            "cost_micro": total.cost_micro,
            "is_sampled": found.is_sampled,
            "passes_cap": cap is not None and total.cost_micro > cap,
        }
        return Response(LaunchEstimateSerializer(shown).data)

    @extend_schema(request=LaunchChangeInput, responses=LAUNCH)
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change the cap of all runs together, or move all that can be moved."""
        launch = get_object_or_404(self.get_queryset(), public_id=public_id)
        given = self.read(LaunchChangeInput, partial=True)
        if "cap_micro" in given:
            actions.set_launch_cap(launch=launch, actor=request.user, cap_micro=given["cap_micro"])
        if "move" in given:
            actions.steer(launch=launch, actor=request.user, move=given["move"])
        return self._told(public_id)

    def _told(self, public_id: uuid.UUID, status: int = 200) -> Response:
        return self.shown(self.get_queryset().get(public_id=public_id), status)

    def _form(self) -> MatrixForm:
        """The page's form, so that both know the same rules; raises 400."""
        given = self.read(LaunchInput)
        form = matrix_form(self.study, self.request.user, given)
        require_valid(form)
        return form

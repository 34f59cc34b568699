"""Runs in the REST API: plan, start, control, calls and replies."""

import uuid
from collections.abc import Callable, Iterable
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from cqa_site.api.base import AnyRequest, NothingInput, Request, StudyViews, require_valid
from cqa_site.runs.actions import corrections, runs as actions
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.runs.kinds import KINDS, RunStart, kind_of
from cqa_site.runs.models import Attempt, Call, Job, Run
from cqa_site.runs.planning import asked_again, estimate_run
from cqa_site.runs.progress import add_counts, planning_job, progress_of, state_in_words
from cqa_site.web.rest.queries import conflict_on
from . import bodies, run_bodies

# Runs of every kind: estimate, start, progress and control
#
# The form of the page validates the request.


def _bodies() -> dict[str, Any]:
    return {name: kind.start().body for name, kind in KINDS.items()}


BODY = PolymorphicProxySerializer(
    component_name="AnyRunInput", serializers=_bodies, resource_type_field_name="kind"
)
RUN = run_bodies.RunDetailSerializer
STARTED = {200: RUN, 201: RUN}


class RunViews(StudyViews):
    """The runs of a study, such as those of judges and of models that write answers."""

    serializer_class = run_bodies.RunSerializer
    filterset_class = bodies.RunFilter

    def rows(self) -> QuerySet[Run]:
        """Return the rows, newest first."""
        needed = [path for kind in KINDS.values() for path in kind.related]
        return self.study.runs.select_related(
            "study", "endpoint", "prompt", "budget", "created_by", *needed
        )

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List runs, one page at a time, with the numbers of ended requests."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset())) or []
        add_counts(page)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(responses=RUN)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return one run with its progress, pre-flight, flags and plan."""
        return self._told(self._run(public_id))

    @extend_schema(request=BODY, responses=STARTED)
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Start a run (201), or return the run that already has the same plan (200)."""
        plan = self._form().plan
        return self._started(
            lambda: actions.start_run(study=self.study, actor=request.user, plan=plan)
        )

    @extend_schema(request=BODY, responses=run_bodies.EstimateSerializer)
    def estimate(self, request: Request, **kwargs: Any) -> Response:
        """Estimate the requests, tokens and cost of a run. Nothing is stored or sent."""
        plan = self._form().plan
        forecast, is_sampled = estimate_run(actions.draft(plan, self.study))
        payload = {
            "requests": forecast.requests,
            "tokens_in": forecast.tokens_in,
            "tokens_out": forecast.tokens_out,
            "cost_micro": forecast.cost_micro,
            "most_micro": forecast.most_micro,
            "is_sampled": is_sampled,
            "passes_cap": plan.cap_micro is not None and forecast.cost_micro > plan.cap_micro,
        }
        return Response(run_bodies.EstimateSerializer(payload).data)

    @extend_schema(request=bodies.LimitsInput, responses=RUN)
    @transaction.atomic
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change the spending cap and the maximum requests in flight."""
        run = self._run(public_id)
        body = self.read(bodies.LimitsInput, partial=True)
        if "cap_micro" in body:
            actions.set_cap(run=run, actor=request.user, cap_micro=body["cap_micro"])
        if "ceiling" in body:
            actions.set_ceiling(run=run, actor=request.user, ceiling=body["ceiling"])
        return self._told(run)

    @extend_schema(request=NothingInput, responses=RUN)
    def go_on(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Send the remaining requests after the pre-flight, or try again to prepare a draft."""
        return self._moved(public_id, actions.go_on)

    @extend_schema(request=NothingInput, responses=RUN)
    def pause(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Pause the run; requests in flight are still completed."""
        return self._moved(public_id, actions.pause_run)

    @extend_schema(request=NothingInput, responses=RUN)
    def resume(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Resume the run where it stopped."""
        return self._moved(public_id, actions.resume_run)

    @extend_schema(request=NothingInput, responses=RUN)
    def cancel(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Cancel the run permanently; replies that still arrive are kept."""
        return self._moved(public_id, actions.cancel_run)

    @extend_schema(request=bodies.CorrectionInput, responses=RUN)
    def correct(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Correct refused parameters of a paused run and resume it."""
        run = self._run(public_id)
        body = self.read(bodies.CorrectionInput)
        first = corrections.suggested(run)
        correction = (
            first
            if not body
            else corrections.Correction(
                tuple(body.get("leave_out", ())),
                body.get("token_parameter", ""),
                body.get("values", {}),
            )
        )
        with conflict_on(actions.RunRefused):
            corrections.correct_run(run=run, actor=request.user, correction=correction)
        return self._told(run)

    @extend_schema(request=bodies.RetryInput, responses=RUN)
    def retry(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Retry unscored requests, either all or those with certain reasons."""
        run = self._run(public_id)
        reasons = self.read(bodies.RetryInput)["reasons"]
        with conflict_on(actions.RunRefused):
            actions.retry_unscored(run=run, actor=request.user, reasons=reasons)
        return self._told(run)

    @extend_schema(request=NothingInput, responses=STARTED)
    def again(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Start the same plan as a new run, with fresh answers."""
        run = self._run(public_id)
        self.read(NothingInput)
        return self._started(lambda: actions.run_again(run=run, actor=request.user))

    def _run(self, public_id: uuid.UUID) -> Run:
        return get_object_or_404(self.rows(), public_id=public_id)

    def _moved(self, public_id: uuid.UUID, move: Callable[..., None]) -> Response:
        run = self._run(public_id)
        self.read(NothingInput)
        with conflict_on(actions.RunRefused):
            move(run=run, actor=self.request.user)
        return self._told(run)

    def _started(self, start: Callable[[], Run]) -> Response:
        with conflict_on(actions.RunRefused):
            run = start()
        return self._told(run, 200 if run.was_there else 201)

    def _told(self, run: Run, status: int = 200) -> Response:
        """Return all data on a run in its current state."""
        run = self.get_queryset().get(pk=run.pk)
        progress = progress_of(run)
        run.done, run.unscored = progress.done, progress.unscored
        run.cancelled = progress.cancelled
        words = {"message": state_in_words(run), "planning_error": planning_error(run)}
        vars(run).update(words, progress=progress)
        return Response(RUN(run).data, status=status)

    def _form(self) -> RunPlanForm:
        """Return the page's form for the kind in the body; raises 400."""
        start = start_of(self.request.data)
        body = self.read(start.body)
        del body["kind"]
        form: RunPlanForm = start.form(self.study, self.request.user, body)
        require_valid(form)
        return form


def start_of(data: Any) -> RunStart:
    """Return the `Start` for the kind in a body, or for the first kind if the body has none."""
    first = next(iter(KINDS))
    kind = data.get("kind", first) if isinstance(data, dict) else first
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValidationError({"kind": [f"One of {', '.join(KINDS)}."]})
    return KINDS[kind].start()


def planning_error(run: Run) -> str:
    """Return the reason why a draft could not be prepared; otherwise empty."""
    job = planning_job(run) if run.state == Run.State.DRAFT else None
    return job.error if job and job.state == Job.State.FAILED else ""


class RunPartViews(StudyViews):
    """Addresses below ``runs/<run_id>/``."""

    run: Run

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Find the run in the study."""
        super().initial(request, *args, **kwargs)
        runs = self.study.runs.select_related("endpoint", "prompt", "study")
        self.run = get_object_or_404(runs, public_id=kwargs["run_id"])


class CallViews(RunPartViews):
    """The requests of a run."""

    serializer_class = run_bodies.CallSerializer
    filterset_class = bodies.CallFilter

    def rows(self) -> QuerySet[Call]:
        """Return the requests in the order in which they are sent."""
        return self.run.calls.order_by("position")

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List requests, one page at a time, with the ids of their items."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset())) or []
        add_told(self.run, page)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(responses=run_bodies.CallDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return one request: exact text, every attempt, raw replies, and parsed result."""
        calls = self.get_queryset().prefetch_related("attempts__reply")
        call = get_object_or_404(calls, public_id=public_id)
        call.run = self.run
        add_told(self.run, [call])
        call.asked = asked_again(self.run, call)
        return Response(run_bodies.CallDetailSerializer(call).data)


class ReplyViews(RunPartViews):
    """Replies to the requests of a run."""

    serializer_class = run_bodies.CallReplySerializer
    filterset_class = bodies.ReplyFilter

    def rows(self) -> QuerySet[Attempt]:
        """Return replies in the order of their requests, without the full response bodies."""
        replied = Attempt.objects.filter(call__run=self.run, reply__isnull=False)
        return replied.select_related("call", "reply").defer("reply__body").order_by("pk")


def add_told(run: Run, calls: Iterable[Call]) -> None:
    """Add the fields of the run's kind to its requests, if the kind's app is installed."""
    if run.kind in KINDS:
        kind_of(run).told().add_to_calls(run, calls)

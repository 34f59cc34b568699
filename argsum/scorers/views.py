"""Pages of scorers: list, new scorer by name or training, and one scorer with its card."""

import uuid
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from argsum.scorers.actions import training
from argsum.scorers.actions.encoders import EncoderUnavailable, encoder_states, request_encoder
from argsum.scorers.actions.models import ScorerRefused
from argsum.scorers.actions.scorers import add_scorer, first_scorers, request_try
from argsum.scorers.forms import (
    ScorerForm,
    TrainForm,
    TrainingRecipeForm,
    TryForm,
    WriterTrainForm,
)
from argsum.scorers.models import Scorer
from argsum.scorers.reports import (
    curve_rows,
    curve_spec,
    curve_table,
    scorers_of,
    shown_state,
    split_rows,
)
from cqa_site.judging.encoders import ENCODERS
from cqa_site.people.access import RESEARCHERS, StudyRequest, is_administrator, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.runs.jobs import is_worker_alive

PER_PAGE = 50


@study_page(*RESEARCHERS, only="GET")
def scorers(request: StudyRequest, study: Study) -> HttpResponse:
    """List the scorers, first creating the default scorers if they are missing."""
    first_scorers(study)
    page = Paginator(scorers_of(study), PER_PAGE).get_page(request.GET.get("page"))
    for scorer in page:
        vars(scorer).update(shown_state=shown_state(scorer))
    return _shown(request, study, "scorers", page=page, **_encoders(request))


@study_page(*RESEARCHERS, only="GET")
def encoders_state(request: StudyRequest, study: Study) -> HttpResponse:
    """Return the table of optional encoders, which polls only during a download."""
    return _shown(request, study, "_encoders", **_encoders(request))


@study_page(*RESEARCHERS, only="POST")
def encoder_install(request: StudyRequest, study: Study, encoder: str) -> HttpResponse:
    """Download an encoder in the background; only for site administrators."""
    if encoder not in ENCODERS:
        raise Http404
    try:
        request_encoder(study=study, encoder=ENCODERS[encoder], actor=request.user)
    except EncoderUnavailable as reason:
        messages.error(request, str(reason))
    response = redirect("scorers", study.public_id)
    response["Location"] += "#encoders"
    return response


def _encoders(request: StudyRequest) -> dict[str, Any]:
    """Return the context for the table of optional encoders."""
    states = encoder_states()
    is_polling = any(state.is_fetching for state in states)
    return {
        "encoders": states,
        "is_polling": is_polling,
        "may_install": is_administrator(request.user),
        "worker_alive": is_worker_alive() if is_polling else None,
    }


@study_page(*RESEARCHERS)
def scorer_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Add a scorer that needs no training."""
    form = ScorerForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            scorer = add_scorer(study=study, actor=request.user, **form.wanted())
        except ScorerRefused as reason:
            form.add_error(None, str(reason))
        else:
            return _to(scorer)
    return _shown(request, study, "scorer_new", form=form)


@study_page(*RESEARCHERS)
def scorer_train(request: StudyRequest, study: Study) -> HttpResponse:
    return _trained(request, study, TrainForm, "scorer_train")


@study_page(*RESEARCHERS)
def writer_train(request: StudyRequest, study: Study) -> HttpResponse:
    """Train a writer of key points in the background."""
    return _trained(request, study, WriterTrainForm, "writer_train")


def _trained(
    request: StudyRequest, study: Study, form_type: type[TrainingRecipeForm], page: str
) -> HttpResponse:
    """Start training if the form is valid, or show the form again."""
    form = form_type(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        try:
            return _to(
                training.request_training(study=study, actor=request.user, **form.request())
            )
        except ScorerRefused as reason:
            form.add_error(None, str(reason))
    has_datasets = study.argument_datasets.exists()
    return _shown(request, study, page, form=form, has_datasets=has_datasets)


@study_page(*RESEARCHERS, only="GET")
def scorer(request: StudyRequest, study: Study, scorer_id: uuid.UUID) -> HttpResponse:
    """Show one scorer with its figures, training and card, and a form to try it."""
    return _scorer_page(request, study, _scorer(study, scorer_id))


@study_page(*RESEARCHERS, only="POST")
def scorer_try(request: StudyRequest, study: Study, scorer_id: uuid.UUID) -> HttpResponse:
    """Score the entered texts in a worker; the page then shows the result."""
    row = _scorer(study, scorer_id)
    form = TryForm(request.POST, scorer=row)
    if not form.is_valid():
        return _scorer_page(request, study, row, form=form, status=422)
    texts = {"first": "", "second": "", "topic": ""} | form.cleaned_data
    try:
        job = request_try(scorer=row, actor=request.user, **texts)
    except ScorerRefused as reason:
        form.add_error(None, str(reason))
        return _scorer_page(request, study, row, form=form, status=422)
    # The job may already be finished if it runs inline.
    job.refresh_from_db()
    return _scorer_page(request, study, row, form=form, try_job=job)


@study_page(*RESEARCHERS, only="POST")
def scorer_cancel(request: StudyRequest, study: Study, scorer_id: uuid.UUID) -> HttpResponse:
    """Stop a training run; its checkpoint is kept."""
    row = _scorer(study, scorer_id)
    if training.cancel_training(scorer=row, actor=request.user):
        messages.success(request, _("Training was cancelled. You can resume it later."))
    else:
        messages.error(request, _("No training is in progress."))
    return _to(row)


@study_page(*RESEARCHERS, only="POST")
def scorer_resume(request: StudyRequest, study: Study, scorer_id: uuid.UUID) -> HttpResponse:
    """Resume a training run."""
    row = _scorer(study, scorer_id)
    try:
        training.resume_training(scorer=row, actor=request.user)
    except ScorerRefused as reason:
        messages.error(request, str(reason))
    return _to(row)


@study_page(*RESEARCHERS, only="POST")
def scorer_delete(request: StudyRequest, study: Study, scorer_id: uuid.UUID) -> HttpResponse:
    row = _scorer(study, scorer_id)
    try:
        training.delete_scorer(scorer=row, actor=request.user)
    except ScorerRefused as reason:
        messages.error(request, str(reason))
        return _to(row)
    messages.success(request, _("The scorer was deleted."))
    return redirect("scorers", study.public_id)


@study_page(*RESEARCHERS, only="GET")
def scorer_figure(
    request: StudyRequest, study: Study, scorer_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send the training curve as an image or a table."""
    return figure_file(request, _curves(_scorer(study, scorer_id)), figure, format)


def _curves(row: Scorer) -> list[Figure]:
    """Return the training curve, which is empty if there were no dev checks."""
    if not (rows := curve_rows(row)):
        return []
    return [
        Figure(
            slug="curve",
            title=_("Training"),
            recipe=_(
                "Average precision: how consistently pairs of arguments with the same key point "
                "rank above others, mean over cells. It was used to choose the weights. ARI: "
                "best threshold for each cell (oracle)."
            ),
            table=curve_table(row),
            alt=_(
                "Average precision on the dev split by number of batches; the table below has the "
                "numbers."
            ),
            draw=partial(curve_spec, rows),
            body="argsum/scorers/_curve.html",
            data=rows,
            files=Files(
                view="scorer_figure",
                ids=(row.study.public_id, row.public_id),
                version=row.sha256[:16],
            ),
        )
    ]


def _can_be_tried(row: Scorer, state: str) -> bool:
    return state == Scorer.State.READY and row.task != Scorer.Task.WRITE


def _scorer_page(
    request: StudyRequest,
    study: Study,
    row: Scorer,
    *,
    form: TryForm | None = None,
    try_job=None,
    status: int = 200,
) -> HttpResponse:
    state = shown_state(row)
    return _shown(
        request,
        study,
        "scorer",
        status,
        scorer=row,
        state=state,
        splits=split_rows(row),
        cards=_curves(row),
        form=form or (TryForm(scorer=row) if _can_be_tried(row, state) else None),
        job=row.job,
        try_job=try_job,
        worker_alive=is_worker_alive(),
    )


def _shown(
    request: StudyRequest, study: Study, page_name: str, status: int = 200, **context
) -> HttpResponse:
    form = context.get("form")
    if form is not None and form.errors:
        status = 422
    context |= {"study": study}
    return render(request, f"argsum/scorers/{page_name}.html", context, status=status)


def _scorer(study: Study, scorer_id: uuid.UUID) -> Scorer:
    rows = study.scorers.select_related("study", "job", "trained_on", "created_by")
    return get_object_or_404(rows, public_id=scorer_id)


def _to(row: Scorer) -> HttpResponse:
    return redirect("scorer", row.study.public_id, row.public_id)


BASE = "key-points/scorers"
ONE = f"{BASE}/<uuid:scorer_id>"
urlpatterns = [
    path(f"{BASE}/", scorers, name="scorers"),
    path(f"{BASE}/new/", scorer_new, name="scorer_new"),
    path(f"{BASE}/encoders/", encoders_state, name="encoders_state"),
    path(f"{BASE}/encoders/<slug:encoder>/install/", encoder_install, name="encoder_install"),
    path(f"{BASE}/train/", scorer_train, name="scorer_train"),
    path(f"{BASE}/train-writer/", writer_train, name="writer_train"),
    path(f"{ONE}/", scorer, name="scorer"),
    path(f"{ONE}/try/", scorer_try, name="scorer_try"),
    path(f"{ONE}/cancel/", scorer_cancel, name="scorer_cancel"),
    path(f"{ONE}/resume/", scorer_resume, name="scorer_resume"),
    path(f"{ONE}/delete/", scorer_delete, name="scorer_delete"),
    path(f"{ONE}/<slug:figure>.<str:format>", scorer_figure, name="scorer_figure"),
]

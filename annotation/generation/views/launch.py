"""The page of a launch: its runs with their state, and what can be done with all of them."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from annotation.generation.actions.launches import (
    MOST_RUNS,
    MOVES,
    runs_of_launch,
    set_launch_cap,
    steer,
)
from annotation.generation.models import GenerationLaunch
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.forms.endpoints import CapForm
from cqa_site.runs.models import Run
from cqa_site.runs.progress import add_counts


@study_page(*RESEARCHERS)
@require_safe
def generation_launch(request: StudyRequest, study: Study, launch_id: uuid.UUID) -> HttpResponse:
    """List the runs of a launch with their state."""
    launch = _launch(study, launch_id)
    return render(request, "annotation/generation/launch.html", _context(study, launch))


@study_page(*RESEARCHERS)
@require_safe
def generation_launch_progress(
    request: StudyRequest, study: Study, launch_id: uuid.UUID
) -> HttpResponse:
    """Return the fragment that is asked for again while something runs."""
    context = _context(study, _launch(study, launch_id))
    return render(request, "annotation/generation/_launch.html", context)


@study_page(*RESEARCHERS)
@require_POST
def generation_launch_move(
    request: StudyRequest, study: Study, launch_id: uuid.UUID, move: str
) -> HttpResponse:
    """Go on with, pause, resume or cancel all runs that can be."""
    launch = _launch(study, launch_id)
    done, refused = steer(launch=launch, actor=request.user, move=move)
    text = ngettext("Done with %d run.", "Done with %d runs.", done) % done
    if refused:
        text = f"{text} {_('It was refused for %d.') % refused}"
    messages.success(request, text)
    return redirect("generation_launch", study.public_id, launch.public_id)


@study_page(*RESEARCHERS)
@require_POST
def generation_launch_cap(
    request: StudyRequest, study: Study, launch_id: uuid.UUID
) -> HttpResponse:
    """Change what all runs may spend together."""
    launch = _launch(study, launch_id)
    form = CapForm(request.POST)
    if form.is_valid():
        set_launch_cap(launch=launch, actor=request.user, cap_micro=form.cleaned_data["cap"])
        return redirect("generation_launch", study.public_id, launch.public_id)
    context = _context(study, launch) | {"form": form}
    return render(request, "annotation/generation/launch.html", context, status=422)


def _launch(study: Study, launch_id: uuid.UUID) -> GenerationLaunch:
    launches: QuerySet[GenerationLaunch] = study.generation_launches.select_related(
        "budget", "created_by"
    )
    return get_object_or_404(launches, public_id=launch_id)


def _context(study: Study, launch: GenerationLaunch) -> dict[str, Any]:
    runs = Paginator(runs_of_launch(launch), MOST_RUNS).get_page(1)
    add_counts(runs)
    states = {run.state for run in runs}
    return {
        "study": study,
        "launch": launch,
        "runs": runs,
        "ended": sum(run.ended for run in runs),
        "planned": sum(run.planned for run in runs),
        "is_active": bool(states & {*Run.WORKING, Run.State.DRAFT}),
        "moves": [(move, MOVE_NAMES[move]) for move in MOVES if states & MOVES[move][1]],
        "form": CapForm.at(launch.budget.cap_micro),
    }


MOVE_NAMES = {
    "go": lazy("Go on with all that wait"),
    "pause": lazy("Pause all"),
    "resume": lazy("Resume all"),
    "cancel": lazy("Cancel all"),
}
PLACE = "generation/launches/<uuid:launch_id>/"
urlpatterns = [
    path(PLACE, generation_launch, name="generation_launch"),
    path(f"{PLACE}progress/", generation_launch_progress, name="generation_launch_progress"),
    path(f"{PLACE}cap/", generation_launch_cap, name="generation_launch_cap"),
    *(
        path(
            f"{PLACE}{move}/",
            generation_launch_move,
            {"move": move},
            name=f"generation_launch_{move}",
        )
        for move in MOVES
    ),
]

"""The coherence judge: its runs, the page of one, and the verdicts behind a share."""

import uuid
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Avg, Count, IntegerField
from django.db.models.functions import Cast
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from annotation.answers.models.answers import Answer
from annotation.answers.reports.conditions import ALL, names_of, used_conditions
from annotation.faithfulness.actions.coherence_judge import KIND
from annotation.faithfulness.actions.coherence_texts import (
    count_other_conditions,
    has_citations,
    without_figures,
)
from annotation.faithfulness.forms import CoherenceForm
from annotation.faithfulness.reports.coherence_rows import (
    Wanted,
    shown,
    verdicts_of,
    verdicts_table,
)
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.files import table_file
from cqa_site.runs.forms.plan import PlanForm
from cqa_site.runs.models import Run
from cqa_site.runs.views.context import run_context
from cqa_site.runs.views.face import PER_PAGE, Part, RunFace, Taken, run_urls


def _taken(study: Study, form: PlanForm, requests: int) -> Taken:
    """One request for each citation, and texts that are left out for their condition."""
    n = count_other_conditions(study, form.target)
    words = ngettext(
        "%(n)s text is left out because its answer was written under another condition.",
        "%(n)s texts are left out because their answers were written under other conditions.",
        n,
    )
    notes = [words % {"n": f"{n:,}"}] if n else []
    return Taken([(lazy("Requests, one for each citation and reply"), requests)], notes)


def _left_out(study: Study) -> str:
    """How many answers no run can judge yet."""
    n = without_figures(study)
    words = ngettext(
        "%(n)s answer is left out: its citations are not known yet.",
        "%(n)s answers are left out: their citations are not known yet.",
        n,
    )
    return words % {"n": f"{n:,}"} if n else ""


FACE = RunFace(
    kind=KIND,
    name="coherence",
    form=CoherenceForm,
    parts=(
        Part(
            lazy("Whose citations"),
            (("texts",), ("systems", "scenarios"), ("conditions",), ("sample", "replicates")),
        ),
    ),
    has_things=has_citations,
    left_out=_left_out,
    taken=_taken,
    about=lazy("Language models judge citations; faithfulness shows the shares that they find."),
    new=lazy("Judge coherence"),
    lead=lazy(
        "A model says for each citation whether the citing segment follows from the cited "
        "argument and speaks for the same object."
    ),
    nothing=lazy("A judge reads texts with figures that cite an argument."),
    starts=(("faithfulness", lazy("Bring the figures up to date first")),),
)


@study_page(*RESEARCHERS)
def coherence_verdicts(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """List the verdicts of a run with segment and argument; all of them as a file."""
    run = get_object_or_404(study.runs.filter(kind=KIND), public_id=run_id)
    wanted = Wanted.from_query(request.GET)
    rows = verdicts_of(run, wanted)
    if request.GET.get("format") == "csv":
        return table_file(verdicts_table(run, rows), "csv")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "run": run,
        "wanted": wanted,
        "page": page,
        "rows": shown(list(page)),
        "systems": study.systems.all(),
        "scenarios": Answer.Scenario.choices,
        "conditions": used_conditions(study),
    }
    return render(request, "annotation/faithfulness/coherence_verdicts.html", context)


def run_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """One run: where it is, what it may do, what it was asked, what it said."""
    target = run.spec["target"]
    systems = study.systems.filter(public_id__in=target["systems"])
    context = run_context(study, run) | {
        "systems": systems,
        "scenarios": [Answer.Scenario(number).label for number in target["scenarios"]],
        "conditions": names_of(study, target.get("conditions", [])),
        "is_mixed": ALL in target.get("conditions", [ALL]),
        "said": _said(run),
    }
    return render(request, "annotation/faithfulness/coherence_run.html", context)


def _said(run: Run) -> dict[str, Any]:
    """Counts of verdicts, and both shares: of citations, and of an answer on average."""
    texts = run.coherence_verdicts.exclude(is_coherent=None).values("answer", "revision")
    of_texts = texts.order_by().annotate(share=Avg(Cast("is_coherent", IntegerField())))
    counts = dict(
        run.coherence_verdicts.order_by().values_list("is_coherent").annotate(Count("pk"))
    )
    yes, no = counts.get(True, 0), counts.get(False, 0)
    return {
        "yes": yes,
        "no": no,
        "none": counts.get(None, 0),
        "share": yes / (yes + no) if yes + no else None,
        "of_texts": of_texts.aggregate(mean=Avg("share"), n=Count("share")),
    }


urlpatterns = [
    *run_urls(FACE, "coherence/"),
    path("coherence/runs/<uuid:run_id>/verdicts/", coherence_verdicts, name="coherence_verdicts"),
]

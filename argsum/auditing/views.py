"""Pages of audits: checks of pairs, rounds, and the figures for an analysis."""

import random
import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _, gettext_lazy as lazy

from argsum.analysis.models import Analysis
from argsum.analysis.views.analyses import ONE, analysis_or_404
from argsum.analysis.views.report import finished_or_404
from argsum.auditing.actions import AUDITING, AuditContent, plan_round
from argsum.auditing.blindness import leave_rounds
from argsum.auditing.forms import LONGEST_NOTE, AuditRoundForm, PointCheckForm
from argsum.auditing.models import AuditItem, AuditRound, AuditSheet
from argsum.auditing.reports.figures import AuditFigures, audit_of, points_table, recipe_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Role, Study
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import open_round
from cqa_site.rounds.pages.rounds import ListColumn, RoundPages, round_urls, to_round, trial_urls
from cqa_site.rounds.pages.work import TaskPages, work_urls
from cqa_site.web.rest.queries import id_from

Answer = AuditSheet.Answer


# Allow-list that excludes the band, the probability, the score and other people's answers.
def _shown(sheet: AuditSheet, content: AuditContent) -> dict[str, Any]:
    """Return the data that the form may show: the key point's text and the marked comment."""
    pair = sheet.pair
    statement = pair.argument.text if pair.argument else ""
    text = pair.comment.text if pair.comment else statement
    # A missing mark would reveal that the comment is not at a key point.
    head, marked, tail = text.partition(statement) if statement else ("", text, "")
    return {
        "point": pair.text,
        "head": head,
        # A statement that does not occur verbatim is shown below the comment.
        "marked": marked,
        "tail": tail,
        "statement": "" if marked else statement,
        "answers": [
            (answer.value, answer.label, str(number))
            for number, answer in enumerate(Answer, start=1)
        ],
        # Only a submitted answer counts.
        "chosen": AUDITING.submitted(sheet).answer,
        "comment": content.comment,
        "longest": LONGEST_NOTE,
    }


def _said(sheet: AuditSheet, content: AuditContent) -> dict[str, str]:
    answer = str(Answer(content.answer).label) if content.answer else ""
    return {_("Answer"): answer, _("Note"): content.comment}


WORK = TaskPages(
    kind=AUDITING,
    form=PointCheckForm,
    shown=_shown,
    said=_said,
    told=lambda sheet: (sheet.pair.text, str(sheet.get_answer_display())),
    templates="argsum/auditing/point_check",
)


def _drawn(round_: AuditRound) -> list[tuple[Any, Any]]:
    target = round_.recipe.get("target")
    rows: list[tuple[Any, Any]] = [
        (_("Analysis"), round_.analysis),
        (_("Key points with their own strata"), len(round_.frame["own"])),
        (_("Comments"), round_.frame["comments"]),
        (_("Share of pairs answered by two people"), f"{round_.double_share:g}"),
    ]
    return rows + ([(_("Target: ± percentage points"), f"{target:g}")] if target else [])


def _begun(request: HttpRequest, study: Study) -> dict[str, Any]:
    """Return the initial analysis of the form, taken from the URL query."""
    asked = id_from(request.GET.get("analysis"))
    analysis = study.analyses.filter(public_id=asked).first() if asked else None
    return {"analysis": analysis.public_id} if analysis else {}


def _answer_column(answer: Answer) -> ListColumn:
    return ListColumn(answer.label, lambda person: person.figures[answer.value], css="number")


def _excerpt(item: AuditItem) -> str:
    pair = item.pair
    return str(pair.comment.text if pair.comment else pair.argument)[:200]


def _probability(item: AuditItem) -> str | None:
    return None if item.probability is None else f"{item.probability:.3g}"


ROUNDS = RoundPages(
    form=AuditRoundForm,
    is_ready=lambda study: study.analyses.filter(state=Analysis.State.DONE).exists(),
    needs=lazy("Find key points in comments first. An audit draws pairs from an analysis."),
    needs_page=lambda study: ("analyses", _("Key point analysis")),
    initial=_begun,
    related=("analysis",),
    columns=(ListColumn(lazy("Analysis"), lambda row: row.analysis),),
    people=tuple(_answer_column(answer) for answer in Answer),
    things=(
        ListColumn(lazy("Key point"), lambda item: item.pair.text, css="question"),
        ListColumn(lazy("Comment"), _excerpt),
        ListColumn(lazy("Placed"), lambda item: item.pair.get_band_display()),
    ),
    draw=(ListColumn(lazy("Probability"), _probability, css="number"),),
    drawn=_drawn,
)


@study_page(*RESEARCHERS, only="GET")
def analysis_audit(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Show how often placements are wrong, and the corrected shares, as a page or a fragment."""
    analysis = finished_or_404(study, analysis_id)
    figures = audit_of(analysis)
    form = _form(study, analysis)
    wanted = request.GET.get("target", "")
    extent = _form(study, analysis, target=wanted).extent() if wanted else None
    context = {
        "study": study,
        "analysis": analysis,
        "here": "audit",
        "figures": figures,
        "rounds": AuditRound.objects.filter(analysis=analysis).order_by("-pk"),
        "form": form,
        "extent": form.extent(),
        "target": {"width": wanted, "items": extent.items} if extent else None,
        "card": _figure(analysis, figures) if figures else None,
    }
    template = "argsum/auditing/_audit.html" if request.htmx else "argsum/auditing/audit.html"
    return render(request, template, context)


@study_page(*RESEARCHERS, only="POST")
def analysis_audit_draw(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID
) -> HttpResponse:
    """Draw a sample of an analysis and open it as a round."""
    analysis = finished_or_404(study, analysis_id)
    wanted = {name: request.POST[name] for name in ("size", "target") if request.POST.get(name)}
    form = _form(study, analysis, **wanted)
    try:
        if not form.is_valid():
            raise RoundNotReady(next(str(texts[0]) for texts in form.errors.values()))
        planned = plan_round(study=study, plan=form.plan(), actor=request.user)
        open_round(round_=planned, actor=request.user)
    except RoundNotReady as reason:
        messages.error(request, str(reason))
        return redirect("analysis_audit", study.public_id, analysis.public_id)
    return to_round(planned)


@study_page(Role.EXPERT, only="POST")
def analysis_audit_leave(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID
) -> HttpResponse:
    """Leave the open rounds of an analysis in order to read it, unless the person has answered."""
    analysis = analysis_or_404(study, analysis_id)
    if not leave_rounds(analysis, request.membership):
        messages.error(request, _("You have already answered pairs from this analysis."))
    return redirect("analysis", study.public_id, analysis.public_id)


@study_page(*RESEARCHERS, only="GET")
def analysis_audit_figure(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send the table of corrected shares."""
    analysis = finished_or_404(study, analysis_id)
    figures = audit_of(analysis)
    return figure_file(request, [_figure(analysis, figures)] if figures else [], figure, format)


def _form(study: Study, analysis: Analysis, **wanted: str) -> AuditRoundForm:
    """Return the plan of a round that starts with one click."""
    usual = AuditRoundForm.begun(study) | {
        "name": AuditRoundForm.next_name(study),
        "seed": random.randrange(10**6),  # noqa: S311  an order, not a secret
        "analysis": analysis.public_id,
    }
    return AuditRoundForm(usual | wanted, study=study)


def _figure(analysis: Analysis, figures: AuditFigures) -> Figure:
    table = points_table(analysis, figures)
    ids = (analysis.study.public_id, analysis.public_id)
    return Figure(
        slug="corrected",
        title=_("Corrected shares"),
        recipe=recipe_of(),
        table=table,
        body="argsum/auditing/_corrected.html",
        data=figures.points,
        files=Files(view="analysis_audit_figure", ids=ids, version=str(analysis.revision)),
        is_wide=True,
        needed=_("More answers about pairs of a key point."),
    )


urlpatterns = [
    path(f"{ONE}/audit/", analysis_audit, name="analysis_audit"),
    path(f"{ONE}/audit/draw/", analysis_audit_draw, name="analysis_audit_draw"),
    path(f"{ONE}/audit/leave/", analysis_audit_leave, name="analysis_audit_leave"),
    path(
        f"{ONE}/audit/<slug:figure>.<str:format>",
        analysis_audit_figure,
        name="analysis_audit_figure",
    ),
    *round_urls(ROUNDS, "key-points/audits/", "audit_id"),
    *trial_urls(WORK, "key-points/checking/<uuid:audit_id>/"),
    *work_urls(
        WORK,
        rounds="key-points/checking/<uuid:audit_id>/",
        sheets="key-points/checking/sheets/<uuid:check_id>/",
        conflicts="conflicts/<uuid:check_conflict_id>/",
    ),
]

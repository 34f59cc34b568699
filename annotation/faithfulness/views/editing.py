"""Pages about texts before and after editing, and about agreement between experts."""

import uuid
from dataclasses import replace
from functools import partial

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext as _, ngettext

from annotation.editing.models import EditingRound
from annotation.faithfulness.actions.figures import latest_job
from annotation.faithfulness.actions.texts import embedding_of, stale_pairs
from annotation.faithfulness.reports.edited import (
    RECIPE,
    TITLES,
    EditSummary,
    edited_finding,
    edited_of,
    experts_finding,
    pairs_of,
    pairs_table,
    summarise,
    summary_table,
    tested_changes,
)
from annotation.faithfulness.reports.expert_agreement import (
    RECIPES,
    WORK,
    AgreementView,
    agreement_of,
    agreement_table,
    chart_alt,
    chart_spec,
    lowest_shade,
    names_of,
    work_table,
)
from annotation.faithfulness.reports.faithfulness import FaithfulnessSelection, state_of
from annotation.faithfulness.reports.tables import MODES
from cqa_site.people.access import EXPERTS, RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file, table_file
from cqa_site.tabular.cells import text_key
from cqa_site.web.tables import text_of

PER_PAGE = 30


@study_page(*RESEARCHERS)
def edited_texts(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the effects of editing over all texts, and each text before and after editing."""
    choice = FaithfulnessSelection.from_query(request.GET)
    pairs = pairs_of(edited_of(study), choice.mode)
    if request.GET.get("format") == "csv":
        return table_file(pairs_table(pairs, choice.mode), "csv")
    summary = summarise(study, pairs)
    page = Paginator(pairs, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "choice": choice,
        "modes": MODES,
        "finding": edited_finding(summary),
        "summary": summary,
        "page": page,
        "titles": TITLES,
        "card": _changes(study, choice, summary),
        "stale": len(stale_pairs(study)),
    }
    return render(request, "annotation/faithfulness/edited.html", context)


@study_page(*RESEARCHERS)
def edited_texts_figure(
    request: StudyRequest, study: Study, figure: str, format: str
) -> HttpResponse:
    """Send the table of changes over all texts."""
    choice = FaithfulnessSelection.from_query(request.GET)
    summary = summarise(study, pairs_of(edited_of(study), choice.mode))
    return figure_file(request, [_changes(study, choice, summary)], figure, format)


def _changes(study: Study, choice: FaithfulnessSelection, summary: EditSummary) -> Figure:
    return Figure(
        slug="changes",
        title=_("What changed"),
        recipe=RECIPE,
        table=summary_table(study, summary, choice.mode),
        body="annotation/faithfulness/_changes.html",
        data={"summary": summary, "moved": tested_changes(summary)[1]},
        files=Files(view="edited_texts_figure", ids=(study.public_id,), query=choice.query),
    )


edited_urls = [
    path("faithfulness/edited/", edited_texts, name="edited_texts"),
    path(
        "faithfulness/edited/<slug:figure>.<str:format>",
        edited_texts_figure,
        name="edited_texts_figure",
    ),
]


# Similarity of experts' versions of the calibration answers after their round has ended


@study_page(*EXPERTS)
def expert_agreement(request: StudyRequest, study: Study, round_id: uuid.UUID) -> HttpResponse:
    """Show the similarity of experts and machine, and each expert's changes."""
    editing_round = _round_or_404(request, study, round_id)
    choice = FaithfulnessSelection.from_query(request.GET)
    agreement_view = _shown(request, editing_round, choice)
    context = {
        "study": study,
        "editing_round": editing_round,
        "choice": choice,
        "job": latest_job(study),
        "finding": experts_finding(agreement_view.found),
        "cards": _figures(request, editing_round, choice, agreement_view),
        **vars(agreement_view),
    }
    return render(request, "annotation/faithfulness/expert_agreement.html", context)


@study_page(*EXPERTS)
def expert_agreement_figure(
    request: StudyRequest, study: Study, round_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send one of the two tables or the heatmap."""
    editing_round = _round_or_404(request, study, round_id)
    choice = FaithfulnessSelection.from_query(request.GET)
    figures = _figures(request, editing_round, choice, _shown(request, editing_round, choice))
    return figure_file(request, figures, figure, format)


def _figures(
    request: StudyRequest,
    editing_round: EditingRound,
    choice: FaithfulnessSelection,
    agreement_view: AgreementView,
) -> list[Figure]:
    study, n = editing_round.study, agreement_view.found.n_answers
    files = Files(
        view="expert_agreement_figure",
        ids=(study.public_id, editing_round.public_id),
        query=choice.query,
        version=_version(request, study, choice),
    )
    counted = ngettext("%d calibration answer", "%d calibration answers", n) % n
    shades = _("The shading ranges from %s to 1.") % text_of(lowest_shade(agreement_view.found), 1)
    return [
        Figure(
            slug="agreement",
            title=_("Similarity of versions"),
            about=" · ".join(filter(None, [counted, embedding_of(study)])),
            recipe=f"{RECIPES[choice.mode]} {shades}",
            table=agreement_table(editing_round, agreement_view),
            alt=chart_alt(agreement_view),
            draw=partial(chart_spec, agreement_view),
            files=files,
        ),
        Figure(
            slug="work",
            title=_("Changes by expert"),
            recipe=WORK,
            table=work_table(editing_round, agreement_view),
            body="annotation/faithfulness/_expert_work.html",
            data=list(zip(agreement_view.names[1:], agreement_view.found.work, strict=True)),
            files=replace(files, query=""),
        ),
    ]


def _round_or_404(request: StudyRequest, study: Study, round_id: uuid.UUID) -> EditingRound:
    """Return a round of the study; experts may see only ended rounds in which they took part."""
    rounds = EditingRound.objects.filter(study=study).select_related("study")
    if not request.membership.is_researcher:
        mine = {"state": EditingRound.State.CLOSED, "places__rater__user": request.user}
        rounds = rounds.filter(**mine).distinct()
    return get_object_or_404(rounds, public_id=round_id)


def _shown(
    request: StudyRequest, editing_round: EditingRound, choice: FaithfulnessSelection
) -> AgreementView:
    agreement = agreement_of(editing_round, choice.mode, embedding_of(editing_round.study))
    sees_names = request.membership.is_researcher
    names = names_of(agreement.experts, request.user, sees_names=sees_names)
    return AgreementView(agreement, names, choice.mode)


def _version(request: StudyRequest, study: Study, choice: FaithfulnessSelection) -> str:
    """Return a key that changes with the figures, model, mode and visible names."""
    seen = f"{state_of(study)}:{embedding_of(study)}:{choice.mode}:{request.membership.pk}"
    return text_key(seen)[:16]


BASE = "editing/rounds/<uuid:round_id>/agreement"
agreement_urls = [
    path(f"{BASE}/", expert_agreement, name="expert_agreement"),
    path(
        f"{BASE}/<slug:figure>.<str:format>",
        expert_agreement_figure,
        name="expert_agreement_figure",
    ),
]

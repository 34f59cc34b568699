"""Pages for comparing judges with people, comparing labels, and training judges."""

import uuid
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _

from annotation.consensus.actions.consensus import active_job, keep_current
from annotation.judges.actions import trained_judge as actions
from annotation.judges.forms import TrainingForm
from annotation.judges.models import TrainedJudge
from annotation.judges.reports.charts import CHARTS, figures_of, judges_finding, trained_finding
from annotation.judges.reports.results import (
    JudgeResults,
    JudgeSelection,
    TrainedFigures,
    model_card,
    recipe_rows,
    state_of,
)
from annotation.judges.reports.tables import OF_ONE_JUDGE, TABLES, judge_table
from annotation.labelling.models import LabelRound
from annotation.labelling.views.rounds import label_round_or_404
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file, table_file
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.runs.models import Run
from cqa_site.stats.estimate import from_json
from cqa_site.web.charts.points import chart_of

PER_PAGE = 50
SHORT = 6
BODIES = {
    "judges": "annotation/judges/_table.html",
    "confusion": "annotation/judges/_confusion.html",
    "replacement": "annotation/judges/_replacement.html",
    "hardest": "annotation/judges/_hardest.html",
}
WIDE = ("judges", "prompts", "hardest")
PLAIN = "annotation/judges/_plain.html"


@study_page(*RESEARCHERS)
def judges(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Show all judges in a round, compared with people."""
    label_round = label_round_or_404(study, label_round_id)
    keep_current(label_round, request.user)
    context = _context(study, label_round, JudgeSelection.from_query(request.GET))
    return render(request, "annotation/judges/judges.html", context)


@study_page(*RESEARCHERS)
def judges_fragment(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID
) -> HttpResponse:
    """Return the figures if they differ from the version on the page."""
    label_round = label_round_or_404(study, label_round_id)
    is_polling = _is_polling(label_round)
    if is_polling and request.GET.get("seen") == state_of(label_round):
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    context = _context(study, label_round, JudgeSelection.from_query(request.GET))
    return render(request, "annotation/judges/_judges.html", context)


@study_page(*RESEARCHERS)
def judges_card(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Return the short table on the agreement dashboard."""
    label_round = label_round_or_404(study, label_round_id)
    figures = figures_of(label_round, JudgeSelection(), state_of(label_round))
    context = {"study": study, "round": label_round, "figures": figures, "shown": SHORT}
    return render(request, "annotation/judges/_short.html", context)


@study_page(*RESEARCHERS)
def judge_rows(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """List the arguments behind a figure, with votes, final labels and judges' labels."""
    from annotation.judges.reports.figures import ConfusionCell, labelled, rows_table, shown_rows

    label_round = label_round_or_404(study, label_round_id)
    choice = JudgeSelection.from_query(request.GET)
    cell = ConfusionCell(
        judge=choice.judge,
        final=_label(request.GET.get("final")),
        label=_label(request.GET.get("label")),
        is_common=choice.is_common,
    )
    argument = labelled(label_round, cell)
    if request.GET.get("format") == "csv":
        return table_file(replace(rows_table(label_round, argument), name="judges-rows"), "csv")
    page = Paginator(range(len(argument.table)), PER_PAGE).get_page(request.GET.get("page"))
    start = page.start_index() - 1 if len(argument.table) else 0
    context = {
        "study": study,
        "round": label_round,
        "cell": cell,
        "judges": argument.judges,
        "page": page,
        "rows": shown_rows(argument, start, PER_PAGE),
    }
    return render(request, "annotation/judges/rows.html", context)


def _label(text: str | None) -> int | None:
    """Return a label from a URL; None (no filter) if it is not a number."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) == 1 else None


def _is_polling(label_round: LabelRound) -> bool:
    is_judging = label_round.judge_runs.filter(run__state__in=Run.WORKING).exists()
    return is_judging or active_job(label_round) is not None


def _context(study: Study, label_round: LabelRound, choice: JudgeSelection) -> dict[str, Any]:
    # Read before the labels, so that a concurrent change makes the page stale but never wrong.
    state = state_of(label_round)
    figures = figures_of(label_round, choice, state)
    return {
        "study": study,
        "round": label_round,
        "choice": choice,
        "state": state,
        "is_polling": _is_polling(label_round),
        "figures": figures,
        "finding": judges_finding(figures),
        "chosen": figures.named(figures.chosen),
        "other": figures.named(figures.other),
        "cards": _cards(label_round, choice, figures, state) if figures.judges else [],
        "trained": label_round.trained_judges.defer("model").first(),
    }


def _cards(
    label_round: LabelRound, choice: JudgeSelection, figures: JudgeResults, state: str
) -> list[Figure]:
    place = (label_round.study.public_id, label_round.public_id)
    files = Files(view="judges_figure", ids=place, query=choice.query, version=state)
    rows, query = f"{reverse('judge_rows', args=place)}?", f"judge={figures.chosen}"
    common = "&common=1" if choice.is_common else ""
    chosen = figures.named(figures.chosen)
    return [
        Figure(
            slug=slug,
            anchor=f"judges-{slug}",
            title=entry.title,
            about=chosen.name if chosen and slug in OF_ONE_JUDGE else "",
            recipe=entry.recipe,
            body=BODIES.get(slug, PLAIN),
            rows=(
                _("Show the arguments"),
                rows + (query if slug in OF_ONE_JUDGE else "") + common,
            ),
            table=judge_table(label_round, figures, slug, state),
            files=files,
            is_wide=slug in WIDE,
            **chart_of(CHARTS, slug, figures),
        )
        for slug, entry in TABLES.items()
    ]


@study_page(*RESEARCHERS)
def judges_figure(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send a figure as a table or chart."""
    label_round = label_round_or_404(study, label_round_id)
    state, choice = state_of(label_round), JudgeSelection.from_query(request.GET)
    cards = _cards(label_round, choice, figures_of(label_round, choice, state), state)
    return figure_file(request, cards, figure, format)


JUDGES_PATH = "label-rounds/<uuid:label_round_id>/judges"
judge_urls = [
    path(f"{JUDGES_PATH}/", judges, name="judges"),
    path(f"{JUDGES_PATH}/fragment/", judges_fragment, name="judges_fragment"),
    path(f"{JUDGES_PATH}/card/", judges_card, name="judges_card"),
    path(f"{JUDGES_PATH}/rows/", judge_rows, name="judge_rows"),
    path(f"{JUDGES_PATH}/<slug:figure>.<str:format>", judges_figure, name="judges_figure"),
]


# Comparison of a round's label sets with any rater, as a page and as files


@study_page(*RESEARCHERS)
def label_compare(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Show each label set of a round compared with the chosen rater."""
    from annotation.judges.reports.label_compare import SETS, choices

    label_round = label_round_or_404(study, label_round_id)
    offered = choices(study)
    key = request.GET.get("with") or (offered[0][0] if offered else "")
    context = {
        "study": study,
        "round": label_round,
        "choices": offered,
        "sets": SETS.items(),
        "key": key,
        "job": active_job(label_round),
        **(_compared(label_round, key, _set_of(request)) if key else {}),
    }
    if key and key not in dict(offered):
        context["choices"] = [*offered, (key, context["name"])]
    return render(request, "annotation/judges/label_compare.html", context)


@study_page(*RESEARCHERS)
def label_compare_figure(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send the label sets or the confusion table as CSV, LaTeX or Markdown."""
    label_round, key = label_round_or_404(study, label_round_id), request.GET.get("with", "")
    cards = _compared(label_round, key, _set_of(request))["cards"]
    return figure_file(request, cards, figure, format)


def _compared(label_round: LabelRound, key: str, chosen: str) -> dict[str, Any]:
    from annotation.judges.reports.label_compare import (
        RECIPE,
        SETS,
        compare_sets,
        confusion_table,
        confusion_with,
        said_by,
        steps_table,
    )

    source = said_by(label_round.study, key)
    if source is None:
        raise Http404
    name, labels = source
    rows = compare_sets(label_round, labels)
    confusion = confusion_with(label_round, labels, chosen)
    place = (label_round.study.public_id, label_round.public_id)
    files = Files(view="label_compare_figure", ids=place, query=urlencode({"with": key}))
    sets = Figure(
        slug="sets",
        title=_("Step by step, compared with %s") % name,
        recipe=RECIPE,
        table=steps_table(label_round, name, rows),
        body="annotation/judges/_label_sets.html",
        data=rows,
        files=files,
    )
    matrix = Figure(
        slug="confusion",
        title=SETS[chosen],
        about=_("compared with %s") % name,
        recipe=_("Rows: the label set; columns: %s. Shares are relative to the row total.") % name,
        table=confusion_table(name, chosen, confusion),
        body="annotation/judges/_label_confusion.html",
        data=confusion,
        files=replace(files, query=urlencode({"with": key, "set": chosen})),
    )
    return {"name": name, "chosen": chosen, "cards": [sets, matrix]}


def _set_of(request: StudyRequest) -> str:
    """Return the requested label set, or the final labels if it is unknown."""
    from annotation.judges.reports.label_compare import SETS

    name = request.GET.get("set", "")
    return name if name in SETS else "final"


LABEL_COMPARE_PATH = "label-rounds/<uuid:label_round_id>/labels/compare"
label_compare_urls = [
    path(f"{LABEL_COMPARE_PATH}/", label_compare, name="label_compare"),
    path(
        f"{LABEL_COMPARE_PATH}/<slug:figure>.<str:format>",
        label_compare_figure,
        name="label_compare_figure",
    ),
]


@study_page(*RESEARCHERS)
def trained_judges(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """List the versions with their figures, and offer to train the next version."""
    label_round = label_round_or_404(study, label_round_id)
    versions = label_round.trained_judges.select_related("created_by").defer("model")
    context = {
        "study": study,
        "round": label_round,
        "versions": [
            (version, from_json(TrainedFigures, version.figures)) for version in versions
        ],
        "form": TrainingForm(label_round=label_round),
        "job": actions.latest_job(label_round),
        "worker_alive": is_worker_alive(),
    }
    return render(request, "annotation/judges/trained_judges.html", context)


@study_page(*RESEARCHERS, only="POST")
def train_judge(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Train the next version in the background."""
    label_round = label_round_or_404(study, label_round_id)
    form = TrainingForm(request.POST, label_round=label_round)
    if not form.is_valid():
        messages.error(request, _("Choose a round of this study with the same label scale."))
    else:
        actions.request_training(
            label_round=label_round, source=form.cleaned_data["source"], actor=request.user
        )
        messages.success(request, _("The judge is being trained. Its figures will appear here."))
    return redirect("trained_judges", study.public_id, label_round.public_id)


@study_page(*RESEARCHERS, only="POST")
def train_cancel(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Stop a pending or running training; it stores nothing."""
    label_round = label_round_or_404(study, label_round_id)
    if actions.cancel_training(label_round=label_round, actor=request.user):
        messages.success(request, _("The training was cancelled."))
    else:
        messages.error(request, _("No training is waiting or running."))
    return redirect("trained_judges", study.public_id, label_round.public_id)


@study_page(*RESEARCHERS)
def trained_judge(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, number: int
) -> HttpResponse:
    """Show one version: training data, recipe, and out-of-fold agreement."""
    version = _version_or_404(study, label_round_id, number)
    figures = from_json(TrainedFigures, version.figures)
    context = {
        "study": study,
        "round": version.label_round,
        "version": version,
        "figures": figures,
        "finding": trained_finding(figures, version.number),
        "recipe": recipe_rows(version),
    }
    return render(request, "annotation/judges/trained_judge.html", context)


@study_page(*RESEARCHERS)
def trained_judge_card(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, number: int
) -> HttpResponse:
    """Send the model card of one version as JSON."""
    version = _version_or_404(study, label_round_id, number)
    response = JsonResponse(model_card(version), json_dumps_params={"indent": 2})
    name = f"trained-judge-v{version.number}.json"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _version_or_404(study: Study, label_round_id: uuid.UUID, number: int) -> TrainedJudge:
    versions = TrainedJudge.objects.select_related("label_round__guideline", "rater", "created_by")
    return get_object_or_404(
        versions.defer("model"),
        label_round__study=study,
        label_round__public_id=label_round_id,
        number=number,
    )


TRAINED_PATH = "label-rounds/<uuid:label_round_id>/judges/trained"
trained_judge_urls = [
    path(f"{TRAINED_PATH}/", trained_judges, name="trained_judges"),
    path(f"{TRAINED_PATH}/train/", train_judge, name="train_judge"),
    path(f"{TRAINED_PATH}/cancel/", train_cancel, name="train_cancel"),
    path(f"{TRAINED_PATH}/<int:number>/", trained_judge, name="trained_judge"),
    path(f"{TRAINED_PATH}/<int:number>/card.json", trained_judge_card, name="trained_judge_card"),
]

"""Pages of the texts behind a faithfulness figure, and of a single text by segment."""

import uuid
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from annotation.answers.forms import label_choices
from annotation.answers.models import Answer, used_conditions
from annotation.answers.reports import labels_name
from annotation.editing.models import Revision
from annotation.faithfulness.reports.faithfulness import (
    COHERENCE,
    FaithfulnessSelection,
    chosen_run,
    judge_runs,
)
from annotation.faithfulness.reports.tables import (
    MEASURES,
    MODES,
    ROW_TITLES,
    SORTED,
    TextSelection,
    answer_of,
    relabelled_rows,
    rows_table,
    skipped_in_words,
)
from annotation.faithfulness.reports.texts import detail_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import table_file

PER_PAGE = 50


@study_page(*RESEARCHERS)
def faithfulness_rows(request: StudyRequest, study: Study) -> HttpResponse:
    """List single texts with their figures, sorted by any figure, or send them all as a file."""
    choice = FaithfulnessSelection.from_query(request.GET, study)
    runs = list(judge_runs(study))
    run = chosen_run(runs, choice)
    wanted = TextSelection.from_query(request.GET, choice.mode, choice.labels)
    rows: Any = relabelled_rows(study, wanted, run)
    if request.GET.get("format") == "csv":
        return table_file(rows_table(rows, choice.mode), "csv")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    for row in page:
        cells = [(name, getattr(row, name)) for name in SORTED]
        vars(row).update(about=answer_of(row), cells=cells)
    context = {
        "study": study,
        "choice": choice,
        "wanted": wanted,
        "page": page,
        "run": run,
        "modes": MODES,
        "columns": [_column(name, wanted.sort) for name in SORTED],
        "systems": study.systems.all(),
        "scenarios": Answer.Scenario.choices,
        "label_choices": label_choices(study),
        "conditions": used_conditions(study),
    }
    return render(request, "annotation/faithfulness/rows.html", context)


def _column(name: str, sort: str) -> dict[str, Any]:
    """Return a column heading; the first click sorts in descending order, the next reverses it."""
    sorted_now = {name: "ascending", f"-{name}": "descending"}.get(sort, "")
    return {
        "title": ROW_TITLES[name],
        "sorted": sorted_now,
        "next": name if sorted_now == "descending" else f"-{name}",
    }


@study_page(*RESEARCHERS)
def faithfulness_answer(request: StudyRequest, study: Study, answer_id: uuid.UUID) -> HttpResponse:
    """Show one answer segment by segment."""
    answers = study.answers.select_related("question__comparison", "system", "study")
    answer = get_object_or_404(answers, public_id=answer_id)
    return _detail_page(request, study, answer, None)


@study_page(*RESEARCHERS)
def faithfulness_revision(
    request: StudyRequest, study: Study, revision_id: uuid.UUID
) -> HttpResponse:
    """Show one expert's revision of an answer, segment by segment."""
    revisions = Revision.objects.filter(sheet__answer__study=study).select_related(
        "sheet__answer__question__comparison", "sheet__answer__system", "sheet__answer__study",
        "sheet__rater__user",
    )  # fmt: skip
    revision = get_object_or_404(revisions, public_id=revision_id)
    return _detail_page(request, study, revision.sheet.answer, revision)


def _detail_page(
    request: StudyRequest, study: Study, answer: Answer, revision: Revision | None
) -> HttpResponse:
    choice = FaithfulnessSelection.from_query(request.GET, study)
    runs = list(judge_runs(study))
    run = chosen_run(runs, choice)
    detail = detail_of(answer, revision, choice.mode, run, choice.labels)
    figures = detail.figures
    context = {
        "study": study,
        "choice": choice,
        "modes": MODES,
        "answer": answer,
        "revision": revision,
        "detail": detail,
        "labels_name": labels_name(study, choice.labels) if choice.labels else "",
        "run": run,
        "runs": runs,
        "cells": [
            (measure, getattr(figures, name, None))
            for name, measure in MEASURES.items()
            if name != COHERENCE
        ],
        "left_out": skipped_in_words(figures.values["skipped"]) if figures else [],
    }
    return render(request, "annotation/faithfulness/text.html", context)


urlpatterns = [
    path("faithfulness/texts/", faithfulness_rows, name="faithfulness_rows"),
    path(
        "faithfulness/answers/<uuid:answer_id>/", faithfulness_answer, name="faithfulness_answer"
    ),
    path(
        "faithfulness/revisions/<uuid:revision_id>/",
        faithfulness_revision,
        name="faithfulness_revision",
    ),
]

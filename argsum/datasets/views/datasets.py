"""Datasets of arguments: list, one with its recipe, its cells, and its file."""

import uuid

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from argsum.datasets.actions.datasets import DatasetInUse, change_recipe, delete_dataset
from argsum.datasets.forms import CellFilterForm, RecipeForm, StatementRecipeForm
from argsum.datasets.models import Cell, Dataset
from argsum.datasets.reports.cells import (
    COLUMNS,
    argument_rows,
    arguments_of,
    exported_rows,
    key_points_of,
)
from argsum.datasets.reports.comments import (
    exported_columns,
    exported_comments,
    is_of_comments,
    said_by,
)
from argsum.datasets.reports.datasets import (
    cell_rows,
    dataset_rows,
    datasets_of,
    half_initial,
    steps_of,
)
from argsum.datasets.reports.language import warning_of
from cqa_site.files.sending import FileTable, sent_table
from cqa_site.people.access import RESEARCHERS, StudyRequest, record, study_page
from cqa_site.people.models import Study

PER_PAGE = 50
FORMATS = ("csv", "raw.csv", "jsonl")


@study_page(*RESEARCHERS)
@require_safe
def datasets(request: StudyRequest, study: Study) -> HttpResponse:
    """List the datasets with what is in them and which steps apply."""
    page = Paginator(datasets_of(study), PER_PAGE).get_page(request.GET.get("page"))
    rows = dataset_rows(list(page))
    context = {
        "study": study,
        "page": page,
        "rows": rows,
        "of_comments": [row for row in rows if row.comments is not None],
        "of_arguments": [row for row in rows if row.comments is None],
    }
    return render(request, "argsum/datasets/datasets.html", context)


@study_page(*RESEARCHERS)
@require_safe
def dataset(request: StudyRequest, study: Study, dataset_id: uuid.UUID) -> HttpResponse:
    """Show one dataset: its funnel, its recipe and its cells."""
    found = _found(study, dataset_id)
    page = Paginator(found.cells.all(), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "row": dataset_rows([found])[0],
        "form": _recipe_form(found)(initial={"steps": steps_of(found), **half_initial(found)}),
        "language_warning": warning_of(found),
        "page": page,
        "cells": cell_rows(list(page)),
    }
    return render(request, "argsum/datasets/dataset.html", context)


@study_page(*RESEARCHERS)
@require_POST
def dataset_recipe(request: StudyRequest, study: Study, dataset_id: uuid.UUID) -> HttpResponse:
    """Preprocess again with the chosen steps."""
    found = _found(study, dataset_id)
    form = _recipe_form(found)(request.POST)
    if not form.is_valid():
        messages.error(request, _("Choose among the steps of the list."))
        return redirect("dataset", study.public_id, found.public_id)
    try:
        steps, half = form.chosen()
        change_recipe(dataset=found, steps=steps, half=half, actor=request.user)
    except DatasetInUse as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("The arguments were gone through again."))
    return redirect("dataset", study.public_id, found.public_id)


@study_page(*RESEARCHERS)
@require_POST
def dataset_delete(request: StudyRequest, study: Study, dataset_id: uuid.UUID) -> HttpResponse:
    """Forget a dataset that nothing uses."""
    found = _found(study, dataset_id)
    try:
        delete_dataset(dataset=found, actor=request.user)
    except DatasetInUse as refusal:
        messages.error(request, str(refusal))
        return redirect("dataset", study.public_id, found.public_id)
    messages.success(request, _("“%s” was deleted.") % found.name)
    return redirect("datasets", study.public_id)


@study_page(*RESEARCHERS)
@require_safe
def dataset_export(request: StudyRequest, study: Study, dataset_id: uuid.UUID) -> HttpResponseBase:
    """Arguments with their labels as a file, which can be imported again."""
    found = _found(study, dataset_id)
    format = request.GET.get("format", "csv")
    if format not in FORMATS:
        raise Http404
    name = f"{slugify(found.name) or 'dataset'}.{format}"
    record(study=study, actor=request.user, verb="dataset_exported", subject=name)
    table = FileTable(dict.fromkeys(COLUMNS, str), exported_rows(found))
    kind = format.removeprefix("raw.")
    return sent_table(table, name=name, format=kind, is_raw=kind != format)


@study_page(*RESEARCHERS)
@require_safe
def comments_export(
    request: StudyRequest, study: Study, dataset_id: uuid.UUID
) -> HttpResponseBase:
    """Comments with their further columns and statements as a file."""
    found = _found(study, dataset_id)
    format = request.GET.get("format", "csv")
    if format not in FORMATS or not is_of_comments(found):
        raise Http404
    name = f"{slugify(found.name) or 'dataset'}-comments.{format}"
    record(study=study, actor=request.user, verb="dataset_exported", subject=name)
    table = FileTable(dict.fromkeys(exported_columns(found), str), exported_comments(found))
    kind = format.removeprefix("raw.")
    return sent_table(table, name=name, format=kind, is_raw=kind != format)


@study_page(*RESEARCHERS)
@require_safe
def cell(request: StudyRequest, study: Study, cell_id: uuid.UUID) -> HttpResponse:
    """Show one topic and stance: its key points, and its arguments kept or left out."""
    found = get_object_or_404(
        Cell.objects.select_related("dataset").filter(dataset__study=study), public_id=cell_id
    )
    key_points = list(key_points_of(found))
    form = CellFilterForm(request.GET, cell=found, key_points=key_points)
    chosen = form.cleaned_data if form.is_valid() else {}
    rows = arguments_of(
        found,
        show=chosen.get("show", ""),
        search=chosen.get("q", ""),
        key_point=chosen.get("key_point"),
    )
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "row": cell_rows([found])[0],
        "key_points": key_points,
        "form": form,
        "is_filtered": any(value not in ("", None) for value in chosen.values()),
        "page": page,
    }
    if is_of_comments(found.dataset):
        form.fields["show"].label = _("Statements")
        said = said_by(list(page))
        context["statements"] = [(each, said.get(each.pk, 0)) for each in page]
        return render(request, "argsum/datasets/statements.html", context)
    context["arguments"] = argument_rows(list(page))
    return render(request, "argsum/datasets/cell.html", context)


def _recipe_form(dataset: Dataset) -> type[RecipeForm] | type[StatementRecipeForm]:
    return StatementRecipeForm if is_of_comments(dataset) else RecipeForm


def _found(study: Study, dataset_id: uuid.UUID) -> Dataset:
    return get_object_or_404(datasets_of(study), public_id=dataset_id)


_ONE = "key-points/datasets/<uuid:dataset_id>/"
urlpatterns = [
    path("key-points/datasets/", datasets, name="datasets"),
    path(_ONE, dataset, name="dataset"),
    path(_ONE + "recipe/", dataset_recipe, name="dataset_recipe"),
    path(_ONE + "delete/", dataset_delete, name="dataset_delete"),
    path(_ONE + "export/", dataset_export, name="dataset_export"),
    path(_ONE + "comments/", comments_export, name="comments_export"),
    path("key-points/cells/<uuid:cell_id>/", cell, name="cell"),
]

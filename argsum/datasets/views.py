"""Pages of datasets, cells and comments."""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _

from argsum.datasets.actions import DatasetInUse, change_recipe, delete_dataset
from argsum.datasets.forms import (
    CellFilterForm,
    CommentFilterForm,
    RecipeForm,
    StatementRecipeForm,
)
from argsum.datasets.models import Cell, Dataset
from argsum.datasets.reports.comments import (
    attributes_of,
    comment_rows,
    comments_of,
    exported_columns,
    exported_comments,
    is_of_comments,
    said_by,
    warning_of,
)
from argsum.datasets.reports.datasets import (
    COLUMNS,
    argument_rows,
    arguments_of,
    cell_rows,
    dataset_rows,
    datasets_of,
    exported_rows,
    half_initial,
    key_points_of,
    steps_of,
)
from cqa_site.files.actions.exports import FileTable, sent_table
from cqa_site.people.access import RESEARCHERS, StudyRequest, record, study_page
from cqa_site.people.models import Study

PER_PAGE = 50
FORMATS = ("csv", "raw.csv", "jsonl")


@study_page(*RESEARCHERS, only="GET")
def datasets(request: StudyRequest, study: Study) -> HttpResponse:
    """List the datasets with their contents and steps."""
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


@study_page(*RESEARCHERS, only="GET")
def dataset(request: StudyRequest, study: Study, dataset_id: uuid.UUID) -> HttpResponse:
    """Show one dataset: its funnel, its recipe and its cells."""
    row = _found(study, dataset_id)
    page = Paginator(row.cells.all(), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "row": dataset_rows([row])[0],
        "form": _recipe_form(row)(initial={"steps": steps_of(row), **half_initial(row)}),
        "language_warning": warning_of(row),
        "page": page,
        "cells": cell_rows(list(page)),
    }
    return render(request, "argsum/datasets/dataset.html", context)


@study_page(*RESEARCHERS, only="POST")
def dataset_recipe(request: StudyRequest, study: Study, dataset_id: uuid.UUID) -> HttpResponse:
    """Preprocess again with the chosen steps."""
    dataset = _found(study, dataset_id)
    form = _recipe_form(dataset)(request.POST)
    if not form.is_valid():
        messages.error(request, _("Choose steps from the list."))
        return redirect("dataset", study.public_id, dataset.public_id)
    try:
        steps, half = form.chosen()
        change_recipe(dataset=dataset, steps=steps, half=half, actor=request.user)
    except DatasetInUse as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("The recipe was applied to all arguments."))
    return redirect("dataset", study.public_id, dataset.public_id)


@study_page(*RESEARCHERS, only="POST")
def dataset_delete(request: StudyRequest, study: Study, dataset_id: uuid.UUID) -> HttpResponse:
    dataset = _found(study, dataset_id)
    try:
        delete_dataset(dataset=dataset, actor=request.user)
    except DatasetInUse as refusal:
        messages.error(request, str(refusal))
        return redirect("dataset", study.public_id, dataset.public_id)
    messages.success(request, _("“%s” was deleted.") % dataset.name)
    return redirect("datasets", study.public_id)


@study_page(*RESEARCHERS, only="GET")
def dataset_export(request: StudyRequest, study: Study, dataset_id: uuid.UUID) -> HttpResponseBase:
    """Send arguments with their labels as a file that can be imported again."""
    dataset = _found(study, dataset_id)
    return _sent(request, dataset, COLUMNS, exported_rows(dataset))


@study_page(*RESEARCHERS, only="GET")
def comments_export(
    request: StudyRequest, study: Study, dataset_id: uuid.UUID
) -> HttpResponseBase:
    """Send comments with their other columns and statements as a file."""
    dataset = _found(study, dataset_id)
    if not is_of_comments(dataset):
        raise Http404
    columns, rows = exported_columns(dataset), exported_comments(dataset)
    return _sent(request, dataset, columns, rows, ending="-comments")


def _sent(
    request: StudyRequest,
    dataset: Dataset,
    columns: Iterable[str],
    rows: Iterator[tuple[Any, ...]],
    *,
    ending: str = "",
) -> HttpResponseBase:
    format = request.GET.get("format", "csv")
    if format not in FORMATS:
        raise Http404
    name = f"{slugify(dataset.name) or 'dataset'}{ending}.{format}"
    record(study=dataset.study, actor=request.user, verb="dataset_exported", subject=name)
    kind = format.removeprefix("raw.")
    table = FileTable(dict.fromkeys(columns, str), rows)
    return sent_table(table, name=name, format=kind, is_raw=kind != format)


@study_page(*RESEARCHERS, only="GET")
def cell(request: StudyRequest, study: Study, cell_id: uuid.UUID) -> HttpResponse:
    """Show one topic and stance with its key points and its arguments, kept or excluded."""
    row = cell_or_404(study, cell_id)
    key_points = list(key_points_of(row))
    form = CellFilterForm(request.GET, cell=row, key_points=key_points)
    chosen = form.cleaned_data if form.is_valid() else {}
    rows = arguments_of(
        row,
        show=chosen.get("show", ""),
        search=chosen.get("q", ""),
        key_point=chosen.get("key_point"),
    )
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "row": cell_rows([row])[0],
        "key_points": key_points,
        "form": form,
        "is_filtered": any(value not in ("", None) for value in chosen.values()),
        "page": page,
    }
    if is_of_comments(row.dataset):
        form.fields["show"].label = _("Statements")
        counts = said_by(list(page))
        context["statements"] = [(argument, counts.get(argument.pk, 0)) for argument in page]
        return render(request, "argsum/datasets/statements.html", context)
    context["arguments"] = argument_rows(list(page))
    return render(request, "argsum/datasets/cell.html", context)


@study_page(*RESEARCHERS, only="GET")
def cell_comments(request: StudyRequest, study: Study, cell_id: uuid.UUID) -> HttpResponse:
    """Show one page of a cell's comments, filtered by text and column."""
    cell = cell_or_404(study, cell_id)
    form = CommentFilterForm(request.GET, attributes=attributes_of(cell.dataset))
    chosen = form.cleaned_data if form.is_valid() else {}
    rows = comments_of(
        cell,
        show=chosen.get("show", ""),
        search=chosen.get("q", ""),
        attribute=chosen.get("attribute", ""),
        value=chosen.get("value", ""),
    )
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "cell": cell,
        "form": form,
        "is_filtered": any(chosen.values()),
        "page": page,
        "comments": comment_rows(list(page)),
    }
    return render(request, "argsum/datasets/comments.html", context)


def _recipe_form(dataset: Dataset) -> type[RecipeForm] | type[StatementRecipeForm]:
    return StatementRecipeForm if is_of_comments(dataset) else RecipeForm


def cell_or_404(study: Study, cell_id: uuid.UUID) -> Cell:
    """Return a cell of the study with its dataset."""
    cells = Cell.objects.select_related("dataset__study").filter(dataset__study=study)
    return get_object_or_404(cells, public_id=cell_id)


def _found(study: Study, dataset_id: uuid.UUID) -> Dataset:
    return get_object_or_404(datasets_of(study), public_id=dataset_id)


LONGEST = 120


@dataclass(frozen=True)
class ChosenDataset:
    """All datasets of a study and the public id of the chosen dataset; an empty id means all.

    Systems whose names contain ``without`` are hidden; an empty value hides no systems. ``usual``
    is the default if the URL does not set ``without``.
    """

    all: list[Dataset]
    chosen: str
    without: str = ""
    usual: str = ""

    @property
    def query(self) -> str:
        """URL query of the selection."""
        parameters = {"dataset": self.chosen} if self.chosen else {}
        return urlencode(
            parameters | ({} if self.without == self.usual else {"without": self.without})
        )


def chosen_dataset(request: HttpRequest, study: Study, usual: str = "") -> ChosenDataset:
    """Read the selection from the URL, with all datasets and the usual ``without`` as defaults."""
    datasets = list(study.argument_datasets.all())
    wanted = request.GET.get("dataset", "")
    known = wanted in {str(dataset.public_id) for dataset in datasets}
    without = request.GET.get("without", usual).strip()[:LONGEST]
    return ChosenDataset(datasets, wanted if known else "", without, usual)


def state_of(*parts: object) -> str:
    """Return a short hash of the shown data, which browsers use as the cache key for charts."""
    return sha256(repr(parts).encode()).hexdigest()[:16]


_ONE = "key-points/datasets/<uuid:dataset_id>/"
urlpatterns = [
    path("key-points/datasets/", datasets, name="datasets"),
    path(_ONE, dataset, name="dataset"),
    path(_ONE + "recipe/", dataset_recipe, name="dataset_recipe"),
    path(_ONE + "delete/", dataset_delete, name="dataset_delete"),
    path(_ONE + "export/", dataset_export, name="dataset_export"),
    path(_ONE + "comments/", comments_export, name="comments_export"),
    path("key-points/cells/<uuid:cell_id>/", cell, name="cell"),
    path("key-points/cells/<uuid:cell_id>/comments/", cell_comments, name="cell_comments"),
]

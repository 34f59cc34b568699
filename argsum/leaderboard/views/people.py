"""Agreement of the people who judge summary sets."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import path

from argsum.datasets.views.chosen_dataset import chosen_dataset, state_of
from argsum.leaderboard.reports.charts import heat_alt, heat_spec
from argsum.leaderboard.reports.people_agreement import (
    DimensionAgreement,
    PeopleAgreement,
    people_agreement,
)
from argsum.leaderboard.reports.tables import (
    DIMENSION_NAMES,
    pairs_table,
    raters_table,
    repeats_table,
)
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.files import chart_file, table_file
from cqa_site.web.charts.drawing import Spec


@study_page(*RESEARCHERS)
def summary_people(request: StudyRequest, study: Study) -> HttpResponse:
    """Show how far people agree with each other, and with themselves."""
    dataset = chosen_dataset(request, study)
    found = people_agreement(study, dataset.chosen, dataset.without)
    context = {
        "study": study,
        "section": "key_points",
        "dataset": dataset,
        "found": found,
        "raters": raters_table(found),
        "parts": [_part(each) for each in found.dimensions],
        "state": state_of(found, dataset.chosen),
    }
    return render(request, "argsum/leaderboard/summary_people.html", context)


def _part(found: DimensionAgreement) -> dict[str, Any]:
    return {
        "found": found,
        "title": DIMENSION_NAMES[found.dimension],
        "pairs": pairs_table(found),
        "repeats": repeats_table(found) if found.repeats else None,
        "alt": heat_alt(found),
    }


@study_page(*RESEARCHERS)
def summary_people_table(
    request: StudyRequest, study: Study, figure: str, format: str
) -> HttpResponse:
    """Send raters, or the pairs or repeats of a dimension, as CSV, LaTeX or Markdown."""
    dataset = chosen_dataset(request, study)
    found = people_agreement(study, dataset.chosen, dataset.without)
    if figure == "raters":
        return table_file(raters_table(found), format)
    part, _dash, kind = figure.partition("-")
    each = _dimension(found, part)
    if kind not in ("", "repeats"):
        raise Http404
    return table_file(repeats_table(each) if kind else pairs_table(each), format)


@study_page(*RESEARCHERS)
def summary_people_chart(
    request: StudyRequest, study: Study, figure: str, format: str
) -> HttpResponse:
    """Draw the correlations between raters about one dimension."""
    dataset = chosen_dataset(request, study)
    found = people_agreement(study, dataset.chosen, dataset.without)
    each = _dimension(found, figure)

    def draw(size: str) -> Spec:
        if not heat_alt(each):
            raise Http404
        return heat_spec(each, size)

    state = state_of(found, dataset.chosen)
    return chart_file(request, draw, state=state, name=figure, format=format)


def _dimension(found: PeopleAgreement, name: str) -> DimensionAgreement:
    each = next((one for one in found.dimensions if one.dimension == name), None)
    if each is None:
        raise Http404
    return each


BASE = "key-points/people"
urlpatterns = [
    path(f"{BASE}/", summary_people, name="summary_people"),
    path(f"{BASE}/<slug:figure>.<str:format>", summary_people_table, name="summary_people_table"),
    path(
        f"{BASE}/charts/<slug:figure>.<str:format>",
        summary_people_chart,
        name="summary_people_chart",
    ),
]

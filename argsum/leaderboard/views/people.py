"""Agreement of the people who judge summary sets."""

from functools import partial

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from argsum.datasets.views.chosen_dataset import ChosenDataset, chosen_dataset, state_of
from argsum.leaderboard.reports.charts import heat_alt, heat_spec
from argsum.leaderboard.reports.choice import usually_left_out
from argsum.leaderboard.reports.finding import people_finding
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
from cqa_site.results.figures import Figure, Files, figure_file


def _chosen(request: StudyRequest, study: Study) -> ChosenDataset:
    """What an address asks for; without the systems that the paper left out of released counts."""
    wanted = request.GET.get("dataset", "")
    known = study.argument_datasets.values_list("public_id", flat=True)
    dataset = wanted if wanted in map(str, known) else ""
    return chosen_dataset(request, study, usually_left_out(study, dataset=dataset))


@study_page(*RESEARCHERS)
def summary_people(request: StudyRequest, study: Study) -> HttpResponse:
    """Show how far people agree with each other, and with themselves."""
    dataset = _chosen(request, study)
    found = people_agreement(study, dataset.chosen, dataset.without)
    *cards, raters = _figures(study, dataset, found)
    context = {
        "study": study,
        "dataset": dataset,
        "found": found,
        "finding": people_finding(found),
        "cards": cards,
        "raters": raters,
    }
    return render(request, "argsum/leaderboard/summary_people.html", context)


@study_page(*RESEARCHERS)
def summary_people_figure(
    request: StudyRequest, study: Study, figure: str, format: str
) -> HttpResponse:
    """Send raters, or the pairs or repeats of a dimension."""
    dataset = _chosen(request, study)
    found = people_agreement(study, dataset.chosen, dataset.without)
    return figure_file(request, _figures(study, dataset, found), figure, format)


def _figures(study: Study, dataset: ChosenDataset, found: PeopleAgreement) -> list[Figure]:
    files = Files(
        view="summary_people_figure",
        ids=(study.public_id,),
        query=dataset.query,
        version=state_of(found, dataset.chosen),
    )
    raters = Figure(
        slug="raters",
        title=_("People who judge"),
        about=ngettext("%d set", "%d sets", found.sets) % found.sets,
        recipe=_(
            "Unsure is an answer of its own and enters no figure; missing counts were left empty."
        ),
        table=raters_table(found),
        files=files,
    )
    parts = (each for one in found.dimensions for each in _of_dimension(one, files))
    return [*parts, raters]


def _of_dimension(found: DimensionAgreement, files: Files) -> list[Figure]:
    """Agreement between people and, where there are repeats, with themselves."""
    pairs, repeats = pairs_table(found), repeats_table(found)
    made = [
        Figure(
            slug=found.dimension,
            anchor=f"people-{found.dimension}",
            title=DIMENSION_NAMES[found.dimension],
            recipe=pairs.note,
            table=pairs,
            alt=heat_alt(found),
            draw=partial(heat_spec, found),
            body="argsum/leaderboard/_people.html",
            data=found,
            files=files,
        )
    ]
    if found.repeats:
        slug, title = f"{found.dimension}-repeats", repeats.caption
        made.append(
            Figure(slug=slug, title=title, recipe=repeats.note, table=repeats, files=files)
        )
    return made


BASE = "key-points/people"
urlpatterns = [
    path(f"{BASE}/", summary_people, name="summary_people"),
    path(
        f"{BASE}/<slug:figure>.<str:format>", summary_people_figure, name="summary_people_figure"
    ),
]

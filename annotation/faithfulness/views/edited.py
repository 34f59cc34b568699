"""Machine answers before and after people edited them."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _

from annotation.faithfulness.actions.texts import stale_pairs
from annotation.faithfulness.reports.edited_figures import RECIPE, Summary, summarise
from annotation.faithfulness.reports.edited_pairs import TITLES, edited_of, pairs_of
from annotation.faithfulness.reports.edited_tables import pairs_table, summary_table
from annotation.faithfulness.reports.finding import edited_finding, tested_changes
from annotation.faithfulness.reports.tables import MODES
from annotation.faithfulness.reports.versions import Choice
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.results.files import table_file

PER_PAGE = 30


@study_page(*RESEARCHERS)
def edited_texts(request: StudyRequest, study: Study) -> HttpResponse:
    """Show what editing changed over all texts, and each text before and after."""
    choice = Choice.from_query(request.GET)
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
    """Send the changes over all texts."""
    choice = Choice.from_query(request.GET)
    summary = summarise(study, pairs_of(edited_of(study), choice.mode))
    return figure_file(request, [_changes(study, choice, summary)], figure, format)


def _changes(study: Study, choice: Choice, summary: Summary) -> Figure:
    return Figure(
        slug="changes",
        title=_("What changed"),
        recipe=RECIPE,
        table=summary_table(study, summary, choice.mode),
        body="annotation/faithfulness/_changes.html",
        data={"summary": summary, "moved": tested_changes(summary)[1]},
        files=Files(view="edited_texts_figure", ids=(study.public_id,), query=choice.query),
    )


urlpatterns = [
    path("faithfulness/edited/", edited_texts, name="edited_texts"),
    path(
        "faithfulness/edited/<slug:figure>.<str:format>",
        edited_texts_figure,
        name="edited_texts_figure",
    ),
]

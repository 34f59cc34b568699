"""Machine answers before and after people edited them."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path

from annotation.faithfulness.actions.texts import stale_pairs
from annotation.faithfulness.reports.edited_figures import RECIPE, summarise
from annotation.faithfulness.reports.edited_pairs import TITLES, edited_of, pairs_of
from annotation.faithfulness.reports.edited_tables import pairs_table, summary_table
from annotation.faithfulness.reports.tables import MODES
from annotation.faithfulness.reports.versions import Choice
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.files import table_file

PER_PAGE = 30


@study_page(*RESEARCHERS)
def edited_texts(request: StudyRequest, study: Study) -> HttpResponse:
    """Show what editing changed over all texts, and each text before and after."""
    choice = Choice.from_query(request.GET)
    pairs = pairs_of(edited_of(study), choice.mode)
    if request.GET.get("format") == "csv":
        return table_file(pairs_table(pairs, choice.mode), "csv")
    page = Paginator(pairs, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "section": "answers",
        "choice": choice,
        "modes": MODES,
        "summary": summarise(study, pairs),
        "page": page,
        "titles": TITLES,
        "recipe": RECIPE,
        "stale": len(stale_pairs(study)),
    }
    return render(request, "annotation/faithfulness/edited.html", context)


@study_page(*RESEARCHERS)
def edited_texts_table(request: StudyRequest, study: Study, format: str) -> HttpResponse:
    """Send the changes over all texts as CSV, LaTeX or Markdown."""
    mode = Choice.from_query(request.GET).mode
    summary = summarise(study, pairs_of(edited_of(study), mode))
    return table_file(summary_table(study, summary, mode), format)


urlpatterns = [
    path("faithfulness/edited/", edited_texts, name="edited_texts"),
    path("faithfulness/edited/table.<str:format>", edited_texts_table, name="edited_texts_table"),
]

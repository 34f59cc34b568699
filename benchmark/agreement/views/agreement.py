"""Agreement of people and judges: every pair, who may replace people, judges beside each other."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.judges.reports.judged import judged_rounds
from benchmark.agreement.actions import shown_agreement
from benchmark.agreement.methods.figures import Agreement, Pair
from benchmark.agreement.reports.agreement import judge_trust
from benchmark.agreement.reports.charts import CHARTS
from benchmark.agreement.reports.choice import MEASURES, Choice, pair_of, state_of
from benchmark.agreement.reports.detail_tables import DETAIL_TABLES
from benchmark.agreement.reports.finding import agreement_finding, judges_finding
from benchmark.agreement.reports.judge_tables import JUDGE_TABLES
from benchmark.agreement.reports.pair_tables import PAIR_TABLES
from benchmark.agreement.reports.tables import (
    MEASURE_NAMES,
    Entry,
    column_names,
    figure_of,
    rater_names,
    table_of,
    value_of,
)
from benchmark.leaderboard.models import BoardSnapshot
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.boards import DETAILS, SHOW
from cqa_site.results.figures import PLAIN as WITH_CHART
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.web.charts.chart import chart_of
from cqa_site.web.strict_query import chosen

from .verdict import verdict_context

TABLES: dict[str, Entry] = PAIR_TABLES | DETAIL_TABLES | JUDGE_TABLES
PLAIN = "benchmark/agreement/_table.html"
BODIES = {
    "pairs": "benchmark/agreement/_pairs.html",
    "criteria": "benchmark/agreement/_criteria.html",
    "confusion": "benchmark/agreement/_confusion.html",
    "judges": "benchmark/agreement/_judges.html",
    "ceiling": "benchmark/agreement/_ceiling.html",
}
# The parts of the page about agreement: its name in the address, its title, its figures.
PARTS = (
    ("", gettext_lazy("Summary"), ("ceiling",)),
    ("pairs", gettext_lazy("Every two raters"), ("pairs", "criteria")),
    ("systems", gettext_lazy("Systems and aspects"), ("systems", "aspect", "concatenated")),
    ("detail", gettext_lazy("One pair in detail"), ("bland-altman", "confusion", "by-code")),
)
OF_A_PAIR = ("bland-altman", "confusion")
ON_JUDGES = ("judges", "consistency", "replicates", "preference", "length")


@study_page(*RESEARCHERS)
def score_agreement(request: StudyRequest, study: Study) -> HttpResponse:
    """Show how far everybody agrees who scored the same answers."""
    part = chosen(request, "part", {key for key, _title, _slugs in PARTS})
    context = agreement_context(request, study, {key: slugs for key, _title, slugs in PARTS}[part])
    context |= {"part": part, "parts": [(key, title) for key, title, _slugs in PARTS]}
    if figures := context["figures"]:
        context |= _details(figures, context["choice"])
        context["finding"] = agreement_finding(figures, context["choice"])
    return render(request, "benchmark/agreement/agreement.html", context)


@study_page(*RESEARCHERS)
def score_replace(request: StudyRequest, study: Study) -> HttpResponse:
    """Answer whether a judge may take the place of people, and for which criteria."""
    context = agreement_context(request, study, ())
    if not context["figures"]:
        context["judged"] = judged_rounds(study).first()
    elif context["choice"].judge:
        context |= verdict_context(context["figures"], context["choice"])
        context["has_details"] = DETAILS in request.GET.getlist(SHOW)
        snapshot, figures, choice = (context[name] for name in ("snapshot", "figures", "choice"))
        context["card"] = card_of(snapshot, figures, choice, "replace")
    return render(request, "benchmark/agreement/replace.html", context)


@study_page(*RESEARCHERS)
def score_judges(request: StudyRequest, study: Study) -> HttpResponse:
    """Rank the judges."""
    context = agreement_context(request, study, ON_JUDGES)
    if context["snapshot"]:
        trust = judge_trust(context["snapshot"].rubric)
        context["trust"] = {each.key: each for each in trust}
        context["kept_out"] = [each for each in trust if each.is_kept_out]
    if context["figures"]:
        context["finding"] = judges_finding(context["figures"].judges)
    return render(request, "benchmark/agreement/judges.html", context)


def agreement_context(
    request: StudyRequest, study: Study, slugs: tuple[str, ...]
) -> dict[str, Any]:
    """What all three pages show; ``figures`` is None while there are none."""
    shown = shown_agreement(study, request.GET, request.user)
    snapshot, figures = shown.snapshot, shown.figures
    context: dict[str, Any] = {
        "study": study,
        "shown": shown,
        "snapshot": snapshot,
        "figures": figures,
    }
    if not snapshot or not figures:
        return context
    choice = Choice.from_query(request.GET, figures, shown.condition)
    return context | {
        "choice": choice,
        "names": rater_names(figures),
        "column_names": column_names(figures),
        "cards": [
            card_of(snapshot, figures, choice, slug)
            for slug in slugs
            if slug != "by-code" or figures.by_code
        ],
    }


@study_page(*RESEARCHERS)
def score_agreement_figure(
    request: StudyRequest, study: Study, figure: str, format: str
) -> HttpResponse:
    """Send one figure's table or chart."""
    slugs = tuple(slug for slug in TABLES if slug == figure)
    cards = agreement_context(request, study, slugs).get("cards", [])
    return figure_file(request, cards, figure, format)


def card_of(snapshot: BoardSnapshot, figures: Agreement, choice: Choice, slug: str) -> Figure:
    """One figure with its table, and the words of its chart if it has one."""
    entry = TABLES[slug]
    study = snapshot.study.public_id
    rows = reverse("score_rows", args=[study])
    pair = f"rater={choice.first}&other={choice.second}&" if slug in OF_A_PAIR else ""
    chart = chart_of(CHARTS, slug, figures, choice)
    return Figure(
        slug=slug,
        anchor=slug,
        title=entry.title,
        about=_about(figures, choice, slug),
        recipe=entry.recipe,
        needed=entry.needed,
        way=(entry.way[1], reverse(entry.way[0], args=[study])),
        body=BODIES.get(slug, WITH_CHART if chart else PLAIN),
        rows=(_("Show the answers"), f"{rows}?{pair}{choice.where}"),
        table=table_of(snapshot, figures, choice, slug, entry),
        files=Files(
            view="score_agreement_figure",
            ids=(study,),
            query=choice.query,
            version=state_of(snapshot, choice),
        ),
        is_wide=True,
        **chart,
    )


def _about(figures: Agreement, choice: Choice, slug: str) -> str:
    """Which column or pair a figure is about."""
    if slug == "pairs":
        return column_names(figures)[choice.column]
    return _pair_title(figures, choice) if slug in OF_A_PAIR else ""


def _pair_title(figures: Agreement, choice: Choice) -> str:
    names = rater_names(figures)
    return " – ".join(names[key] for key in (choice.first, choice.second) if key)


def _details(figures: Agreement, choice: Choice) -> dict[str, Any]:
    """What the tables of the page about agreement link to and choose from."""
    measure, people = choice.measure, figures.people.columns
    # People together have alphas only.
    shown = figures.columns if measure.startswith("alpha") else ()
    return {
        "measures": [(name, MEASURE_NAMES[name]) for name in MEASURES],
        "pair": pair_of(figures, choice),
        "people_row": [figure_of(people[each.key], measure) for each in shown],
        "criteria_rows": [(pair, _cells(pair, measure)) for pair in figures.pairs],
        "is_signed": measure == "leniency",
    }


def _cells(pair: Pair, measure: str) -> list[dict[str, Any]]:
    """The chosen measure by column and how dark its cell is; bias darkens either way."""
    cells = []
    for column, found in pair.columns.items():
        value = value_of(found, measure)
        scale = 4 if measure == "leniency" else 1
        shade = None if value is None else min(1.0, scale * abs(value))
        is_shaded = value is not None and (value > 0 or measure == "leniency")
        shown = {"column": column, "value": value, "n": found.n}
        cells.append(shown | {"shade": shade if is_shaded else None})
    return cells


urlpatterns = [
    path("scores/agreement/", score_agreement, name="score_agreement"),
    path("scores/replace/", score_replace, name="score_replace"),
    path("scores/judges/", score_judges, name="score_judges"),
    path(
        "scores/agreement/<slug:figure>.<str:format>",
        score_agreement_figure,
        name="score_agreement_figure",
    ),
]

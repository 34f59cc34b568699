"""Agreement pages: figures, verdicts on judges, score sheets and updates."""

import uuid
from http import HTTPStatus
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from annotation.answers.reports import about_answer, side_by_side
from annotation.judges.reports.results import judged_rounds
from benchmark.agreement.actions import shown_agreement
from benchmark.agreement.methods.figures import (
    Agreement,
    PeopleCounts,
    PointsColumn,
    RaterPairFigures,
    ReplacementVerdict,
)
from benchmark.agreement.reports.agreement import judge_trust
from benchmark.agreement.reports.judges import (
    BADGES,
    JUDGE_TABLES,
    RESULTS,
    RULE_TEXTS,
    RULES,
    SOURCES,
    answer_of,
    cautions_of,
    chance_of,
    headline,
    missing_of,
    numbers_of,
    reasons_of,
)
from benchmark.agreement.reports.snapshot import (
    MEASURES,
    AgreementSelection,
    pair_of,
    snapshot_of,
    state_of,
)
from benchmark.agreement.reports.summary import CHARTS, agreement_finding, judges_finding
from benchmark.agreement.reports.tables import (
    DETAIL_TABLES,
    MEASURE_NAMES,
    PAIR_TABLES,
    SHARED,
    WAY,
    column_names,
    figure_of,
    figure_table,
    measure_value,
    rater_names,
)
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.leaderboard.reports.snapshot import conditions_of_rows, known_condition
from benchmark.leaderboard.views.context import live_board, rubric_of
from benchmark.scoring.models import ScoreSheet
from benchmark.scoring.reports.sheets import beside_sheet, sheet_or_404
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.boards import DETAILS, SHOW, Conclusion
from cqa_site.results.figures import PLAIN, Figure, Files, figure_file, table_file
from cqa_site.stats.estimate import from_json
from cqa_site.web.charts.points import chart_of
from cqa_site.web.rest.queries import chosen
from cqa_site.web.templatetags.pages import percent


def verdict_context(figures: Agreement, choice: AgreementSelection) -> dict[str, Any]:
    """Return the verdict as text, the results and numbers for each column, and the rules."""
    verdicts, names = figures.verdict[choice.judge], column_names(figures)
    name = rater_names(figures)[choice.judge]
    sure = chance_of(figures, choice.judge), cautions_of(verdicts), _ground(figures)
    return {
        "finding": Conclusion(
            headline(figures, choice.judge, name),
            " ".join(filter(None, sure)),
            BADGES[verdicts["total"].result],
        ),
        "reasons": reasons_of(verdicts["total"]),
        "lines": answer_of(figures, choice.judge),
        "rows": [_row(column, names, verdicts[column.key]) for column in figures.columns],
        "rules": [
            {"title": RULES[key], "text": RULE_TEXTS[key], "source": SOURCES[key]} for key in RULES
        ],
    }


def _ground(figures: Agreement) -> str:
    """Describe the people behind the verdict, and the allowed advantage."""
    people, sentences = figures.people, []
    if people.raters:
        text = ngettext(
            "%(n)s person scored %(answers)s answers, %(shared)s by two or more people.",
            "%(n)s people scored %(answers)s answers, %(shared)s by two or more people.",
            people.raters,
        )
        sentences.append(
            text
            % {
                "n": f"{people.raters:,}",
                "answers": f"{people.answers:,}",
                "shared": _shared(people),
            }
        )
    if people.consolidated:
        text = ngettext(
            "%(n)s answer has a consolidated sheet, which is a mean over people and not one "
            "person's sheet.",
            "%(n)s answers have consolidated sheets, which are means over people and not one "
            "person's sheets.",
            people.consolidated,
        )
        sentences.append(text % {"n": f"{people.consolidated:,}"})
    allowed = _(
        "Because a judge costs less, it counts as being as close as a person even if "
        "the person comes closer on up to %(share)s more of the answers (epsilon "
        "%(epsilon)s)."
    )
    epsilon = figures.options.epsilon
    return " ".join(
        [*sentences, allowed % {"share": percent(epsilon), "epsilon": f"{epsilon:.2f}"}]
    )


def _shared(people: PeopleCounts) -> str:
    if people.shared == people.answers:
        return _("all of them")
    return _("%s of them") % f"{people.shared:,}"


def _row(
    column: PointsColumn, names: dict[str, str], verdict: ReplacementVerdict
) -> dict[str, Any]:
    return {
        "key": column.key,
        "kind": column.kind,
        "name": names[column.key],
        "result": RESULTS[verdict.result],
        "badge": BADGES[verdict.result],
        "missing": missing_of(verdict),
        "rules": [
            {
                "result": RESULTS[outcome.result],
                "badge": BADGES[outcome.result],
                "numbers": numbers_of(rule, outcome),
            }
            for rule in RULES
            for outcome in [verdict.rules[rule]]
        ],
    }


# Agreement pages on pairs of raters, on replacing people and on comparing judges

TABLES = PAIR_TABLES | DETAIL_TABLES | JUDGE_TABLES
TABLE = "benchmark/agreement/_table.html"
BODIES = {
    "pairs": "benchmark/agreement/_pairs.html",
    "criteria": "benchmark/agreement/_criteria.html",
    "confusion": "benchmark/agreement/_confusion.html",
    "judges": "benchmark/agreement/_judges.html",
    "ceiling": "benchmark/agreement/_ceiling.html",
}
# Tabs of the agreement page: name in the URL, title, figures.
PARTS = (
    ("", gettext_lazy("Summary"), ("ceiling",)),
    ("pairs", gettext_lazy("Pairs of raters"), ("pairs", "criteria")),
    ("systems", gettext_lazy("Systems and aspects"), ("systems", "aspect", "concatenated")),
    ("detail", gettext_lazy("Pair in detail"), ("bland-altman", "confusion", "by-code")),
)
OF_A_PAIR = ("bland-altman", "confusion")
ON_JUDGES = ("judges", "consistency", "replicates", "preference", "length")


@study_page(*RESEARCHERS)
def score_agreement(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the agreement of all raters who scored the same answers."""
    part = chosen(request, "part", {key for key, _title, _slugs in PARTS})
    context = agreement_context(request, study, {key: slugs for key, _title, slugs in PARTS}[part])
    context |= {"part": part, "parts": [(key, title) for key, title, _slugs in PARTS]}
    if figures := context["figures"]:
        context |= _details(figures, context["choice"])
        context["finding"] = agreement_finding(figures, context["choice"])
    return render(request, "benchmark/agreement/agreement.html", context)


@study_page(*RESEARCHERS)
def score_replace(request: StudyRequest, study: Study) -> HttpResponse:
    """Show whether a judge can replace people, and for which criteria."""
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
        context["trust"] = {judge.key: judge for judge in trust}
        context["kept_out"] = [judge for judge in trust if judge.is_kept_out]
    if context["figures"]:
        context["finding"] = judges_finding(context["figures"].judges)
    return render(request, "benchmark/agreement/judges.html", context)


def agreement_context(
    request: StudyRequest, study: Study, slugs: tuple[str, ...]
) -> dict[str, Any]:
    """Return the context shared by all three pages; ``figures`` may be None."""
    state = shown_agreement(study, request.GET, request.user)
    snapshot, figures = state.snapshot, state.figures
    context: dict[str, Any] = {
        "study": study,
        "shown": state,
        "snapshot": snapshot,
        "figures": figures,
    }
    if not snapshot or not figures:
        return context
    choice = AgreementSelection.from_query(request.GET, figures, state.condition)
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


def card_of(
    snapshot: BoardSnapshot, figures: Agreement, choice: AgreementSelection, slug: str
) -> Figure:
    """Return one figure with its table, and its chart texts if it has a chart."""
    entry = TABLES[slug]
    way = entry.way or WAY
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
        needed=entry.needed or SHARED,
        way=(str(way[1]), reverse(way[0], args=[study])),
        body=BODIES.get(slug, PLAIN if chart else TABLE),
        rows=(_("Show answers"), f"{rows}?{pair}{choice.where}"),
        table=figure_table(snapshot, figures, choice, slug, entry),
        files=Files(
            view="score_agreement_figure",
            ids=(study,),
            query=choice.query,
            version=state_of(snapshot, choice),
        ),
        is_wide=True,
        **chart,
    )


def _about(figures: Agreement, choice: AgreementSelection, slug: str) -> str:
    """Return the name of the column or pair that a figure is about."""
    if slug == "pairs":
        return column_names(figures)[choice.column]
    return _pair_title(figures, choice) if slug in OF_A_PAIR else ""


def _pair_title(figures: Agreement, choice: AgreementSelection) -> str:
    names = rater_names(figures)
    return " – ".join(names[key] for key in (choice.first, choice.second) if key)


def _details(figures: Agreement, choice: AgreementSelection) -> dict[str, Any]:
    """Return the options and rows of the tables on the agreement page."""
    measure, people = choice.measure, figures.people.columns
    # Alphas are the only measures for people together.
    columns = figures.columns if measure.startswith("alpha") else ()
    return {
        "measures": [(name, MEASURE_NAMES[name]) for name in MEASURES],
        "pair": pair_of(figures, choice),
        "people_row": [figure_of(people[column.key], measure) for column in columns],
        "criteria_rows": [(pair, _cells(pair, measure)) for pair in figures.pairs],
        "is_signed": measure == "leniency",
    }


def _cells(pair: RaterPairFigures, measure: str) -> list[dict[str, Any]]:
    """Return each column's value and shade; negative values are shaded for leniency only."""
    cells = []
    for column, agreement in pair.columns.items():
        value = measure_value(agreement, measure)
        scale = 4 if measure == "leniency" else 1
        shade = None if value is None else min(1.0, scale * abs(value))
        is_shaded = value is not None and (value > 0 or measure == "leniency")
        cell = {"column": column, "value": value, "n": agreement.n}
        cells.append(cell | {"shade": shade if is_shaded else None})
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

PER_PAGE = 50


@study_page(*RESEARCHERS)
def score_rows(request: StudyRequest, study: Study) -> HttpResponse:
    """List answers with the points from two raters, largest difference first."""
    snapshot = snapshot_of(study, request.GET)
    context: dict[str, Any] = {"study": study, "snapshot": snapshot}
    if snapshot is None or not snapshot.agreement:
        return render(request, "benchmark/agreement/score_rows.html", context)
    from benchmark.agreement.reports import snapshot as report
    from benchmark.agreement.reports.tables import column_names, rater_names

    condition = known_condition(request.GET.get("condition", ""), snapshot.recipe)
    rows, rubric = bytes(snapshot.rows), snapshot.rubric.rubric
    table, grid = report.table_and_grid(rows, rubric, condition)
    wanted = report.ScoreSelection.from_query(request.GET, grid, condition)
    selection = report.behind(table, grid, wanted)
    figures = from_json(Agreement, snapshot.agreement)
    names, columns = rater_names(figures), column_names(figures)
    pair = (names.get(wanted.rater, ""), names.get(wanted.other, ""))
    if request.GET.get("format") == "csv":
        return table_file(report.rows_table(selection, pair, columns[wanted.column]), "csv")
    page = Paginator(range(len(selection)), PER_PAGE).get_page(request.GET.get("page"))
    start = page.start_index() - 1 if len(selection) else 0
    context |= {
        "wanted": wanted,
        "names": names,
        "pair": pair,
        "columns": columns,
        "conditions": conditions_of_rows(snapshot.recipe),
        "page": page,
        "rows": report.shown_rows(selection.iloc[start : start + PER_PAGE]),
    }
    return render(request, "benchmark/agreement/score_rows.html", context)


@study_page(*RESEARCHERS)
def score_sheet(request: StudyRequest, study: Study, sheet_id: uuid.UUID) -> HttpResponse:
    """Show one sheet, with its answer, points, notes or reasons, and the answer's other sheets."""
    sheet: ScoreSheet = sheet_or_404(study, sheet_id)
    answer = sheet.answer
    (column,), lists = side_by_side(answer.question, [answer.pk], is_blind=False)
    context = {
        "study": study,
        "sheet": sheet,
        "answer": answer,
        "about": about_answer(answer),
        "column": column,
        "lists": lists,
        "with_labels": False,
        **beside_sheet(sheet),
    }
    return render(request, "benchmark/agreement/score_sheet.html", context)


urlpatterns += [
    path("scores/rows/", score_rows, name="score_rows"),
    path("scores/sheets/<uuid:sheet_id>/", score_sheet, name="score_sheet"),
]


@study_page(*RESEARCHERS, only="GET")
def score_watch(request: StudyRequest, study: Study) -> HttpResponse:
    """Tell the page to reload if its figures are outdated; otherwise send an empty response."""
    if request.GET.get("condition"):
        state = shown_agreement(study, request.GET, request.user)
        return _refresh_if(bool(state.stored) or state.is_failed)
    rubric, _known = rubric_of(study, request)
    board_view = live_board(request, study, rubric) if rubric else None
    if board_view is None or board_view.snapshot is None:
        return _refresh_if(False)
    return _refresh_if(board_view.digest != request.GET.get("seen", ""))


def _refresh_if(is_newer: bool) -> HttpResponse:
    if not is_newer:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    response = HttpResponse()
    response["HX-Refresh"] = "true"
    return response


urlpatterns += [path("scores/watch/", score_watch, name="score_watch")]

"""Pages of preferences: comparisons, rounds, results, and runs by a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.core.paginator import Paginator
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext as _, gettext_lazy as lazy

from benchmark.preferences import reports
from benchmark.preferences.finding import CHARTS, finding
from benchmark.preferences.forms import (
    LONGEST_REASON,
    PreferenceRoundForm,
    PreferForm,
    PreferringRunForm,
)
from benchmark.preferences.kind import (
    KIND,
    NEEDED,
    ORDERS,
    PREFERRING,
    PreferenceContent,
    PreferringKind,
    turned,
)
from benchmark.preferences.methods.pairs import FIRST, SECOND, TIE
from benchmark.preferences.models import PreferenceItem, PreferenceRound, PreferenceSheet
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.boards import Board, BoardCell, BoardColumn, BoardRow, figure_cell
from cqa_site.results.figures import Figure, Files, figure_file, table_file
from cqa_site.rounds.examples import AnswerPart, parts_of
from cqa_site.rounds.pages.rounds import ListColumn, RoundPages, round_urls, trial_urls
from cqa_site.rounds.pages.work import TaskPages, work_urls
from cqa_site.rounds.progress import RaterProgress
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.runs.kinds import rater_of
from cqa_site.runs.models import Run
from cqa_site.runs.views.runs import run_context
from cqa_site.runs.views.start import PER_PAGE, RunPages, RunScope, run_urls
from cqa_site.web.charts.points import chart_of
from cqa_site.web.rest.queries import chosen

if TYPE_CHECKING:
    from benchmark.preferences.methods.ranking import PreferenceRanking, PreferenceStanding


# Verdicts in button order, with the displayed key and all keys that the script accepts.
VERDICTS = {
    "left": (lazy("A is better"), "A", "a arrowleft"),
    "tie": (lazy("Equally good"), "T", "t ="),
    "both_bad": (lazy("Both bad"), "N", "n"),
    "right": (lazy("B is better"), "B", "b arrowright"),
}


def _shown(sheet: PreferenceSheet, content: PreferenceContent) -> dict[str, Any]:
    """Return the data that the form can show: the question and two texts, without their origin."""
    texts = [sheet.pair.first.text, sheet.pair.second.text]
    left, right = reversed(texts) if sheet.is_swapped else texts
    return {
        "question": str(sheet.pair.question),
        "sides": [("a", "A", left), ("b", "B", right)],
        "verdicts": [(value, *words) for value, words in VERDICTS.items()],
        # The verdict that counts: the submitted verdict, or an empty one.
        "chosen": turned(PREFERRING.submitted(sheet).verdict, is_swapped=sheet.is_swapped),
        "comment": content.comment,
        "longest": LONGEST_REASON,
    }


def _said(sheet: PreferenceSheet, content: PreferenceContent) -> str:
    side = turned(content.verdict, is_swapped=sheet.is_swapped)
    return str(VERDICTS[side][0]) if side else ""


def _answers(sheet: PreferenceSheet, item: PreferenceItem) -> list[AnswerPart]:
    """Return the known and the given verdict, with sides as the person saw them."""
    known = PreferenceContent(**(item.key_points or {}))
    given = _said(sheet, PREFERRING.submitted(sheet))
    return [
        replace(part, known=_said(sheet, known), given=given) for part in parts_of(sheet, item)
    ]


def _parts(sheet: PreferenceSheet, content: PreferenceContent) -> dict[str, str]:
    return {_("Verdict"): _said(sheet, content), _("Reason"): content.comment}


def _drawn(round_: PreferenceRound) -> list[tuple[Any, Any]]:
    recipe = round_.recipe
    others = _("all") if "all" in recipe["conditions"] else _("plain conditions only")
    rows = [
        (_("Systems"), ", ".join(recipe["system_names"]) or _("all")),
        (_("Conditions"), "; ".join(recipe["condition_names"]) or others),
        (_("Scenarios and conditions mixed"), _("yes") if recipe["is_mixed"] else _("no")),
        (_("Matching answers"), recipe["answers"]),
        (_("Pairs requested"), recipe["size"]),
        (_("People per pair"), round_.raters),
    ]
    if recipe["controls"] or recipe["control_share"]:
        rows.append((_("Your own control pairs"), len(recipe["controls"])))
        rows.append((_("Share of control pairs"), f"{recipe['control_share']:g}"))
        rows.append((_("Point difference in a control pair"), f"{recipe['control_gap']:g}"))
    if recipe["fewer_because"]:
        rows.append((_("Reason for fewer pairs"), recipe["fewer_because"]))
    return rows


WORK = TaskPages(
    kind=PREFERRING,
    form=PreferForm,
    shown=_shown,
    said=_parts,
    told=lambda sheet: (str(sheet.pair.question), _said(sheet, PREFERRING.submitted(sheet))),
    answers=_answers,
    templates="benchmark/preferences/prefer",
)


def _figure(name: str) -> Callable[[RaterProgress], Any]:
    return lambda person: person.figures[name]


def _better(item: PreferenceItem) -> str:
    """Return the known better system of a control pair; empty if neither is better."""
    better = {FIRST: item.pair.first.system.name, SECOND: item.pair.second.system.name}
    return better.get((item.known or {}).get("verdict", ""), "")


def _written(item: PreferenceItem) -> str:
    """Return the conditions of the two answers, or a single condition if they are the same."""
    both = (item.pair.first.condition, item.pair.second.condition)
    return " / ".join(dict.fromkeys(str(condition) for condition in both))


ROUNDS = RoundPages(
    form=PreferenceRoundForm,
    is_ready=lambda study: study.answers.exists(),
    needs=lazy("Import or generate answers first. A round then draws pairs from them."),
    people=(
        ListColumn(lazy("A (left)"), _figure("left"), css="number"),
        ListColumn(lazy("B (right)"), _figure("right"), css="number"),
        ListColumn(lazy("Equal"), _figure("tie"), css="number"),
        ListColumn(lazy("Both bad"), _figure("both_bad"), css="number"),
    ),
    things=(
        ListColumn(lazy("Question"), lambda item: item.pair.question, css="question"),
        ListColumn(lazy("First system"), lambda item: item.pair.first.system),
        ListColumn(lazy("Second system"), lambda item: item.pair.second.system),
        ListColumn(lazy("Condition"), _written),
    ),
    draw=(ListColumn(lazy("System known to be better"), _better),),
    drawn=_drawn,
)


@study_page(*RESEARCHERS, only="GET")
def preferences(request: StudyRequest, study: Study) -> HttpResponse:
    """Show which systems people or a judge prefer, and whether points agree."""
    choices = reports.choices_of(study)
    choice = _chosen(request, choices)
    results = reports.results_of(study, choice) if choice else None
    context: dict[str, Any] = {"study": study, "choices": choices, "choice": choice}
    if choice is not None and results is not None:
        context |= {"finding": finding(results, choice), "cards": _figures(study, choice, results)}
    return render(request, "benchmark/preferences/results.html", context)


def _figures(
    study: Study, choice: reports.VerdictSource, results: reports.Results
) -> list[Figure]:
    """Return the ranking, the win matrix, the comparison with points, and the checks."""
    files = Files(
        view="preferences_figure",
        ids=(study.public_id,),
        query=f"by={choice.name}",
        version=reports.state_of(results),
    )
    verdicts = reverse("preferences_figure", args=[study.public_id, "verdicts", "csv"])
    figures = [
        Figure(
            slug="ranking",
            title=_("Ranking"),
            recipe=_recipe(results.ranking),
            table=reports.ranking_table(results),
            body="benchmark/preferences/_ranking.html",
            data=_ranking(results.ranking),
            files=files,
            is_wide=True,
            more=[(_("All verdicts (CSV)"), verdicts)],
            **chart_of(CHARTS, "ranking", results),
        ),
        Figure(
            slug="matrix",
            title=_("Head-to-head results"),
            recipe=_(
                "Share of verdicts that the row's system won against the column's; equal and "
                "both bad count as half. Below: won – equal – lost."
            ),
            table=reports.matrix_table(results),
            body="benchmark/preferences/_matrix.html",
            data=reports.matrix_rows(results),
            files=files,
            is_wide=True,
        ),
    ]
    beside = reports.beside_table(results)
    if beside.rows:
        figures.append(
            Figure(
                slug="beside",
                title=_("Comparison with points"),
                recipe=reports.beside_recipe(results),
                table=beside,
                files=files,
                is_wide=True,
            )
        )
    figures.append(
        Figure(
            slug="checks",
            title=_("Ranking checks"),
            recipe=reports.checks_recipe(results),
            table=reports.checks_table(results),
            files=files,
            is_wide=True,
        )
    )
    return figures


def _recipe(ranking: PreferenceRanking) -> str:
    """State how the ranking was computed and, if intervals are missing, why."""
    recipe = [_("Log strengths of Davidson’s model, mean 0; both bad counts as a tie.")]
    if ranking.strengths.is_penalized:
        recipe.append(_("Penalized: half a win and half a loss are added for each system."))
    recipe.append(
        _("Win rate: wins plus half the ties, as a share of all verdicts on the system.")
    )
    if ranking.reason:
        recipe.append(_("Strengths without intervals: %s.") % ranking.reason)
    if ranking.pairs:
        sure = _(
            "All pairs of systems are tested by leaving out one of %(n)d questions at a time, "
            "with Holm's correction; ranks and groups follow from these tests."
        )
        recipe.append(sure % {"n": ranking.n_questions})
    return " ".join(recipe)


def _ranking(ranking: PreferenceRanking) -> Board:
    name = _("Penalized log strength") if ranking.strengths.is_penalized else _("Log strength")
    counts = {
        "wins": _("Won"),
        "losses": _("Lost"),
        "ties": _("Equal"),
        "both_bad": _("Both bad"),
        "n_questions": _("Questions"),
    }
    columns = [
        BoardColumn("log_strength", name, figure_cell, word="log strength"),
        BoardColumn("win_rate", _("Win rate"), lambda standing: figure_cell(standing.win_rate)),
    ]
    columns += [BoardColumn(key, title, _count(key)) for key, title in counts.items()]
    rows = [
        BoardRow(
            name=standing.system,
            place=standing,
            cells=[column.cell(standing) for column in columns],
        )
        for standing in ranking.standings
    ]
    rows += [
        BoardRow(name=system, cells=(), why=reason, is_low=True)
        for system, reason in ranking.strengths.unranked.items()
    ]
    return Board(columns=columns, rows=rows)


def _count(name: str) -> Callable[[PreferenceStanding], BoardCell]:
    return lambda standing: BoardCell(str(getattr(standing, name)))


@study_page(*RESEARCHERS, only="GET")
def preferences_figure(
    request: StudyRequest, study: Study, figure: str, format: str
) -> HttpResponse:
    """Send the table or chart of a figure, or the verdicts behind all figures."""
    if figure == "verdicts":
        return table_file(reports.verdicts_table(study), format)
    choice = _chosen(request, reports.choices_of(study))
    results = reports.results_of(study, choice) if choice else None
    cards = _figures(study, choice, results) if choice and results else []
    return figure_file(request, cards, figure, format)


def _chosen(
    request: StudyRequest, choices: list[reports.VerdictSource]
) -> reports.VerdictSource | None:
    """Return the source named in the address, or the first source if the address names none."""
    return reports.chosen_of(choices, chosen(request, "by", {choice.name for choice in choices}))


urlpatterns = [
    path("preferences/", preferences, name="preferences"),
    path("preferences/<slug:figure>.<str:format>", preferences_figure, name="preferences_figure"),
    *round_urls(ROUNDS, "preferences/rounds/", "preference_id"),
    *trial_urls(WORK, "prefer/<uuid:preference_id>/"),
    *work_urls(
        WORK,
        rounds="prefer/<uuid:preference_id>/",
        sheets="prefer/sheets/<uuid:pair_sheet_id>/",
        conflicts="conflicts/<uuid:pair_conflict_id>/",
    ),
]


def _taken(study: Study, form: RunPlanForm, requests: int) -> RunScope:
    """Return the number of pairs and the number of requests about them."""
    pairs = requests // len(ORDERS)
    return RunScope([(lazy("Pairs"), pairs), (lazy("Requests, one per order"), requests)])


RUN_PAGES = RunPages(
    kind=KIND,
    name="preference",
    form=PreferringRunForm,
    heading=lazy("Scope"),
    rows=(("choice",), ("preference_round", "sample")),
    has_things=lambda study: study.pairs.exists(),
    taken=_taken,
    about=lazy(
        "Language models compare the pairs of answers that people compare, each in both orders. "
        "Two different verdicts on a pair count as a tie."
    ),
    new=lazy("Compare with a judge"),
    lead=lazy(
        "The model sees what people see: the question and two answers, but not who wrote them. "
        "Each pair is compared in both orders."
    ),
    nothing=lazy(
        "A judge compares the pairs of preference rounds. Create a round first; a draft is enough."
    ),
)


@dataclass(frozen=True)
class PairJudgement:
    """One judge's verdicts on a pair, with the first answer on the left and on the right."""

    left: PreferenceSheet | None
    right: PreferenceSheet | None

    @property
    def sheets(self) -> tuple[PreferenceSheet | None, ...]:
        """The sheets in column order."""
        return self.left, self.right

    @property
    def said(self) -> list[str]:
        """Verdicts that could be read."""
        return [sheet.verdict for sheet in self.sheets if sheet and sheet.verdict]

    @property
    def is_contradiction(self) -> bool:
        """Whether the two orders gave different verdicts."""
        return len(set(self.said)) == 2

    @property
    def verdict(self) -> str:
        """The verdict that counts; empty if no reply could be read."""
        return TIE if self.is_contradiction else next(iter(self.said), "")

    @property
    def counts_as(self) -> str:
        """Verdict as text."""
        return str(PreferenceSheet.Verdict(self.verdict).label) if self.verdict else "–"

    @property
    def known(self) -> str:
        """The known verdict of a control pair; empty for other pairs."""
        return next((reports.known_verdict(sheet) for sheet in self.sheets if sheet), "")


def pair_judgements(sheets: Iterable[PreferenceSheet]) -> dict[int, PairJudgement]:
    by_pair: dict[int, dict[bool, PreferenceSheet]] = {}
    for sheet in sheets:
        by_pair.setdefault(sheet.pair_id, {})[sheet.is_swapped] = sheet
    return {
        key: PairJudgement(orders.get(False), orders.get(True)) for key, orders in by_pair.items()
    }


def totals_of(judgements: Iterable[PairJudgement]) -> Counter[str]:
    """Count pairs by number of readable verdicts, by consistency, and by match with controls."""
    totals: Counter[str] = Counter()
    for judgement in judgements:
        n = len(judgement.said)
        totals[("none", "one", "both")[n]] += 1
        totals["contradictions"] += judgement.is_contradiction
        totals["same"] += n == 2 and not judgement.is_contradiction
        totals["controls"] += bool(judgement.known and judgement.verdict)
        totals["met"] += bool(judgement.known) and judgement.verdict == judgement.known
    return totals


def run_page(request: HttpRequest, study: Study, run: Run) -> HttpResponse:
    """Show one run: its progress, settings, verdicts and consistency."""
    target = run.spec["target"]
    sheets = reports.with_known(run.preference_sheets.defer("draft"))
    pairs = study.pairs.filter(sheets__run=run).distinct().select_related(*NEEDED)
    pairs = pairs.prefetch_related(Prefetch("sheets", sheets, to_attr="said_here"))
    page = Paginator(pairs.order_by("pk"), PER_PAGE).get_page(request.GET.get("page"))
    context = run_context(study, run) | {
        "target": target,
        "round": PreferenceRound.objects.filter(
            study=study, public_id__in=[target["round"] or None]
        ).first(),
        "rater": rater_of(run),
        "totals": totals_of(pair_judgements(sheets.defer("comment", "draft")).values()),
        "sides": PreferringKind().values(run),
        "page": page,
        "rows": [(pair, pair_judgements(vars(pair)["said_here"])[pair.pk]) for pair in page],
    }
    return render(request, "benchmark/preferences/run.html", context)


urlpatterns += run_urls(RUN_PAGES, "preferences/judges/")

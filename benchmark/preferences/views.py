"""Pages of preferences: comparing two answers, rounds, and what the verdicts say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.views.decorators.http import require_safe

from benchmark.preferences import reports
from benchmark.preferences.forms import LONGEST_REASON, PreferForm, RoundForm
from benchmark.preferences.kind import PREFERRING, PreferenceContent, turned
from benchmark.preferences.methods.verdicts import FIRST, SECOND
from benchmark.preferences.models import PreferenceItem, PreferenceRound, PreferenceSheet
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.boards import Board, BoardCell, BoardRow, figure_cell
from cqa_site.results.files import table_file
from cqa_site.rounds.access import shown_sheets
from cqa_site.rounds.pages.rounds import Column, RoundFace, round_urls
from cqa_site.rounds.pages.trial import trial_urls
from cqa_site.rounds.pages.work import Face, address_of, work_urls
from cqa_site.rounds.progress import RaterProgress
from cqa_site.rounds.qualifying import EXCLUSIONS
from cqa_site.web.strict_query import chosen

if TYPE_CHECKING:
    from benchmark.preferences.methods.preference_ranking import PreferenceRanking

# What can be said, with its key; the order of the buttons.
VERDICTS = {
    "left": (lazy("A is better"), "A"),
    "tie": (lazy("Equally good"), "T"),
    "both_bad": (lazy("Both bad"), "N"),
    "right": (lazy("B is better"), "B"),
}


def _shown(sheet: PreferenceSheet, content: PreferenceContent) -> dict[str, Any]:
    """What the form may know: the question and two texts, without who wrote them and why."""
    texts = [sheet.pair.first.text, sheet.pair.second.text]
    left, right = reversed(texts) if sheet.is_swapped else texts
    assert sheet.round is not None  # noqa: S101 - work pages are of rounds
    mine = shown_sheets(sheet.round, sheet.rater)
    before = mine.filter(place__lt=sheet.place, state=PreferenceSheet.State.SUBMITTED).first()
    return {
        "question": str(sheet.pair.question),
        "sides": [("a", "A", left), ("b", "B", right)],
        "verdicts": [(value, *words) for value, words in VERDICTS.items()],
        "chosen": turned(content.verdict, is_swapped=sheet.is_swapped),
        "comment": content.comment,
        "longest": LONGEST_REASON,
        "before": address_of(before) if before else "",
    }


def _said(sheet: PreferenceSheet, content: PreferenceContent) -> str:
    side = turned(content.verdict, is_swapped=sheet.is_swapped)
    return str(VERDICTS[side][0]) if side else ""


def _told(sheet: PreferenceSheet) -> tuple[str, str]:
    return str(sheet.pair.question), _said(sheet, PREFERRING.submitted(sheet))


def _parts(sheet: PreferenceSheet, content: PreferenceContent) -> dict[str, str]:
    return {_("Verdict"): _said(sheet, content), _("Reason"): content.comment}


def _drawn(round_: PreferenceRound) -> list[tuple[Any, Any]]:
    recipe = round_.recipe
    others = _("all") if "all" in recipe["conditions"] else _("plain ones only")
    rows = [
        (_("Systems"), ", ".join(recipe["system_names"]) or _("all")),
        (_("Conditions"), "; ".join(recipe["condition_names"]) or others),
        (_("Scenarios and conditions mixed"), _("yes") if recipe["is_mixed"] else _("no")),
        (_("Answers that matched"), recipe["answers"]),
        (_("Pairs wanted"), recipe["size"]),
        (_("People for each pair"), round_.raters),
    ]
    if recipe["controls"] or recipe["control_share"]:
        rows.append((_("Controls of your own"), len(recipe["controls"])))
        rows.append((_("Share of pairs with a known verdict"), f"{recipe['control_share']:g}"))
        rows.append((_("Points between their answers"), f"{recipe['control_gap']:g}"))
    if recipe["fewer_because"]:
        rows.append((_("Why there are fewer"), recipe["fewer_because"]))
    return rows


WORK = Face(
    kind=PREFERRING,
    form=PreferForm,
    shown=_shown,
    said=_parts,
    told=_told,
    templates="benchmark/preferences/prefer",
)


def _figure(name: str) -> Callable[[RaterProgress], Any]:
    return lambda person: person.figures[name]


def _controls(person: RaterProgress) -> str:
    """How many control pairs were met, of how many; empty where none came."""
    n = person.figures["controls"]
    return _("%(met)d of %(n)d") % {"met": person.figures["met"], "n": n} if n else ""


def _better(item: PreferenceItem) -> str:
    """The system that a control pair is known to prefer."""
    better = {FIRST: item.pair.first.system.name, SECOND: item.pair.second.system.name}
    return better.get(item.known, "")


def _written(item: PreferenceItem) -> str:
    """Under what the two answers were written, once where it is the same."""
    both = (item.pair.first.condition, item.pair.second.condition)
    return " / ".join(dict.fromkeys(str(each) for each in both))


ROUNDS = RoundFace(
    form=RoundForm,
    is_ready=lambda study: study.answers.exists(),
    needs=lazy("Import or generate answers first. A round then draws pairs of them."),
    people=(
        Column(lazy("Left"), _figure("left"), css="number"),
        Column(lazy("Right"), _figure("right"), css="number"),
        Column(lazy("Equal"), _figure("tie"), css="number"),
        Column(lazy("Both bad"), _figure("both_bad"), css="number"),
        Column(lazy("Controls met"), _controls, css="number nowrap"),
    ),
    things=(
        Column(lazy("Question"), lambda item: item.pair.question, css="question"),
        Column(lazy("One system"), lambda item: item.pair.first.system),
        Column(lazy("The other"), lambda item: item.pair.second.system),
        Column(lazy("Condition"), _written),
        Column(lazy("Known to be better"), _better),
    ),
    drawn=_drawn,
    decisions=EXCLUSIONS,
)


@study_page(*RESEARCHERS)
@require_safe
def preferences(request: StudyRequest, study: Study) -> HttpResponse:
    """Show which systems people or a judge prefer, and whether points say the same."""
    choices = reports.choices_of(study)
    choice = _chosen(request, choices)
    results = reports.results_of(study, choice) if choice else None
    context: dict[str, Any] = {
        "study": study,
        "choices": choices,
        "choice": choice,
        "results": results,
    }
    if choice is not None and results is not None:
        context |= {
            "ranking": _ranking(results.ranking),
            "finding": reports.finding(results, choice),
            "matrix": reports.matrix_rows(results),
            "beside": reports.beside_rows(results),
            "checks": reports.checks(results),
        }
    return render(request, "benchmark/preferences/results.html", context)


def _ranking(found: PreferenceRanking) -> Board:
    caption = _("Log strengths of Davidson’s model, mean 0; both bad counts as a tie.")
    if found.standings and not found.reason:
        sure = _(
            "Intervals and places: 95 %%, %(n)d resamples of %(questions)d questions. Systems of "
            "one tie group cannot be told apart (Holm)."
        )
        caption += f" {sure % {'n': found.n_resamples, 'questions': found.n_questions}}"
    counts = ("wins", "losses", "ties", "both_bad", "n_questions")
    rows = [
        BoardRow(
            name=each.system,
            rank=each.rank,
            rank_low=each.rank_low,
            rank_high=each.rank_high,
            tie_group=each.tie_group,
            cells=[
                figure_cell(each.log_strength, each.low, each.high),
                *(BoardCell(str(getattr(each, name))) for name in counts),
            ],
        )
        for each in found.standings
    ]
    rows += [
        BoardRow(name=system, cells=(), why=reason, is_low=True)
        for system, reason in found.strengths.unranked.items()
    ]
    columns = [_("Log strength"), _("Won"), _("Lost"), _("Equal"), _("Both bad"), _("Questions")]
    return Board(columns=columns, rows=rows, caption=caption)


@study_page(*RESEARCHERS)
@require_safe
def preferences_table(request: StudyRequest, study: Study, figure: str) -> HttpResponse:
    """Download the ranking, the matrix, or the verdicts behind both."""
    if figure == "verdicts":
        table = reports.verdicts_table(study)
    else:
        choice = _chosen(request, reports.choices_of(study))
        results = reports.results_of(study, choice) if choice else None
        made = {"ranking": reports.ranking_table, "matrix": reports.matrix_table}.get(figure)
        if results is None or made is None:
            raise Http404
        table = made(results)
    return table_file(table, "csv")


def _chosen(request: StudyRequest, choices: list[reports.Choice]) -> reports.Choice | None:
    """Whose verdicts the address asks for; people's, or the first judge's, where it names none."""
    return reports.chosen_of(choices, chosen(request, "by", {each.name for each in choices}))


urlpatterns = [
    path("preferences/", preferences, name="preferences"),
    path("preferences/<slug:figure>.csv", preferences_table, name="preferences_table"),
    *round_urls(ROUNDS, "preferences/rounds/", "preference_id"),
    *trial_urls(WORK, "prefer/<uuid:preference_id>/"),
    *work_urls(
        WORK,
        rounds="prefer/<uuid:preference_id>/",
        sheets="prefer/sheets/<uuid:pair_sheet_id>/",
        kept="kept/<uuid:kept_pair_id>/",
    ),
]

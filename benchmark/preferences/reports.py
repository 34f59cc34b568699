"""Ranking of systems by preferences, compared with their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from django.db.models import Avg, Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from benchmark.preferences.models import PreferenceItem, PreferenceSheet
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.reports.sheets import PEOPLE, counted_sheets
from cqa_site.judging.chat import digest
from cqa_site.people.models import Rater, Study
from cqa_site.results.figures import Column, EstimateColumn, TextColumn, table_of
from cqa_site.rounds.models import COUNTED, HANDED_IN, ORDINARY
from cqa_site.web.tables import TableData

if TYPE_CHECKING:
    import pandas as pd

    from benchmark.preferences.methods.consistency import TwoRankings
    from benchmark.preferences.methods.davidson import Strengths
    from benchmark.preferences.methods.ranking import PreferenceRanking
    from benchmark.preferences.methods.verdict_tables import Verdicts
    from cqa_site.stats.estimate import Estimate

KEPT_SECONDS = 24 * 3600
# Increased whenever the same rows would give other figures.
RECIPE_VERSION = 5
FIELDS = {
    "question": "pair__question",
    "pair": "pair",
    "first": "pair__first__system__name",
    "second": "pair__second__system__name",
    "outcome": "verdict",
    "rater": "rater__public_id",
    "is_swapped": "is_swapped",
    "first_scenario": "pair__first__scenario",
    "second_scenario": "pair__second__scenario",
    "first_condition": "pair__first__condition",
    "second_condition": "pair__second__condition",
}

PEOPLE_NAME = "people"

# Control items with a sheet's pair, unless a round has the pair as an ordinary item. For judges,
# these items decide, not a mark on the sheet, because a pair can become a control item later.
_same_pair = PreferenceItem.objects.filter(pair=OuterRef("pair"))
PAIR_CONTROLS = _same_pair.filter(~Exists(_same_pair.filter(ORDINARY)), known__isnull=False)
RANKED = COUNTED & Q(run__isnull=True) | HANDED_IN & Q(~Exists(PAIR_CONTROLS), run__isnull=False)


def with_known(sheets: QuerySet[PreferenceSheet]) -> QuerySet[PreferenceSheet]:
    """Add ``pair_known``, the known verdict on a sheet's pair according to control items."""
    return sheets.annotate(pair_known=Subquery(PAIR_CONTROLS.order_by("-pk").values("known")[:1]))


def known_verdict(sheet: PreferenceSheet) -> str:
    """Return the known verdict on a sheet's pair, as added by `with_known`; empty if unknown."""
    known = vars(sheet)["pair_known"] if sheet.run_id else sheet.known
    return known["verdict"] if known else ""


@dataclass(frozen=True, kw_only=True)
class VerdictSource:
    """Source of the ranked verdicts: all people together, or one judge.

    ``name`` is "people" or the id of the judge's rater; ``sheets`` is the number of verdicts that
    count, and ``unscored`` the number of replies without a verdict.
    """

    name: str
    label: str
    sheets: int
    unscored: int
    raters: tuple[int, ...]

    @property
    def is_judge(self) -> bool:
        return self.name != PEOPLE_NAME


@dataclass(frozen=True, kw_only=True)
class Results:
    """All figures on the preferences page.

    ``merged`` has one verdict per rater and pair: ``n_made_ties`` of them are ties because the
    rater's verdicts in the two orders differ, and ``n_one_order`` of them come from one order
    only. ``consistency`` covers the pairs that a rater judged in both orders, ``left`` is the
    share of decided verdicts for the left answer, and ``same`` is how often a judge and people
    give the same verdict.
    """

    merged: Verdicts
    n_verdicts: int
    n_again: int
    n_made_ties: int
    n_one_order: int
    ranking: PreferenceRanking
    consistency: Estimate
    left: Estimate
    same: Estimate | None
    beside: TwoRankings | None
    scored_by: str
    rubric: str


def choices_of(study: Study) -> list[VerdictSource]:
    """Return people and then each judge as sources of verdicts, using one query."""
    rows = (
        PreferenceSheet.objects.filter(study=study)
        .order_by()
        .values("rater", "rater__public_id", "rater__name", "rater__kind")
        .annotate(
            sheets=Count("pk", filter=RANKED), unscored=Count("pk", filter=Q(state="unscored"))
        )
        .order_by("rater")
    )
    raters = [row for row in rows if row["sheets"] or row["unscored"]]
    people = [row for row in raters if row["rater__kind"] != Rater.Kind.MODEL]
    judges = [row for row in raters if row["rater__kind"] == Rater.Kind.MODEL]
    choices = [_choice(PEOPLE_NAME, str(_("People")), people)] if people else []
    return choices + [
        _choice(str(row["rater__public_id"]), row["rater__name"], [row]) for row in judges
    ]


def chosen_of(choices: Sequence[VerdictSource], name: str) -> VerdictSource | None:
    """Return the source with that name, or the first source if no name is given."""
    if not name:
        return next(iter(choices), None)
    return next((choice for choice in choices if choice.name == name), None)


def _choice(name: str, label: str, rows: Sequence[Mapping[str, Any]]) -> VerdictSource:
    return VerdictSource(
        name=name,
        label=label,
        sheets=sum(row["sheets"] for row in rows),
        unscored=sum(row["unscored"] for row in rows),
        raters=tuple(row["rater"] for row in rows),
    )


def counted_verdicts(
    study: Study, choice: VerdictSource | None = None
) -> QuerySet[PreferenceSheet]:
    """Return the sheets that count: those submitted, except examples, surplus and excluded sheets.

    Control pairs are not included. If no source is given, all raters' verdicts are included.
    """
    rows = PreferenceSheet.objects.filter(RANKED, study=study).order_by("submitted_at", "pk")
    return rows if choice is None else rows.filter(rater__in=choice.raters)


def verdict_table(study: Study, choice: VerdictSource | None = None) -> pd.DataFrame:
    """Return one row per verdict for `Verdicts.from_frame`, with details of both answers.

    It uses one query. If a rater was given a pair in the same order in two rounds or runs, the
    last verdict counts.
    """
    import pandas as pd

    rows = counted_verdicts(study, choice).values_list(*FIELDS.values())
    table = pd.DataFrame.from_records(list(rows), columns=list(FIELDS))
    table["rater"] = table["rater"].astype(str)
    table["side"] = table.pop("is_swapped").map({True: "right", False: "left"})
    return table.drop_duplicates(["rater", "pair", "side"], keep="last")


def known_strengths(study: Study) -> Strengths | None:
    """Return strengths from people's verdicts so far, for planning, or None if unavailable."""
    from benchmark.preferences.methods.consistency import merge_orders
    from benchmark.preferences.methods.davidson import NotConvergedError, fit_strengths
    from benchmark.preferences.methods.verdict_tables import Verdicts

    people = people_of(study)
    if people is None:
        return None
    table = verdict_table(study, people)
    try:
        strengths = fit_strengths(merge_orders(Verdicts.from_frame(table)).verdicts)
    except NotConvergedError:
        return None
    return None if strengths.reason else strengths


def people_of(study: Study) -> VerdictSource | None:
    """Return the source for all people together; None if people gave no verdicts."""
    return next((choice for choice in choices_of(study) if not choice.is_judge), None)


def results_of(study: Study, choice: VerdictSource) -> Results | None:
    """Return the figures, cached for the same rows; None if there are no rows."""
    table = verdict_table(study, choice)
    if table.empty:
        return None
    people = people_of(study) if choice.is_judge else None
    others = verdict_table(study, people) if people else table.iloc[:0]
    rubric = rubric_of(study)
    scored_by, scores = _scores(rubric, table)
    seen = [RECIPE_VERSION, str(rubric), scored_by]
    seen += [frame.to_csv() for frame in (table, others, scores)]
    key = f"preferences:{study.pk}:{digest(seen)}"
    results: Results | None = cache.get(key)
    if results is None:
        results = _compute(table, others, scores, scored_by, str(rubric or ""))
        cache.set(key, results, KEPT_SECONDS)
    return results


def _compute(
    table: pd.DataFrame, others: pd.DataFrame, scores: pd.DataFrame, scored_by: str, rubric: str
) -> Results:
    from benchmark.preferences.methods.consistency import (
        compare_rankings,
        left_share,
        merge_orders,
        order_consistency,
        same_verdict,
    )
    from benchmark.preferences.methods.ranking import rank_by_preference
    from benchmark.preferences.methods.verdict_tables import Verdicts

    verdicts = Verdicts.from_frame(table)
    both = merge_orders(verdicts)
    beside = None if scores.empty else compare_rankings(both.verdicts, scores)
    same = None
    if not others.empty:
        theirs = merge_orders(Verdicts.from_frame(others)).verdicts
        same = same_verdict(both.verdicts, theirs)
    return Results(
        merged=both.verdicts,
        n_verdicts=len(verdicts),
        n_again=both.n_both,
        n_made_ties=both.n_made_ties,
        n_one_order=both.n_one_order,
        ranking=rank_by_preference(both.verdicts),
        consistency=order_consistency(verdicts),
        left=left_share(verdicts),
        same=same,
        beside=beside,
        scored_by=scored_by,
        rubric=rubric,
    )


def rubric_of(study: Study) -> RubricVersion | None:
    """Return the rubric version with the most sheets; the newest wins ties."""
    used = study.rubric_versions.annotate(n=Count("sheets")).filter(n__gt=0)
    return used.order_by("-n", "-pk").first()


def _scores(rubric: RubricVersion | None, table: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Return who gave the points, and the mean points of systems (rows) on questions (columns).

    Only answers under the compared scenarios and conditions are used. Their points come from
    people if people scored any of these answers, otherwise from judges. An answer's points are the
    mean of its sheets.
    """
    import pandas as pd

    if rubric is None:
        return "", pd.DataFrame()
    sheets = counted_sheets(rubric).filter(
        total__isnull=False,
        answer__scenario__in=_of_both(table, "{}_scenario"),
        answer__condition__in=_of_both(table, "{}_condition"),
        answer__system__name__in=_of_both(table, "{}"),
    )
    about = ("answer__system__name", "answer__question", "answer")
    for name, rows in (("people", sheets.filter(rater__kind__in=PEOPLE)), ("judges", sheets)):
        means = rows.order_by().values_list(*about).annotate(Avg("total"))
        columns = ["system", "question", "answer", "points"]
        frame = pd.DataFrame.from_records(list(means), columns=columns)
        if not frame.empty:
            return name, frame.pivot_table("points", "system", "question", aggfunc="mean")
    return "", pd.DataFrame()


def _of_both(table: pd.DataFrame, name: str) -> list[Any]:
    """Return the distinct values of a column for the first and second answers of all pairs."""
    return list(dict.fromkeys([*table[name.format("first")], *table[name.format("second")]]))


# Rows are (standing or None, system, its mean points, reason why it is unranked).
RANKING = (
    Column("rank", "0.rank"),
    Column("system", "1"),
    Column("log_strength", "0.value"),
    Column("low", "0.low"),
    Column("high", "0.high"),
    Column("rank_low", "0.rank_low"),
    Column("rank_high", "0.rank_high"),
    Column("tie_group", "0.tie_group"),
    Column("win_rate", "0.win_rate.value"),
    Column("win_rate_low", "0.win_rate.low"),
    Column("win_rate_high", "0.win_rate.high"),
    *(Column(name, f"0.{name}") for name in ("wins", "losses", "ties", "both_bad", "n_questions")),
    Column("mean_points", "2"),
    Column("why_unranked", "3"),
)


def ranking_table(results: Results) -> TableData:
    """Return one row per system: ranked systems, then unranked systems with the reason."""
    points, unranked = _points(results), results.ranking.strengths.unranked
    rows: list[tuple[Any, ...]] = [
        (standing, standing.system, points.get(standing.system), None)
        for standing in results.ranking.standings
    ]
    rows += [(None, system, points.get(system), why) for system, why in unranked.items()]
    return table_of(RANKING, rows, name="preferences")


def matrix_table(results: Results) -> TableData:
    """Return wins, ties (including both bad), losses and verdicts for every pair of systems."""
    return table_of(MATRIX, meetings_of(results), name="preference-matrix")


MATRIX = [Column(name, name) for name in ("system", "against", "wins", "ties", "losses", "n")]


def meetings_of(results: Results) -> list[dict[str, Any]]:
    """Return every pair of compared systems, with their verdicts by outcome."""
    return [
        {"system": system, "against": other, "wins": wins, "ties": ties, "losses": losses}
        | {"n": wins + ties + losses}
        for (system, other), (wins, ties, losses) in _meetings(results).items()
        if wins + ties + losses
    ]


VERDICTS = (
    TextColumn("question", "pair.question"),
    Column("first_system", "pair.first.system.name"),
    Column("second_system", "pair.second.system.name"),
    TextColumn("first_answer", "pair.first.public_id"),
    TextColumn("second_answer", "pair.second.public_id"),
    Column("left_was", lambda sheet: "second" if sheet.is_swapped else "first"),
    Column("verdict", "verdict"),
    Column("reason", "comment"),
    Column(
        "rater",
        lambda sheet: (
            sheet.rater.name if sheet.rater.kind == Rater.Kind.MODEL else sheet.rater.pseudonym
        ),
    ),
    Column("rater_kind", "rater.kind"),
    TextColumn("round", "round.name"),
    Column("run", "run.number"),
    Column("again", "replicate"),
    Column(
        "submitted_at", lambda sheet: sheet.submitted_at.isoformat() if sheet.submitted_at else ""
    ),
)


def verdicts_table(study: Study, choice: VerdictSource | None = None) -> TableData:
    """Return the verdicts, with pseudonyms for people; if no source is given, return them all."""
    sheets = counted_verdicts(study, choice).select_related(
        "pair__question__comparison",
        "pair__first__system",
        "pair__second__system",
        "rater",
        "round",
        "run",
    )
    return table_of(VERDICTS, sheets, name="preference-verdicts")


def matrix_rows(results: Results) -> list[tuple[str, list[dict[str, Any] | None]]]:
    """Return the matrix for the page: shares of wins (ties count half), with the counts."""
    names = _names(results)
    meetings = _meetings(results)
    return [
        (name, [None if name == other else _cell(meetings[name, other]) for other in names])
        for name in names
    ]


BESIDE = (
    Column(lazy("System"), "0"),
    Column(lazy("Rank by preference"), "1"),
    Column(lazy("Rank by points"), "2"),
    Column(lazy("Log strength"), "3"),
    Column(lazy("Mean points"), "4"),
)


def beside_table(results: Results) -> TableData:
    """Return systems with both ranks, most preferred first; empty if any system has no scores."""
    beside, rows = results.beside, []
    if beside is not None and beside.means:
        by_points = sorted(beside.means, reverse=True)
        both = zip(beside.systems, beside.log_strengths, beside.means, strict=True)
        rows = [
            (system, place, by_points.index(mean) + 1, strength, mean)
            for place, (system, strength, mean) in enumerate(both, 1)
        ]
    return table_of(BESIDE, rows, name="preference-points")


def beside_recipe(results: Results) -> str:
    """State who gave the points beside the ranking, and the number of questions covered."""
    by = _("people") if results.scored_by == PEOPLE_NAME else _("judges")
    n = results.beside.n_questions if results.beside else 0
    text = ngettext(
        "Mean points by %(by)s, %(rubric)s, over %(n)d question with a score for every system.",
        "Mean points by %(by)s, %(rubric)s, over %(n)d questions with a score for every system.",
        n,
    )
    return text % {"by": by, "rubric": results.rubric, "n": n}


def checks_table(results: Results) -> TableData:
    """Return all checks with their intervals and n."""
    columns = Column(_("Figure"), "0"), EstimateColumn(_("Value"), "2"), Column("n", "1")
    return table_of(columns, checks(results), name="preference-checks")


def checks_recipe(results: Results) -> str:
    """State how each check was computed, and why some checks have no value."""
    return "\n\n".join(
        f"{name}: {estimate.recipe}{f'; {estimate.reason}' if estimate.reason else ''}."
        for name, _n, estimate in checks(results)
    )


def state_of(results: Results) -> str:
    """Return a short hash of these figures."""
    return digest([str(ranking_table(results).rows), str(checks_table(results).rows)])[:12]


def checks(results: Results) -> list[tuple[str, int, Estimate]]:
    """Return the checks of agreement with points and of stability: name, n, figure."""
    rows = [
        (_("“Both bad” verdicts"), len(results.merged), results.ranking.both_bad),
        (
            _("Same verdict when a pair was repeated with sides swapped"),
            results.n_again,
            results.consistency,
        ),
        (_("Decided verdicts in favour of the left answer"), results.left.n_values, results.left),
    ]
    if results.same is not None:
        rows.append(
            (_("Same verdict as a person on the pair"), results.same.n_values, results.same)
        )
    if results.beside is None:
        return rows
    beside, n = results.beside, len(results.beside.systems)
    by_systems, by_questions = beside.by_systems, beside.by_questions
    return [
        (_("Spearman’s rank correlation with the points"), n, beside.spearman),
        (_("Kendall’s tau-b with the points"), n, beside.kendall),
        (_("Pairs of systems in the opposite order"), by_systems.n_decided, by_systems.share),
        (
            _("Pairs of systems in the opposite order on single questions"),
            by_questions.n_decided,
            by_questions.share,
        ),
        *rows,
    ]


def _points(results: Results) -> dict[str, float]:
    beside = results.beside
    if beside is None or not beside.means:
        return {}
    return dict(zip(beside.systems, beside.means, strict=True))


def _names(results: Results) -> list[str]:
    """Return the ranked systems in order, then all other systems."""
    ranked = [standing.system for standing in results.ranking.standings]
    return ranked + [system for system in results.merged.systems if system not in ranked]


def _meetings(results: Results) -> dict[tuple[str, str], list[int]]:
    """Map each pair of systems to wins by the first, ties, and wins by the second."""
    names = _names(results)
    meetings = {(name, other): [0, 0, 0] for name in names for other in names if name != other}
    columns = results.merged.frame[["first", "second", "outcome"]]
    for first, second, outcome in columns.itertuples(index=False):
        place = {"first": 0, "second": 2}.get(outcome, 1)
        meetings[first, second][place] += 1
        meetings[second, first][2 - place] += 1
    return meetings


def _cell(counts: list[int]) -> dict[str, Any] | None:
    wins, ties, losses = counts
    n = wins + ties + losses
    if not n:
        return None
    return {"share": (wins + ties / 2) / n, "wins": wins, "ties": ties, "losses": losses, "n": n}

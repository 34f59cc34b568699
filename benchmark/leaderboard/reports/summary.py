"""Summary of a board, with the finding in one sentence and the charts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _, ngettext

from benchmark.leaderboard.methods.figures import JudgeRanking, ScoreBoard
from cqa_site.results.boards import Conclusion, after_holm, listed, short
from cqa_site.stats.estimate import Standing
from cqa_site.stats.verdicts import least_to_differ
from cqa_site.web.charts.bars import grouped_bars
from cqa_site.web.charts.dot_rows import parts, ranked_dots
from cqa_site.web.charts.points import MOST, Chart, beside, distinct, of_all
from cqa_site.web.charts.vega import Spec
from cqa_site.web.tables import text_of
from .standings import BoardLine, board_rows, judge_name, ranking_of, scenario_names

# The finding of a leaderboard, based only on the corrected tests


def board_finding(board: ScoreBoard, judge: str) -> Conclusion:
    """State which system one judge ranks first, if tests separate it from all other systems."""
    ranking = ranking_of(board, judge)
    ranked = [standing for standing in ranking.standings if standing.rank is not None]
    if not ranked:
        return _nobody(board, judge, ranking)
    names = {
        standing.system: short(board.systems[int(standing.system)].name) for standing in ranked
    }
    if len(ranked) == 1:
        says = _("%(name)s is the only system with a rank: %(points)s points on average.")
        return Conclusion(says % _leader(ranked[0], names), _ground(ranking), "warn")
    best, level = ranking.top(board.options.confidence)
    if level or len(best) > 1:
        is_any_apart = ranking.told_apart(board.options.confidence)
        says = _highest(board, best, level, names) if is_any_apart else _alike(ranked, names)
        return Conclusion(says, _not_apart(board, ranking, ranked))
    says = _("%(name)s leads with %(points)s of %(most)s points, %(gap)s more than %(next)s.")
    gap = (ranked[0].mean or 0.0) - (ranked[1].mean or 0.0)
    fields = {
        "most": f"{board.options.maximum:g}",
        "gap": text_of(gap, 2),
        "next": names[ranked[1].system],
    }
    says %= _leader(ranked[0], names) | fields
    return Conclusion(says, _sure(ranking), "good", ("Holm-adjusted p",))


def ground_of(board: ScoreBoard, judge: str) -> str:
    """Describe the questions behind means and ranks, and why calibrated means are missing."""
    ranking = ranking_of(board, judge)
    sentences = []
    if ranking.reason:
        sentences.append(
            _(
                "Each mean is over the system's own questions and cannot be compared with the "
                "others."
            )
        )
    else:
        sentences.append(_ground(ranking))
    own = [estimate for estimate in board.calibrated if estimate.judge == judge]
    if own and all(estimate.mean is None for estimate in own):
        reason = board.why_not_calibrated or own[0].reason or ""
        sentences.append(_("Means could not be calibrated to people's scores: %s.") % reason)
    return " ".join(sentences)


def _nobody(board: ScoreBoard, judge: str, ranking: JudgeRanking) -> Conclusion:
    rows = [row for row in board.rows if row.judge == judge and row.mean is not None]
    if len(rows) == 1:
        fields = {
            "name": short(board.systems[rows[0].system].name),
            "points": text_of(rows[0].mean or 0.0, 2),
        }
        says = _("%(name)s is the only system with scores: %(points)s points on average.")
        return Conclusion(says % fields, _("A ranking needs two systems."), "warn")
    says = _("No system can be ranked yet: %s.") % (ranking.reason or _("none has enough scores"))
    if not rows:
        return Conclusion(says, _so_far(board, judge), "warn")
    sure = _(
        "Each mean below is over the system's own questions and cannot be compared with the "
        "others."
    )
    return Conclusion(says, sure, "warn")


def _so_far(board: ScoreBoard, judge: str) -> str:
    """Return the requirements for a ranking, and each system's number of scored questions."""
    least = board.options.least_questions
    text = ngettext(
        "A ranking needs %(n)s question on which two systems both have scores.",
        "A ranking needs %(n)s questions on which two systems both have scores.",
        least,
    )
    own = [board_row for board_row in board.rows if board_row.judge == judge]
    scored = [f"{short(board.systems[row.system].name)} {row.n_questions:,}" for row in own]
    sentences = [text % {"n": f"{least:,}"}]
    if scored:
        sentences.append(_("Questions with scores so far: %s.") % listed(scored))
    return " ".join(sentences)


def _leader(standing: Standing, names: dict[str, str]) -> dict[str, str]:
    return {"name": names[standing.system], "points": text_of(standing.mean or 0.0, 2)}


def _sure(ranking: JudgeRanking) -> str:
    """Return the interval and test for the first two systems, and the number of questions."""
    pairs = ranking.pairs
    # Pairs are in the order of the board.
    low, high, p = pairs.low[0], pairs.high[0], pairs.p_holm[0]
    sentence = f"{after_holm(p)}."
    if low is not None and high is not None:
        bounds = {"low": text_of(low, 2), "high": text_of(high, 2), "p": sentence}
        sentence = _("95 %% interval of the lead: %(low)s to %(high)s points; %(p)s") % bounds
    return f"{sentence} {_ground(ranking)}"


def _ground(ranking: JudgeRanking) -> str:
    n = ranking.n_common
    text = ngettext(
        "This is based on the %(n)s question that all ranked systems share",
        "This is based on the %(n)s questions that all ranked systems share",
        n,
    ) % {"n": f"{n:,}"}
    if len(ranking.scenarios) > 1:
        text += _(", in scenarios %s for systems that have scenarios") % ", ".join(
            map(str, ranking.scenarios)
        )
    return f"{text}."


def _highest(
    board: ScoreBoard, best: list[Standing], level: list[Standing], names: dict[str, str]
) -> str:
    """State the highest mean if the tests do not separate it from all other means."""
    fields = {
        "name": listed([names[standing.system] for standing in best]),
        "points": text_of(best[0].mean or 0.0, 2),
        "most": f"{board.options.maximum:g}",
        "others": listed([names[standing.system] for standing in level]),
    }
    if not level:
        return _("%(name)s share the highest mean, %(points)s of %(most)s points.") % fields
    text = ngettext(
        "%(name)s has the highest mean, %(points)s of %(most)s points; these data cannot tell it "
        "apart from %(others)s.",
        "%(name)s share the highest mean, %(points)s of %(most)s points; these data cannot tell "
        "them apart from %(others)s.",
        len(best),
    )
    return text % fields


def _alike(ranked: list[Standing], names: dict[str, str]) -> str:
    """State that no two systems on the board can be told apart."""
    if len(ranked) == 2:
        both = listed([names[standing.system] for standing in ranked])
        return _("These data cannot tell %s apart.") % both
    return _("These data cannot tell any of the %(n)s ranked systems apart.") % {
        "n": f"{len(ranked):,}"
    }


def _not_apart(board: ScoreBoard, ranking: JudgeRanking, ranked: list[Standing]) -> str:
    """Return why the tests do not separate systems, and the data that would separate them."""
    least = least_to_differ(len(ranking.pairs.first))
    if ranking.n_common < least:
        text = _(
            "At least %(n)s questions are needed to tell any two of %(systems)s systems apart, "
            "however large their difference."
        )
        return f"{_ground(ranking)} {text % {'systems': len(ranked), 'n': least}}"
    return " ".join([_ground(ranking), *_detectable(ranking)])


def _detectable(ranking: JudgeRanking) -> list[str]:
    """Return the detectable difference, and how many questions would separate the top systems."""
    if not ranking.detectable:
        return []
    text = _(
        "With 80 %% power, these questions can detect a difference of %s points between any two "
        "systems."
    )
    detectable = [text % text_of(ranking.detectable, 2)]
    needed = ranking.questions_needed(0)
    if needed and needed > ranking.n_common:
        text = _(
            "If the first two systems differ as much as they do here, by %(gap)s, about %(n)s "
            "questions would show the difference."
        )
        detectable.append(text % {"gap": text_of(ranking.pairs.mean[0], 2), "n": f"{needed:,}"})
    return detectable


Rows = list[dict[str, Any]]
Recipe = dict[str, Any]


def _named(board: ScoreBoard, judge: str) -> list[tuple[str, BoardLine]]:
    """Return the best rows, with names that distinguish them."""
    rows = board_rows(board, judge)[:MOST]
    return list(zip(distinct(row.name for row in rows), rows, strict=True))


def _rank_rows(board: ScoreBoard, judge: str, recipe: Recipe) -> Rows:
    """Return the ranked systems or, if no system has a rank, all systems with a mean."""
    named = _named(board, judge)
    ranked = [(name, row) for name, row in named if row.standing]
    return [
        {
            "name": name,
            "value": row.row.mean,
            "low": row.row.low,
            "high": row.row.high,
            "group": row.standing.tie_group if row.standing else None,
        }
        for name, row in ranked or named
        if row.row.mean is not None
    ]


def _ranks(board: ScoreBoard, judge: str, recipe: Recipe, size: str) -> Spec:
    return ranked_dots(
        _rank_rows(board, judge, recipe), title=_("Mean points, 95 % interval"), size=size
    )


def _scenario_rows(board: ScoreBoard, judge: str, recipe: Recipe) -> Rows:
    names = dict(zip(board.scenarios, scenario_names(board), strict=True))
    return [
        {"system": name, "points": cell.cell.mean, "scenario": names[cell.cell.scenario]}
        for name, row in _named(board, judge)
        for cell in row.cells
        if cell and cell.cell.mean is not None and not cell.cell.is_thin
    ]


def _scenarios(board: ScoreBoard, judge: str, recipe: Recipe, size: str) -> Spec:
    rows = _scenario_rows(board, judge, recipe)
    known = {row["scenario"] for row in rows}
    names = [name for name in scenario_names(board) if name in known]
    return parts(
        rows,
        x="points",
        y="system",
        series="scenario",
        names=names,
        title=of_all(_("Mean points"), len(board_rows(board, judge))),
        highest=board.options.maximum,
        size=size,
    )


def _group_rows(board: ScoreBoard, judge: str, recipe: Recipe) -> Rows:
    groups = [column for column in recipe["columns"] if column["kind"] == "group"]
    means = (
        (name, group, board.parts[judge][group["key"]][row.place].mean)
        for name, row in _named(board, judge)
        for group in groups
    )
    return [
        {"system": name, "share": mean / group["maximum"], "group": group["name"]}
        for name, group, mean in means
        if mean is not None
    ]


def _groups(board: ScoreBoard, judge: str, recipe: Recipe, size: str) -> Spec:
    rows = _group_rows(board, judge, recipe)
    return parts(
        rows,
        x="share",
        y="system",
        series="group",
        names=list(dict.fromkeys(row["group"] for row in rows)),
        title=of_all(_("Share of the group's points"), len(board_rows(board, judge))),
        highest=1,
        size=size,
    )


def _spread_rows(board: ScoreBoard, judge: str, recipe: Recipe) -> Rows:
    """Return the first and last ranked system, or the first and last scored if none is ranked."""
    rows = [(name, row) for name, row in _named(board, judge) if row.row.n_answers]
    rows = [(name, row) for name, row in rows if row.standing] or rows
    ends = rows[:1] + rows[-1:] if len(rows) > 1 else rows
    return [
        {"points": str(at), "answers": n, "system": name}
        for name, row in ends
        for at, n in enumerate(board.distributions[judge][row.place])
    ]


def _spread(board: ScoreBoard, judge: str, recipe: Recipe, size: str) -> Spec:
    return grouped_bars(
        _spread_rows(board, judge, recipe),
        x="points",
        y="answers",
        series="system",
        titles=(_("Points"), _("Scored answers")),
        size=size,
    )


def _beside_rows(board: ScoreBoard, judge: str, recipe: Recipe) -> Rows:
    return [
        {
            "people": comparison.people,
            "judge": comparison.value,
            "name": board.systems[comparison.system].name
            + (f" {comparison.scenario}" if comparison.scenario else ""),
        }
        for comparison in board.beside
        if comparison.judge == judge
    ]


def _beside(board: ScoreBoard, judge: str, recipe: Recipe, size: str) -> Spec:
    name = next(judge_name(rater) for rater in board.judges if rater.key == judge)
    return beside(
        _beside_rows(board, judge, recipe),
        x="people",
        y="judge",
        text="name",
        titles=(_("Mean points by people"), _("Mean points by %s") % name),
        highest=board.options.maximum,
        size=size,
    )


RowReader = Callable[[ScoreBoard, str, Recipe], Rows]


def _chart(draw: Callable[..., Spec], read: RowReader, words: Callable[[Any], str]) -> Chart:
    """Return a chart whose text alternative describes its rows."""

    def alt(board: ScoreBoard, judge: str, recipe: Recipe) -> str:
        return "; ".join(words(row) for row in read(board, judge, recipe)[: 4 * MOST])

    return Chart(draw, alt, read)


CHARTS = {
    "board": _chart(_ranks, _rank_rows, lambda row: f"{row['name']}: {row['value']:.2f}"),
    "scenarios": _chart(
        _scenarios,
        _scenario_rows,
        lambda row: f"{row['system']}, {row['scenario']}: {row['points']:.2f}",
    ),
    "groups": _chart(
        _groups,
        _group_rows,
        lambda row: f"{row['system']}, {row['group']}: {text_of(100 * row['share'], 0)} %",
    ),
    "distributions": _chart(
        _spread, _spread_rows, lambda row: f"{row['system']}, {row['points']}: {row['answers']}"
    ),
    "beside": _chart(
        _beside,
        _beside_rows,
        lambda row: f"{row['name']}: {row['people']:.2f} / {row['judge']:.2f}",
    ),
}

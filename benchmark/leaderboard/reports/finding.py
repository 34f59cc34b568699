"""What a leaderboard found, in a sentence, and how sure that is."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmark.leaderboard.methods.figures import Board, JudgeRanking
from benchmark.leaderboard.methods.options import LEAST_TO_DIFFER
from cqa_site.results.finding import Finding, listed, short
from cqa_site.stats.ranks.standing import Standing
from cqa_site.web.tables import text_of

from .view import ranking_of

SMALLEST_P = 0.001


def board_finding(board: Board, judge: str) -> Finding:
    """Who leads by one judge, and whether that can be told from chance."""
    ranking = ranking_of(board, judge)
    ranked = [each for each in ranking.standings if each.rank is not None]
    if not ranked:
        return _nobody(board, judge, ranking)
    names = {each.system: short(board.systems[int(each.system)].name) for each in ranked}
    top = [each for each in ranked if each.tie_group == ranked[0].tie_group]
    if len(ranked) == 1:
        says = _("%(name)s is the only system with a rank: %(points)s points on average.")
        return Finding(says % _leader(ranked[0], names), _ground(ranking), "warn")
    if len(top) > 1 or ranked[0].tie_group is None:
        shown = [names[each.system] for each in (top if len(top) > 1 else ranked)]
        is_any_apart = min(ranking.pairs.p_holm, default=1.0) < 1 - board.options.confidence
        says = _alike(shown, is_any_apart=is_any_apart)
        return Finding(says, f"{_not_apart(ranking)}{_other_ranks(top)}")
    says = _("%(name)s leads with %(points)s of %(most)s points, %(gap)s more than %(next)s.")
    gap = (ranked[0].mean or 0.0) - (ranked[1].mean or 0.0)
    said = {
        "most": f"{board.options.maximum:g}",
        "gap": text_of(gap, 2),
        "next": names[ranked[1].system],
    }
    says %= _leader(ranked[0], names) | said
    sure = f"{_sure(ranking, ranked)}{_other_ranks(top)}"
    return Finding(says, sure, "good", ("p after Holm",))


def ground_of(board: Board, judge: str) -> str:
    """What ranks and means are over; why there are no ranks, and no calibrated means."""
    ranking = ranking_of(board, judge)
    said = []
    if ranking.reason:
        said.append(_("Each mean is over the system's own questions and comparable with none."))
    else:
        said.append(_ground(ranking))
    if ranking.detectable and ranking.n_common >= LEAST_TO_DIFFER:
        said.append(_detectable(ranking))
    own = [each for each in board.calibrated if each.judge == judge]
    if own and all(each.mean is None for each in own):
        reason = board.why_not_calibrated or own[0].reason or ""
        said.append(_("No column calibrated to people: %s.") % reason)
    return " ".join(said)


def _nobody(board: Board, judge: str, ranking: JudgeRanking) -> Finding:
    rows = [each for each in board.rows if each.judge == judge and each.mean is not None]
    if len(rows) == 1:
        said = {
            "name": short(board.systems[rows[0].system].name),
            "points": text_of(rows[0].mean or 0.0, 2),
        }
        says = _("%(name)s is the only system with scores: %(points)s points on average.")
        return Finding(says % said, _("A ranking needs two systems."), "warn")
    says = _("No system can be ranked yet: %s.") % (ranking.reason or _("none has enough scores"))
    if not rows:
        return Finding(says, _so_far(board, judge), "warn")
    sure = _("Each mean below is over the system's own questions and comparable with none.")
    return Finding(says, sure, "warn")


def _so_far(board: Board, judge: str) -> str:
    """What a ranking needs, and how much of it there is of each system."""
    least = board.options.least_questions
    text = ngettext(
        "A ranking needs %(n)s question that two systems both have scores on.",
        "A ranking needs %(n)s questions that two systems both have scores on.",
        least,
    )
    own = [each for each in board.rows if each.judge == judge]
    scored = [f"{short(board.systems[row.system].name)} {row.n_questions:,}" for row in own]
    said = [text % {"n": f"{least:,}"}]
    if scored:
        said.append(_("Questions with scores so far: %s.") % listed(scored))
    return " ".join(said)


def _leader(found: Standing, names: dict[str, str]) -> dict[str, str]:
    return {"name": names[found.system], "points": text_of(found.mean or 0.0, 2)}


def _sure(ranking: JudgeRanking, ranked: list[Standing]) -> str:
    """The interval and the test of the first two, and how many questions they rest on."""
    pairs, two = ranking.pairs, tuple(int(each.system) for each in ranked[:2])
    places = [at for at, both in enumerate(zip(pairs.first, pairs.second, strict=True))
              if both == two]  # fmt: skip
    if not places:
        return _ground(ranking)
    low, high, p = (kept[places[0]] for kept in (pairs.low, pairs.high, pairs.p_holm))
    said = _("95 %% interval of the lead: %(low)s to %(high)s points; p %(p)s after Holm.") % {
        "low": text_of(low, 2),
        "high": text_of(high, 2),
        "p": f"= {text_of(p, 3)}" if p >= SMALLEST_P else f"< {SMALLEST_P}",
    }
    return f"{said} {_ground(ranking)}"


def _ground(ranking: JudgeRanking) -> str:
    n = ranking.n_common
    text = ngettext(
        "It rests on the %(n)s question that all ranked systems share",
        "It rests on the %(n)s questions that all ranked systems share",
        n,
    ) % {"n": f"{n:,}"}
    if len(ranking.scenarios) > 1:
        text += _(", in scenarios %s where a system has any") % ", ".join(
            map(str, ranking.scenarios)
        )
    return f"{text}."


def _alike(names: list[str], *, is_any_apart: bool) -> str:
    """Who leads together; nobody leads where no pair of the board can be told apart."""
    if is_any_apart:
        return _("%s lead, and these data cannot tell them apart.") % listed(names)
    if len(names) == 2:
        return _("These data cannot tell %s apart.") % listed(names)
    return _("These data cannot tell any of the %(n)s ranked systems apart.") % {
        "n": f"{len(names):,}"
    }


def _other_ranks(top: list[Standing]) -> str:
    """Why rank ranges differ from the tests of pairs, where they do; beginning with a space."""
    below = [each for each in top if each.rank_low is not None and each.rank_low > 1]
    is_first_unsure = len(top) == 1 and (top[0].rank_high or 1) > 1
    if not below and not is_first_unsure:
        return ""
    return " " + _(
        "Rank ranges differ from the headline: they hold 95 % of a system's ranks when questions "
        "are drawn anew; the headline tests every two systems, corrected for how many pairs "
        "there are."
    )


def _not_apart(ranking: JudgeRanking) -> str:
    """Why, and what would tell them apart."""
    said = [_ground(ranking)]
    if ranking.n_common < LEAST_TO_DIFFER:
        text = _(
            "So few can tell no two systems apart, however far these lie; from %(n)s on they can."
        )
        said.append(text % {"n": LEAST_TO_DIFFER})
    elif ranking.detectable:
        said.append(_detectable(ranking))
    return " ".join(said)


def _detectable(ranking: JudgeRanking) -> str:
    return _("The smallest difference these questions can find is about %s points.") % text_of(
        ranking.detectable or 0.0, 2
    )

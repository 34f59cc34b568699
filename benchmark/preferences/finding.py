"""The finding of preferences in a sentence, and the chart of the ranking."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from cqa_site.results.boards import MOST_NAMES, Finding, after_holm, in_words, listed, short
from cqa_site.web.charts.dot_rows import ranked_dots
from cqa_site.web.charts.points import Chart
from cqa_site.web.tables import text_of

if TYPE_CHECKING:
    from benchmark.preferences.methods.ranking import PreferenceRanking
    from benchmark.preferences.reports import Choice, Results
    from cqa_site.web.charts.vega import Spec


# The finding of preferences: only what the corrected tests show.


def finding(results: Results, choice: Choice) -> Finding:
    """Who is preferred, as far as the tests show it, and whether points say the same."""
    ranking = results.ranking
    said = _by_judge(results, choice) if choice.is_judge else [_how_many(results)]
    if not ranking.standings:
        return Finding(_("No ranking yet: %s.") % ranking.reason, " ".join(said), "warn")
    sure = " ".join([*_tests(ranking), *_without_limit(ranking), *said, *_beside(results)])
    if not ranking.pairs:
        return Finding(_leader(ranking), sure, "warn")
    is_shown = not level_with_first(ranking)
    return Finding(_leader(ranking), sure, *(("good", ("p after Holm",)) if is_shown else ()))


def _by_judge(results: Results, choice: Choice) -> list[str]:
    """How much a judge said, and how far it held to it with the sides exchanged."""
    frame = results.merged.frame
    text = ngettext(
        "%(n)s verdict by %(judge)s on %(pairs)s pairs of %(questions)d questions.",
        "%(n)s verdicts by %(judge)s on %(pairs)s pairs of %(questions)d questions.",
        results.n_verdicts,
    ) % {
        "n": f"{results.n_verdicts:,}",
        "judge": choice.label,
        "pairs": f"{frame['pair'].nunique():,}",
        "questions": frame["question"].nunique(),
    }
    if not results.n_again:
        return [text]
    return [
        text,
        _(
            "With the sides swapped, it contradicted itself on %(n)s of %(both)s pairs; these "
            "count as ties."
        )
        % {"n": f"{results.n_made_ties:,}", "both": f"{results.n_again:,}"},
    ]


def level_with_first(ranking: PreferenceRanking) -> list[str]:
    """Systems that the tests do not tell from the first; pairs come in the order of the board."""
    n = len(ranking.standings)
    return [pair.second for pair in ranking.pairs[: n - 1] if not pair.is_separable]


def _leader(ranking: PreferenceRanking) -> str:
    best = [each.system for each in ranking.standings if each.rank == 1]
    level = [each for each in level_with_first(ranking) if each not in best]
    said = {"system": listed(best), "n": len(ranking.standings)}
    if len(best) > 1:
        return _("%(system)s share the highest strength of %(n)d systems.") % said
    if not ranking.pairs:
        return _("%(system)s has the highest strength of %(n)d systems.") % said
    if not level:
        text = ngettext(
            "%(system)s leads: it is preferred to the other system.",
            "%(system)s leads: it is preferred to each of the %(n)d other systems.",
            len(ranking.standings) - 1,
        )
        return text % {**said, "n": len(ranking.standings) - 1}
    text = _(
        "%(system)s has the highest strength of %(n)d systems; these data cannot tell it apart "
        "from %(others)s."
    )
    return text % {**said, "others": listed(level)}


def _without_limit(ranking: PreferenceRanking) -> list[str]:
    """Why strengths are penalized, and the win rates that are shown instead."""
    if not ranking.strengths.is_penalized:
        return []
    said = []
    for each in ranking.standings:
        about = {
            "system": short(each.system),
            "wins": each.wins,
            "losses": each.losses,
            "n": each.win_rate.n_values,
        }
        if each.wins and not each.losses:
            text = _("%(system)s was never beaten: it won %(wins)d of %(n)d.")
        elif each.losses and not each.wins:
            text = _("%(system)s never won: it lost %(losses)d of %(n)d.")
        else:
            continue
        said.append(text % about)
    rate = _(
        "These verdicts leave some strengths without a limit. Shown instead: win rates, with "
        "penalized strengths."
    )
    return [*said[:MOST_NAMES], rate]


def _tests(ranking: PreferenceRanking) -> list[str]:
    """The p of the lead, or why it is not shown and what would show it."""
    if not ranking.pairs:
        return [_("The order was not tested: %s.") % ranking.reason]
    level = level_with_first(ranking)
    if not level:
        p = max(pair.p_holm for pair in ranking.pairs[: len(ranking.standings) - 1])
        return [f"{after_holm(p)}."]
    said = []
    if ranking.detectable is not None:
        text = _(
            "With 80 %% power, these questions can detect a win rate of %(rate)s %% of one "
            "system against another."
        )
        said.append(text % {"rate": text_of(100 * ranking.detectable, 0)})
    first = next(pair for pair in ranking.pairs if pair.second == level[0])
    if first.detectable and first.mean:
        # Standard errors fall with the root of the questions.
        needed = math.ceil(ranking.n_questions * (first.detectable / first.mean) ** 2)
        text = _("If %(both)s differ as much as here, about %(n)s questions would show it.")
        both = listed([first.first, first.second])
        said.append(text % {"both": both, "n": f"{max(needed, ranking.n_questions + 1):,}"})
    return said


def _how_many(results: Results) -> str:
    frame = results.merged.frame
    return ngettext(
        "%(n)s verdict by %(raters)d people on %(pairs)s pairs of %(questions)d questions.",
        "%(n)s verdicts by %(raters)d people on %(pairs)s pairs of %(questions)d questions.",
        results.n_verdicts,
    ) % {
        "n": f"{results.n_verdicts:,}",
        "raters": frame["rater"].nunique(),
        "pairs": f"{frame['pair'].nunique():,}",
        "questions": frame["question"].nunique(),
    }


def _beside(results: Results) -> list[str]:
    beside = results.beside
    if beside is None or beside.spearman.value is None:
        return []
    return [
        _(
            "Compared with the mean points: Spearman %(rho)s; %(n)d of %(all)d pairs of systems "
            "are in the opposite order."
        )
        % {
            "rho": in_words(beside.spearman),
            "n": beside.by_systems.n_contradicting,
            "all": beside.by_systems.n_decided,
        }
    ]


# The ranking by preference as a chart.


MOST = 40


def _rows(results: Results) -> list[dict[str, Any]]:
    return [
        {
            "name": each.system,
            "value": each.log_strength,
            "low": each.low,
            "high": each.high,
            "group": each.tie_group,
        }
        for each in results.ranking.standings[:MOST]
    ]


def _draw(results: Results, size: str) -> Spec:
    title = _("Log strength, 95 % interval")
    if results.ranking.strengths.is_penalized:
        title = _("Penalized log strength")
    elif all(each.low is None for each in results.ranking.standings):
        title = _("Log strength")
    return ranked_dots(_rows(results), title=title, size=size)


def _alt(results: Results) -> str:
    parts = "; ".join(f"{row['name']}: {row['value']:.2f}" for row in _rows(results))
    return _("Systems by log strength, most preferred first. %s.") % parts


CHARTS = {"ranking": Chart(_draw, _alt, _rows)}

"""Finding on preferences in one sentence, and the chart of the ranking."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _, ngettext

from cqa_site.results.boards import MOST_NAMES, Conclusion, after_holm, listed, short
from cqa_site.web.charts.dot_rows import ranked_dots
from cqa_site.web.charts.points import Chart
from cqa_site.web.tables import estimate_text, text_of

if TYPE_CHECKING:
    from benchmark.preferences.methods.ranking import PreferenceRanking
    from benchmark.preferences.reports import Results, VerdictSource
    from cqa_site.web.charts.vega import Spec


def finding(results: Results, choice: VerdictSource) -> Conclusion:
    """State which system is preferred according to the tests, and whether points agree."""
    ranking = results.ranking
    sentences = _by_judge(results, choice) if choice.is_judge else [_how_many(results)]
    if not ranking.standings:
        return Conclusion(_("No ranking yet: %s.") % ranking.reason, " ".join(sentences), "warn")
    sure = " ".join([*_tests(ranking), *_without_limit(ranking), *sentences, *_beside(results)])
    if not ranking.pairs:
        return Conclusion(_leader(ranking), sure, "warn")
    is_shown = not level_with_first(ranking)
    return Conclusion(
        _leader(ranking), sure, *(("good", ("Holm-adjusted p",)) if is_shown else ())
    )


def _by_judge(results: Results, choice: VerdictSource) -> list[str]:
    """State how many verdicts a judge gave, and how often swapping the sides changed them."""
    frame = results.merged.frame
    text = ngettext(
        "%(n)s verdict by %(judge)s on %(pairs)s pairs from %(questions)d questions.",
        "%(n)s verdicts by %(judge)s on %(pairs)s pairs from %(questions)d questions.",
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
            "With the sides swapped, the judge contradicted itself on %(n)s of %(both)s pairs; "
            "these count as ties."
        )
        % {"n": f"{results.n_made_ties:,}", "both": f"{results.n_again:,}"},
    ]


def level_with_first(ranking: PreferenceRanking) -> list[str]:
    """Return the systems that tests cannot separate from the first system, in board order."""
    n = len(ranking.standings)
    return [pair.second for pair in ranking.pairs[: n - 1] if not pair.is_separable]


def _leader(ranking: PreferenceRanking) -> str:
    best = [standing.system for standing in ranking.standings if standing.rank == 1]
    level = [system for system in level_with_first(ranking) if system not in best]
    words = {"system": listed(best), "n": len(ranking.standings)}
    if len(best) > 1:
        return _("%(system)s share the highest strength of %(n)d systems.") % words
    if not ranking.pairs:
        return _("%(system)s has the highest strength of %(n)d systems.") % words
    if not level:
        text = ngettext(
            "%(system)s leads: it is preferred to the other system.",
            "%(system)s leads: it is preferred to each of the %(n)d other systems.",
            len(ranking.standings) - 1,
        )
        return text % {**words, "n": len(ranking.standings) - 1}
    text = _(
        "%(system)s has the highest strength of %(n)d systems; these data cannot tell it apart "
        "from %(others)s."
    )
    return text % {**words, "others": listed(level)}


def _without_limit(ranking: PreferenceRanking) -> list[str]:
    """State why strengths are penalized, and give the win rates shown instead."""
    if not ranking.strengths.is_penalized:
        return []
    sentences = []
    for standing in ranking.standings:
        about = {
            "system": short(standing.system),
            "wins": standing.wins,
            "losses": standing.losses,
            "n": standing.win_rate.n_values,
        }
        if standing.wins and not standing.losses:
            text = _("%(system)s was never beaten: it won %(wins)d of %(n)d.")
        elif standing.losses and not standing.wins:
            text = _("%(system)s never won: it lost %(losses)d of %(n)d.")
        else:
            continue
        sentences.append(text % about)
    rate = _(
        "These verdicts leave some strengths unbounded. Shown instead: win rates, with penalized "
        "strengths."
    )
    return [*sentences[:MOST_NAMES], rate]


def _tests(ranking: PreferenceRanking) -> list[str]:
    """State the p-value of the lead, or why it is missing and how many questions would suffice."""
    if not ranking.pairs:
        return [_("The order was not tested: %s.") % ranking.reason]
    level = level_with_first(ranking)
    if not level:
        p = max(pair.p_holm for pair in ranking.pairs[: len(ranking.standings) - 1])
        return [f"{after_holm(p)}."]
    tests = []
    if ranking.detectable is not None:
        text = _(
            "With 80 %% power, these questions can detect a win rate of %(rate)s %% for one "
            "system against another."
        )
        tests.append(text % {"rate": text_of(100 * ranking.detectable, 0)})
    first = next(pair for pair in ranking.pairs if pair.second == level[0])
    if first.detectable and first.mean:
        # Standard errors decrease with the square root of the number of questions.
        needed = math.ceil(ranking.n_questions * (first.detectable / first.mean) ** 2)
        text = _(
            "If %(both)s differ as much as they do here, about %(n)s questions would show the "
            "difference."
        )
        both = listed([first.first, first.second])
        tests.append(text % {"both": both, "n": f"{max(needed, ranking.n_questions + 1):,}"})
    return tests


def _how_many(results: Results) -> str:
    frame = results.merged.frame
    return ngettext(
        "%(n)s verdict by %(raters)d people on %(pairs)s pairs from %(questions)d questions.",
        "%(n)s verdicts by %(raters)d people on %(pairs)s pairs from %(questions)d questions.",
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
            "rho": estimate_text(beside.spearman),
            "n": beside.by_systems.n_contradicting,
            "all": beside.by_systems.n_decided,
        }
    ]


MOST = 40


def _rows(results: Results) -> list[dict[str, Any]]:
    return [
        {
            "name": standing.system,
            "value": standing.value,
            "low": standing.low,
            "high": standing.high,
            "group": standing.tie_group,
        }
        for standing in results.ranking.standings[:MOST]
    ]


def _draw(results: Results, size: str) -> Spec:
    title = _("Log strength, 95 % interval")
    if results.ranking.strengths.is_penalized:
        title = _("Penalized log strength")
    elif all(standing.low is None for standing in results.ranking.standings):
        title = _("Log strength")
    return ranked_dots(_rows(results), title=title, size=size)


def _alt(results: Results) -> str:
    parts = "; ".join(f"{row['name']}: {row['value']:.2f}" for row in _rows(results))
    return _("Systems by log strength, most preferred first. %s.") % parts


CHARTS = {"ranking": Chart(_draw, _alt, _rows)}

"""Every chart of the site, as its room draws it, with as many rows as wanted."""

from datetime import date
from types import SimpleNamespace as Made

from annotation.faithfulness.reports import expert_agreement as experts, tables as faithfulness
from annotation.figures.reports import charts as figures
from annotation.judges.reports import charts as judges
from annotation.quality.reports import controls
from argsum.analysis.reports import share_charts as comparing
from argsum.keypoints.reports import key_points, system_runs
from argsum.leaderboard.reports import charts as summaries
from argsum.scorers import reports as scorers
from benchmark.agreement.methods.figures import JudgeAlphas
from benchmark.agreement.reports import summary as agreement
from benchmark.leaderboard.reports import part_tables, summary as boards
from benchmark.preferences import finding as preferences
from cqa_site.web.charts.bars import heatmap
from cqa_site.web.charts.dot_rows import intervals, parts, ranked_dots
from cqa_site.web.charts.points import beside

NUMBERS = (2, 8, 40)
KINDS = ("recall", "llm", "human")


def names(n):
    """Forty letters each; every second and third name share the first thirty."""
    starts = ("Retrieval-augmented generation", "Vicuna 13B with no retrieval at all, but")
    return [f"{starts[at % 3 > 1][:30]} with 7 B {at:02}" for at in range(n)]


def estimate(at, n):
    """Values near each other and far apart, with and without an interval."""
    value = round(0.95 - 0.9 * at / max(n, 1), 4)
    low, high = (None, None) if at % 5 == 4 else (value - 0.08, min(1.0, value + 0.05))
    return Made(value=value, low=low, high=high, n_values=3, n_items=3 + at % 2)


def nothing():
    return Made(value=None, low=None, high=None, n_values=0, n_items=3)


def ranked(n, size):
    rows = [
        {"name": name, **parts_of(estimate(at, n)), "group": at // 3}
        for at, name in enumerate(names(n))
    ]
    rows[-1] |= {"value": None, "low": None, "high": None}
    return ranked_dots(rows, title="Mean points with their 95 % interval", size=size)


def parts_of(found):
    return {"value": found.value, "low": found.low, "high": found.high}


def many_series(n, size):
    """Forty series is more than any page has; eight signs and colours repeat."""
    rows = [
        {"y": y, "series": name, **parts_of(estimate(at, n))}
        for y in ("All items", "Ordinary items")
        for at, name in enumerate(names(min(n, 8)))
    ]
    return intervals(rows, y="y", series="series", title="Alpha", marks=(0.667, 0.8), size=size)


def judge_row(at, name, n):
    numbers = {"prompt_number": at, "run_number": at, "run": "r" if at % 3 else None}
    names_of = {"name": name, "model": name, "kind": list(judges.KINDS)[at % 2]}
    return Made(
        key=str(at),
        short_name=f"{name} v{at} #{at}" if at % 3 else name,
        at=f"2026-{1 + at // 20:02}-{1 + at % 20:02}T10:00:00+00:00",
        per_thousand=[0.0, 0.4, 0.41, 9.5][at % 4] * (1 + at // 8),
        **dict.fromkeys(("with_votes", "ordinal"), estimate(at, n)),
        **(names_of | numbers),
    )


def judge_figures(n):
    values = list(range(min(n, 8)))
    cells = [[1234 * (one == other) + one for one in values] for other in values]
    shares = [[0.7 if one == other else None for one in values] for other in values]
    return Made(
        judges=[judge_row(at, name, n) for at, name in enumerate(names(n))],
        people=Made(agreement=estimate(1, n)),
        confusion=Made(values=values, cells=cells, shares=shares),
    )


def figures_of(n):
    labels = [Made(label=at, ordinary=12345 * (at % 3), control=99) for at in range(min(n, 11))]
    levels = ("ordinal", "interval", "nominal")
    alphas = [Made(level=level, **vars(estimate(at, 3))) for at, level in enumerate(levels)]
    bins = [{"from": at, "to": at + 1 if at < n - 1 else None, "votes": at} for at in range(n)]
    starts = [f"2026-{1 + at // 24:02}-{1 + at % 24:02}" for at in range(n)]
    shares = [[1.0 if one == other else None for one in labels] for other in labels]
    days = [Made(start=start, votes=10_000) for start in starts]
    return Made(
        labels=labels,
        values=[each.label for each in labels],
        progress=Made(control_votes=5),
        agreement={"all": alphas, "ordinary": alphas},
        confusion=Made(shares=shares),
        time=Made(histogram=bins),
        votes_over_time=Made(step="day", bins=days),
    )


def hours_of(n):
    starts = [f"2026-01-{1 + at // 24:02} {at % 24:02}:00" for at in range(n)]
    bins = [Made(start=start, votes=3) for start in starts]
    return Made(votes_over_time=Made(step="hour", bins=bins))


def groups_of(n):
    measures = ("precision", "recall", "coherence")
    return [
        Made(
            **{"name": name, "scenario": at % 5, "is_plain": at % 2, "is_edited": at % 3 == 0},
            condition_name="with the model's own reading",
            measures=dict.fromkeys(measures, estimate(at, n)),
        )
        for at, name in enumerate(names(n))
    ]


def experts_of(n):
    cell = Made(value=0.987, n=120)
    cells = [[cell] * n for _each in range(n)]
    people = [f"Expert {at}: {name}" for at, name in enumerate(names(n))]
    return Made(found=Made(cells=cells), names=["Machine", *people[1:]])


def curve_of(n):
    return [
        {"below": at / n, "alpha": at / n, "without": at, "ties": at, "raters": 9, "votes": 100}
        | {"labels": [at + each for each in range(min(n, 8))]}
        for at in range(n + 2)
    ]


def label_round(n):
    return Made(guideline=Made(values=list(range(min(n, 8)))))


def side(stance, n, sign=1):
    points = [Made(number=at, count=100 * (n - at)) for at in range(1, n + 1)]
    return Made(cell=Made(get_stance_display=lambda: stance, stance=sign), points=points)


def board(n):
    scenarios, people = [0, 1, 2, 3, 4], {"judge": "j"}
    cells = [
        Made(system=at, scenario=each, mean=15 - at % 4 * 3 - each / 4, is_thin=False, **people)
        for at in range(n)
        for each in scenarios
    ]
    mean = {"mean": 9, "low": 8, "high": 11, "reason": "", "n_answers": 9}
    groups = ("structure", "relevance", "quality")
    return Made(
        rows=[Made(system=at, **people, **mean) for at in range(n)],
        rankings=[Made(standings=[], unranked={}, reason="", **people)],
        lengths=[Made(means={}, **people)],
        **{"calibrated": [], "conditions": [], "cells": cells, "scenarios": scenarios},
        costs=Made(systems=[None] * n),
        options=Made(maximum=19, version=3),
        judges=[Made(key="j", name=names(3)[2])],
        systems=[Made(id=name, name=name) for name in names(n)],
        parts={"j": {key: [Made(mean=3.0 + at % 2) for at in range(n)] for key in groups}},
        distributions={"j": [[at * each for each in range(20)] for at in range(1, n + 1)]},
        beside=[
            Made(people=10 + at % 3, value=11 + at % 4, system=at, scenario=at % 5, **people)
            for at in range(n)
        ],
    )


RECIPE = {
    "columns": [
        {"kind": "group", "key": key, "name": f"{key} of the answer", "maximum": 7}
        for key in ("structure", "relevance", "quality")
    ]
}


def of_board(slug):
    return lambda n, size: boards.CHARTS[slug].draw(board(n), "j", RECIPE, size)


def of_judges(slug):
    return lambda n, size: judges.CHARTS[slug].draw(judge_figures(n), size)


def few_votes(n, size):
    """The highest bar is as high as its axis."""
    found = figures_of(n)
    found.labels = [Made(label=at, ordinary=1 + at % 3, control=0) for at in range(min(n, 11))]
    found.progress = Made(control_votes=0)
    return figures.CHARTS["labels"].draw(found, size)


def of_figures(slug):
    return lambda n, size: figures.CHARTS[slug].draw(figures_of(n), size)


class Both(JudgeAlphas):
    """A judge beside people, with nothing else of it."""

    def __init__(self, found):
        vars(self).update(alpha_interval=found, difference=Made(**{**vars(found), "low": -0.2}))


def preferred(n, size):
    rows = [
        Made(system=name, value=1 - at / 4, low=-at / 3, high=2 - at / 5, tie_group=at // 2)
        for at, name in enumerate(names(n))
    ]
    ranking = Made(standings=rows, strengths=Made(is_penalized=False))
    return preferences.CHARTS["ranking"].draw(Made(ranking=ranking), size)


def agreed(n):
    people = {key: Made(alpha_interval=estimate(at, n)) for at, key in enumerate(names(n))}
    judge = {key: Both(estimate(at, n)) for at, key in enumerate(people)}
    people["total"] = Made(alpha_interval=estimate(1, n))
    points = [(at * 19 / n, 3 - at % 7, 1 + at % 4) for at in range(n)]
    lines = {"lower": Made(value=-0.3), "bias": Made(value=0.1), "upper": Made(value=0.5)}
    pair = Made(first="a", second="b", bland_altman=Made(points=points, **lines))
    rows = [Made(name=name, agreement=estimate(at, n)) for at, name in enumerate(names(n))]
    columns = [Made(key=key, name=key, kind="group") for key in people]
    shown = {"columns": columns, "people": Made(columns=people), "with_people": {"j": judge}}
    return Made(judges=rows, pairs=[pair], **shown)


def of_agreement(slug):
    choice = Made(judge="j", first="a", second="b")
    return lambda n, size: agreement.CHARTS[slug].draw(agreed(n), choice, size)


def summary_board(n):
    keys = ("weighted", "coverage", "redundancy")

    def row(at, name):
        figures = {key: estimate((at * 7 + shift) % n, n) for shift, key in enumerate(keys)}
        return Made(system=name, figures=figures)

    rows = [row(at, name) for at, name in enumerate(names(n))]
    return Made(rows=rows, is_oracle=True, cells=range(n))


def metrics(n, size):
    rows = [
        Made(source=Source(name), found=Made(across=0.9 - at / 50, within_mean=0.5 - at / 50))
        for at, name in enumerate(names(n))
    ]
    return summaries.correlation_spec(rows, "coverage", size)


class Source:
    dimension = "coverage"

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name


def sets(n, size):
    points = [Made(metric=at / n, people=1 - at / n) for at in range(n)]
    return summaries.points_spec(points, Source(names(1)[0] * 3), size)


def raters(n, size):
    people = names(n)
    pairs_of = [
        Made(first=one, second=other, value=0.5 + at / 100, n=120)
        for at, one in enumerate(people)
        for other in people[at + 1 :]
    ]
    return summaries.heat_spec(Made(pairs=Made(pairs=pairs_of), raters=tuple(people)), size)


def training(n, size):
    rows = [
        {"step": at * 500, "precision": 0.2 + at / 2 / n, "is_chosen": at == n - 1}
        | {"weights": ("raw", "mean")[at % 2]}
        for at in range(n)
    ]
    return scorers.curve_spec(rows, size)


def settings(n, size):
    rows = [
        {"value": at / n, "with_zeros": 0.4 + at / 3 / n, "including": 0.3 + at / 3 / n}
        for at in range(n)
    ]
    return system_runs.curve_spec("distance_threshold_of_the_clusters", rows, size)


def pair(n, size):
    rows = [Made(difference=n / 2 - at) for at in range(n)]
    return part_tables.pair_chart(Made(rows=rows, first=names(1)[0]), size)


def clump(n, size):
    """Dots that nearly lie on each other."""
    rows = [
        {"x": 10 + at % 2 / 10, "y": 10 + at / 100, "name": name}
        for at, name in enumerate(names(n))
    ]
    titles = ("Mean points by people", f"Mean points by {names(1)[0]}")
    return beside(rows, x="x", y="y", text="name", titles=titles, highest=19, size=size)


def oblong(n, size):
    """Columns that are not called as the rows are."""
    rows = [
        {"x": name, "y": str(y), "share": 0.2, "text": "0.20"} for name in names(n) for y in "ab"
    ]
    titles = ("What they are called", "Which")
    return heatmap(rows, x="x", y="y", share="share", text="text", titles=titles, size=size)


def one_series(n, size):
    rows = [{"x": 0.5, "y": name, "series": "only"} for name in names(n)]
    return parts(
        rows, x="x", y="y", series="series", names=["only"], title="Share", highest=1, size=size
    )


def by_group(n, size):
    """Six groups, which is as many as a chart has; the last has nothing to say."""
    groups = [f"{name[:20]} {at}" for at, name in enumerate(names(6))]
    rows = [
        {"point": point, "group": group}
        | comparing.in_percent(nothing() if at == 5 else estimate(number % 9, 9))
        for number, point in enumerate(names(n))
        for at, group in enumerate(groups)
    ]
    return comparing.groups_chart(rows, groups, "Comments that mention it, %", size)


def over_time(n, size):
    """Two years by month, with a month in which nobody wrote."""
    starts = [date(2024 + at // 12, at % 12 + 1, 1) for at in range(24)]
    runs = comparing.runs([at != 7 for at in range(24)])
    rows = [
        comparing.as_row(point, start, Made(value=0.3, low=0.2, high=0.45), run)
        for point in names(n)
        for at, (start, run) in enumerate(zip(starts, runs, strict=True))
        if at != 7
    ]
    return comparing.trends_chart(rows, [(each, f"{each:%b %Y}") for each in starts], size)


CASES = {
    "by group": by_group,
    "over time": over_time,
    "ranked": ranked,
    "series": many_series,
    "clump": clump,
    "oblong": oblong,
    "one series": one_series,
    **{f"judges {slug}": of_judges(slug) for slug in judges.CHARTS},
    **{f"figures {slug}": of_figures(slug) for slug in figures.CHARTS},
    "figures of few votes": few_votes,
    "figures by hour": lambda n, size: figures.CHARTS["votes-over-time"].draw(hours_of(n), size),
    **{f"board {slug}": of_board(slug) for slug in boards.CHARTS},
    **{f"agreement {slug}": of_agreement(slug) for slug in agreement.CHARTS},
    **{
        f"faithfulness {name}": lambda n, size, name=name: faithfulness.chart_spec(
            groups_of(n), name, size
        )
        for name in faithfulness.CHARTS
    },
    "experts": lambda n, size: experts.chart_spec(experts_of(n), size),
    **{
        f"exclusion {name}": lambda n, size, name=name: controls.curve_chart(
            label_round(n), curve_of(n), name, size
        )
        for name in ("figures", "labels")
    },
    "prevalence": lambda n, size: key_points.prevalence_chart(
        [side("For", n), side("Against", n, -1)], size
    ),
    **{
        f"summaries {name}": lambda n, size, chart=each.chart: chart.draw(summary_board(n), size)
        for name, each in summaries.BOARD_CHARTS.items()
    },
    "metrics": metrics,
    "sets": sets,
    "raters": raters,
    "training": training,
    "settings": settings,
    "pair": pair,
    "preferred": preferred,
}

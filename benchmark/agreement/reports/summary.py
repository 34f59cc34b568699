"""Summary of agreement: the finding in one sentence, and the charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _, ngettext

from benchmark.agreement.methods.figures import (
    Agreement,
    AgreementFigure,
    JudgeAlphas,
    JudgeRow,
    RaterPairFigures,
    is_closest,
)
from cqa_site.results.boards import Conclusion, level_of, listed, short, why_less
from cqa_site.results.figures import bounds_of
from cqa_site.stats.estimate import FIRM, TENTATIVE
from cqa_site.stats.verdicts import LEVEL, RULES, corrected_level, more_needed
from cqa_site.web.charts.dot_rows import intervals, ranked_dots
from cqa_site.web.charts.plane import Plane, apart, frame, on, plane_of
from cqa_site.web.charts.points import MOST, Chart, distinct, of_all
from cqa_site.web.charts.vega import (
    LEADING,
    SIZE,
    Layer,
    Rows,
    Spec,
    axis_of,
    finish,
    layer,
    lines_of,
    looks,
    segment,
    segments,
    text_width,
    texts,
    wrap,
)
from cqa_site.web.tables import estimate_text, text_of
from .snapshot import TOTAL, AgreementSelection, pair_of
from .tables import column_names, rater_names


def agreement_finding(figures: Agreement, choice: AgreementSelection) -> Conclusion:
    """State how well people agree on totals, and how well the judge agrees with them."""
    people = figures.people.columns[TOTAL].alpha_interval
    shared = figures.people.shared
    if not RULES["reliability"].allows(shared) or people.value is None:
        return Conclusion(
            _("These data show little about how far people agree with each other."),
            f"{_few(shared)} {_by_judges(figures)}".strip(),
            "warn",
        )
    level, mark = level_of(_("people agree on totals"), people)
    says = f"{level}: {_('alpha %s') % text_of(people.value, 2)}"
    beside = figures.with_people.get(choice.judge, {}).get(TOTAL)
    if beside is not None:
        says += _beside(rater_names(figures)[choice.judge], beside.alpha_interval)
    return Conclusion(f"{says}.", _sure(figures, people, beside), mark)


def _few(shared: int) -> str:
    text = ngettext(
        "%(n)d answer was scored by two or more people; %(least)d are needed. Scores that were "
        "consolidated before import do not count.",
        "%(n)d answers were scored by two or more people; %(least)d are needed. Scores that were "
        "consolidated before import do not count.",
        shared,
    )
    return text % {"n": shared, "least": RULES["reliability"].least}


def _by_judges(figures: Agreement) -> str:
    """Name the judge with the highest alpha, for data with too few people."""
    best = next((judge for judge in figures.judges if judge.agreement.value is not None), None)
    if best is None:
        return ""
    fields = {"name": short(best.name), "figure": _with_n(best.agreement)}
    return _("Highest alpha with people in these data: %(name)s, %(figure)s.") % fields


def _beside(name: str, with_people: AgreementFigure) -> str:
    if with_people.value is None:
        return ""
    fields = {"name": short(name), "alpha": text_of(with_people.value, 2)}
    return _("; %(name)s agrees with them at %(alpha)s") % fields


def _sure(figures: Agreement, people: AgreementFigure, beside: JudgeAlphas | None) -> str:
    """Return the intervals, the difference on the same answers, and the weakest criterion."""
    sentences = [_("People: %s.") % _with_n(people), why_less(people)]
    if beside and beside.difference.value is not None:
        sentences.append(
            _("Judge minus people on the same answers: %s.") % _with_n(beside.difference)
        )
    if weakest := _weakest(figures):
        sentences.append(_("Lowest criterion in these data: %s.") % weakest)
    return " ".join(filter(None, sentences))


def _weakest(figures: Agreement) -> str:
    names = column_names(figures)
    alphas = [
        (value, names[column.key])
        for column in figures.columns
        if column.kind == "criterion"
        and (value := figures.people.columns[column.key].alpha_interval.value) is not None
    ]
    if not alphas:
        return ""
    value, name = min(alphas)
    return f"{name} ({text_of(value, 2)})"


def _with_n(figure: AgreementFigure) -> str:
    return f"{estimate_text(figure)}, n {figure.n:,}"


def judges_finding(judges: Sequence[JudgeRow]) -> Conclusion:
    """Name the judge that agrees most with people, and judges not shown to agree less."""
    known = [judge for judge in judges if judge.agreement.value is not None]
    if not known:
        needed = _("This needs answers that both people and a judge have scored.")
        return Conclusion(_("No judge can be compared with people yet."), needed, "warn")
    first = known[0]
    fields = {"name": short(first.name), "figure": _with_n(first.agreement)}
    if len(known) == 1:
        return Conclusion(_("%(name)s agrees with people at alpha %(figure)s.") % fields)
    if is_closest(known):
        says = _(
            "%(name)s agrees with people more than any other judge here does: alpha %(figure)s."
        )
        sure = _("Shown on the answers that both judges scored, corrected for all pairs (Holm).")
        return Conclusion(says % fields, sure, "good")
    says = _("%(name)s has the highest alpha with people in these data: %(figure)s.") % fields
    level = [row for row in known[1:] if row.rank_low in (1, None)]
    unclear = _("Not shown to agree less: %s.") % listed([row.name for row in level])
    return Conclusion(says, f"{unclear} {_would_tell(first, level, len(known))}".strip())


def _would_tell(first: JudgeRow, level: Sequence[JudgeRow], n_judges: int) -> str:
    """State how many more answers would separate the first judge from the nearest other judge."""
    names = {"first": short(first.name), "second": short(level[0].name)}
    figure = level[0].to_first
    if figure is None or figure.p_yes is None or figure.units is None:
        text = _("A test of two judges needs %(n)d questions scored by both judges and by people.")
        return text % {"n": RULES["closest judge"].least}
    one_sided = corrected_level(LEVEL, n_judges * (n_judges - 1) // 2) / 2
    more = more_needed(figure.n, figure.p_yes / 2, figure.units, one_sided)
    if not more:
        return ""
    text = ngettext(
        "About %(n)s more answer scored by both would tell %(first)s and %(second)s apart.",
        "About %(n)s more answers scored by both would tell %(first)s and %(second)s apart.",
        more,
    )
    return text % {"n": f"{more:,}", **names}


# Width for the names of lines on the right.
NAMES = 92
LEAD = 12


def difference_plot(
    points: Rows, lines: Rows, *, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """Plot dots (fields ``mean``, ``difference``, ``n``) and named dashed lines.

    The size of a dot shows its number of answers. The names (field ``what``) are on the right
    with their values and are moved apart if lines are close together.
    """
    heights = [point["difference"] for point in points] + [line["at"] for line in lines]
    plane = plane_of(
        axis_of((point["mean"] for point in points), most=6 if size == "wide" else 4),
        axis_of(heights, most=6),
        titles,
        size,
        height=240,
        beyond=NAMES + LEAD,
    )
    level = [
        segment(plane.left, plane.y(line["at"]), plane.right, plane.y(line["at"]))
        for line in lines
    ]
    layers = [*frame(plane), _dots(points, plane), segments(level, "guide"), *_names(lines, plane)]
    return finish(layers, size, plane.end)


def _dots(points: Rows, plane: Plane) -> Layer:
    most = max((point["n"] for point in points), default=1)
    scale = {"domain": [1, max(most, 2)], "range": [18, 220]}
    size = {"field": "n", "type": "quantitative", "scale": scale, "legend": None}
    # All dots are in one series, so that the theme colours them.
    marked = [{**point, "series": ""} for point in points]
    places = on(plane, "mean", "difference")
    look = looks([""], has_signs=False)
    return layer(marked, "point", {**places, **look, "size": size}, filled=True, opacity=0.55)


def _names(lines: Rows, plane: Plane) -> list[Layer]:
    """Return names and values from top to bottom, each connected to its line."""
    ordered = sorted(lines, key=lambda line: -line["at"])
    labels = [_said(line) for line in ordered]
    room = LEADING * max((len(label) for label in labels), default=1) + 2
    places = [plane.y(line["at"]) for line in ordered]
    moved = apart(places, room, plane.top, plane.bottom)
    x = plane.right + LEAD
    words = [
        text
        for label, y in zip(labels, moved, strict=True)
        for text in lines_of(label, x + 4, y - LEADING * (len(label) - 1) / 2)
    ]
    leads = [segment(plane.right, place, x, y) for place, y in zip(places, moved, strict=True)]
    return [segments(leads, "lead"), texts(words, "name")]


def _said(line: dict[str, Any]) -> list[str]:
    number = f"{line['at']:z.2f}".replace("-", "−")
    whole = f"{line['what']} {number}"
    return (
        [whole]
        if text_width(whole, SIZE) <= NAMES - 6
        else [*wrap(line["what"], NAMES - 6), number]
    )


MARKS = (TENTATIVE, FIRM)
Row = dict[str, Any]


def _ceiling_rows(figures: Agreement, choice: AgreementSelection) -> list[Row]:
    """Return rows for people and the judge, for each column in which either has a figure."""
    judge = figures.with_people.get(choice.judge, {})
    rows = []
    for key, name in column_names(figures).items():
        people = figures.people.columns[key].alpha_interval
        rows.append({"column": name, "who": _("People"), **bounds_of(people)})
        if key in judge:
            own = judge[key].alpha_interval
            rows.append({"column": name, "who": _("Judge"), **bounds_of(own)})
    known = {row["column"] for row in rows if row["value"] is not None}
    return [row for row in rows if row["column"] in known]


def _ceiling(figures: Agreement, choice: AgreementSelection, size: str) -> Spec:
    return intervals(
        _ceiling_rows(figures, choice),
        y="column",
        series="who",
        title=_("Interval alpha, 95 % interval"),
        marks=MARKS,
        size=size,
    )


def _ceiling_alt(figures: Agreement, choice: AgreementSelection) -> str:
    known = [row for row in _ceiling_rows(figures, choice) if row["value"] is not None]
    parts = [f"{row['column']}, {row['who']}: {row['value']:.3f}" for row in known]
    return _("Interval alpha of each column. %s.") % "; ".join(parts)


def _judge_rows(figures: Agreement, choice: AgreementSelection) -> list[Row]:
    people = figures.people.columns["total"].alpha_interval
    estimates = [(_("All people"), people)]
    estimates += [(row.name, row.agreement) for row in figures.judges[:MOST]]
    names = distinct(name for name, _estimate in estimates)
    return [
        {"name": name, "what": _("Total"), **bounds_of(estimate)}
        for name, (_name, estimate) in zip(names, estimates, strict=True)
    ]


def _judges(figures: Agreement, choice: AgreementSelection, size: str) -> Spec:
    return intervals(
        _judge_rows(figures, choice),
        y="name",
        series="what",
        title=of_all(
            _("Interval alpha with people, for totals; 95 % interval"), len(figures.judges)
        ),
        marks=MARKS,
        size=size,
    )


def _judges_alt(figures: Agreement, choice: AgreementSelection) -> str:
    known = [row for row in _judge_rows(figures, choice) if row["value"] is not None]
    parts = [f"{row['name']}: {row['value']:.3f}" for row in known]
    return _("Interval alpha with people, for totals. %s.") % (
        "; ".join(parts) or _("Not defined")
    )


def _difference_rows(figures: Agreement, choice: AgreementSelection) -> list[Row]:
    """Return the judge's figure minus people's on the same answers, for columns that have both."""
    beside, names = figures.with_people.get(choice.judge, {}), column_names(figures)
    return [
        {"name": name, "group": None, **bounds_of(alphas.difference)}
        for key, name in names.items()
        if (alphas := beside.get(key)) and alphas.difference.value is not None
    ]


def _differences(figures: Agreement, choice: AgreementSelection, size: str) -> Spec:
    title = _("Judge minus people, interval alpha, 95 % interval")
    return ranked_dots(_difference_rows(figures, choice), title=title, size=size)


def _differences_alt(figures: Agreement, choice: AgreementSelection) -> str:
    rows = _difference_rows(figures, choice)
    parts = "; ".join(f"{row['name']}: {row['value']:.3f}" for row in rows)
    return _("The judge's alpha with people minus alpha among people. %s.") % parts


def _points(figures: Agreement, choice: AgreementSelection) -> list[Row]:
    pair = pair_of(figures, choice)
    points = pair.bland_altman.points if pair else ()
    return [{"mean": mean, "difference": apart, "n": n} for mean, apart, n in points]


def _lines(pair: RaterPairFigures) -> list[Row]:
    altman = pair.bland_altman
    figures = {
        _("lower limit"): altman.lower,
        _("bias"): altman.bias,
        _("upper limit"): altman.upper,
    }
    lines = ({"at": figure.value, "what": text} for text, figure in figures.items())
    return [line for line in lines if line["at"] is not None]


def _bland_altman(figures: Agreement, choice: AgreementSelection, size: str) -> Spec:
    pair = pair_of(figures, choice)
    if pair is None:
        raise KeyError(choice.pair)
    titles = (_("Mean of the two totals"), _("First minus second, points"))
    return difference_plot(_points(figures, choice), _lines(pair), titles=titles, size=size)


def _bland_altman_alt(figures: Agreement, choice: AgreementSelection) -> str:
    pair = pair_of(figures, choice)
    lines = [f"{line['what']} {line['at']:.2f}" for line in (_lines(pair) if pair else [])]
    return _("Difference between two raters' totals, against their mean. %s.") % ", ".join(lines)


CHARTS = {
    "ceiling": Chart(_ceiling, _ceiling_alt, _ceiling_rows),
    "replace": Chart(_differences, _differences_alt, _difference_rows),
    "judges": Chart(_judges, _judges_alt, lambda figures, choice: figures.judges),
    "bland-altman": Chart(_bland_altman, _bland_altman_alt, _points),
}

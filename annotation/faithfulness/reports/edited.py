"""Texts before and after editing, and findings about faithfulness in sentences."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from statistics import fmean, median
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.text import capfirst
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from annotation.editing.reports import TITLES as CHECK_TITLES, newest_revisions, passed
from annotation.faithfulness.models import EditedText, FaithfulnessFigures
from cqa_site.people.models import Study
from cqa_site.results.boards import Conclusion, listed, short, would_show
from cqa_site.results.figures import Column, EstimateColumn, TextColumn, table_of, value_of
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.means import PairedTest, clustered_mean, least_units, paired_tests
from cqa_site.web.tables import TableData, estimate_text, text_of
from .expert_agreement import ExpertAgreement
from .faithfulness import COHERENCE, HEADLINES, GroupFigures
from .tables import MEASURES, text_of_group

# Texts by people and the machine answers they are based on, with the figures of both

# Figures of a text with separate columns
COLUMNS = [name for name in MEASURES if name != COHERENCE]
WORDS, CHECKS = "words", "checks"
TITLES = {name: MEASURES[name].title for name in COLUMNS} | {
    WORDS: lazy("Words"),
    CHECKS: lazy("Checks passed"),
}
# Decimals of lengths and counts; shares have more.
DECIMALS = {"levenshtein": 1, WORDS: 0, CHECKS: 0}
Place = tuple[bool, int | None]


@dataclass(frozen=True, slots=True)
class EditedPair:
    """One text before and after editing; a measure is None for a version that lacks it."""

    edited: EditedText
    before: dict[str, float | None]
    after: dict[str, float | None]

    @property
    def cells(self) -> list[tuple[float | None, float | None, int]]:
        """Both values of every measure, in the order of `TITLES`, with the number of decimals."""
        return [(self.before[name], self.after[name], DECIMALS.get(name, 2)) for name in TITLES]

    @property
    def seconds(self) -> int | None:
        """The expert's working time in seconds; None for an imported text."""
        return self.edited.revision.active_seconds if self.edited.revision else None

    @property
    def minutes(self) -> float | None:
        """The expert's working time in minutes; None for an imported text."""
        return None if self.seconds is None else self.seconds / 60


def edited_of(study: Study) -> QuerySet[EditedText]:
    """Return the comparisons of each sheet's newest revision and of imported gold texts."""
    newest = newest_revisions(study).order_by().values("pk")
    rows = EditedText.objects.filter(Q(revision__in=newest) | Q(gold__isnull=False))
    return (
        rows.filter(before__study=study)
        .select_related(
            "before__system",
            "before__question__comparison",
            "revision__sheet__rater__user",
            "revision__sheet__round",
            "gold__system",
        )
        .defer("before__text", "revision__content", "gold__text")
        .order_by("before__question", "before", "pk")
    )


def pairs_of(rows: Iterable[EditedText], mode: str) -> list[EditedPair]:
    """Return the comparisons with the figures of both texts, using two queries."""
    every = list(rows)
    answers = {row.before_id for row in every} | {row.gold_id for row in every if row.gold_id}
    revisions = {row.revision_id for row in every if row.revision_id}
    records = FaithfulnessFigures.objects.filter(mode=mode)
    scores: dict[Place, dict[str, float | None]] = {}
    for is_revision, name, keys in ((False, "answer", answers), (True, "revision", revisions)):
        figures = records.filter(**{f"{name}__in": keys})
        for pk, *values in figures.values_list(name, *COLUMNS):
            scores[is_revision, pk] = dict(zip(COLUMNS, values, strict=True))
    return [_pair(row, scores) for row in every]


def _pair(row: EditedText, scores: dict[Place, dict[str, float | None]]) -> EditedPair:
    place = (True, row.revision_id) if row.revision_id else (False, row.gold_id)
    sides = [
        (scores.get((False, row.before_id), {}), row.words_before, row.checks_before),
        (scores.get(place, {}), row.words_after, row.checks_after),
    ]
    before, after = (
        {**dict.fromkeys(COLUMNS), **figures, WORDS: words, CHECKS: passed(checks)}
        for figures, words, checks in sides
    )
    return EditedPair(row, before, after)


RECIPE = lazy(
    "Every text counts once: segment figures are means over the segments of the text. The "
    "difference is after minus before, averaged over texts with both values. Its 95 % interval "
    "over whole questions applies to this measure alone (t, corrected for skewness, for 10 or "
    "more questions). An imported gold text is compared with the machine answer to the same "
    "question that differs from it by the fewest words."
)


@dataclass(frozen=True, slots=True)
class MeasureChange:
    """Change in a measure over all pairs in which both texts have it.

    ``by_question`` contains the mean difference for each question.
    """

    name: str
    title: str
    n: int
    before: float | None
    after: float | None
    difference: Estimate
    by_question: tuple[float, ...]

    @property
    def decimals(self) -> int:
        """Number of decimals to show for a mean."""
        return 1 if self.name in DECIMALS else 3


@dataclass(frozen=True, slots=True)
class EditSummary:
    """Effects of editing.

    Parameters
    ----------
    n, n_revisions, n_gold, n_questions
        Counts of all texts, texts edited here, imported texts, and questions answered.
    without_machine
        Imported gold texts whose question has no machine answer with arguments.
    seconds
        Median working time per text.
    """

    n: int
    n_revisions: int
    n_gold: int
    n_questions: int
    without_machine: int
    distance: Estimate
    seconds: float | None
    n_timed: int
    changes: list[MeasureChange]
    checks: list[MeasureChange]

    @property
    def minutes(self) -> float | None:
        """Median time in minutes."""
        return None if self.seconds is None else self.seconds / 60


def summarise(study: Study, pairs: Sequence[EditedPair]) -> EditSummary:
    """Return the effects of editing over all texts."""
    edited = [pair.edited for pair in pairs]
    questions = [row.before.question_id for row in edited]
    times = [pair.seconds for pair in pairs if pair.seconds]
    golds = study.answers.filter(
        system__kind="human", argument_list__isnull=False, revision__isnull=True
    )
    return EditSummary(
        n=len(pairs),
        n_revisions=sum(row.revision_id is not None for row in edited),
        n_gold=sum(row.gold_id is not None for row in edited),
        n_questions=len(set(questions)),
        without_machine=golds.filter(edited_text__isnull=True).count(),
        distance=clustered_mean(
            questions,
            [row.edit_distance for row in edited],
            [1] * len(edited),
            limits=(0.0, math.inf),
        ),
        seconds=median(times) if times else None,
        n_timed=len(times),
        changes=[
            _change(name, str(title), pairs, partial(_figures, name))
            for name, title in TITLES.items()
        ],
        checks=[
            _change(name, str(title), pairs, partial(_checked, name))
            for name, title in CHECK_TITLES.items()
        ],
    )


def _figures(name: str, pair: EditedPair) -> tuple[float | None, float | None]:
    return pair.before[name], pair.after[name]


def _checked(name: str, pair: EditedPair) -> tuple[float | None, float | None]:
    return pair.edited.checks_before.get(name), pair.edited.checks_after.get(name)


def _change(
    name: str,
    title: str,
    pairs: Sequence[EditedPair],
    values: Callable[[EditedPair], tuple[float | None, float | None]],
) -> MeasureChange:
    known = [
        (pair.edited.before.question_id, before, after)
        for pair in pairs
        for before, after in [values(pair)]
        if before is not None and after is not None
    ]
    differences: dict[int, list[float]] = defaultdict(list)
    for question, before, after in known:
        differences[question].append(after - before)
    return MeasureChange(
        name=name,
        title=title,
        n=len(known),
        before=fmean(row[1] for row in known) if known else None,
        after=fmean(row[2] for row in known) if known else None,
        difference=clustered_mean(
            [row[0] for row in known], [row[2] - row[1] for row in known], [1] * len(known)
        ),
        by_question=tuple(map(fmean, differences.values())),
    )


def summary_table(study: Study, summary: EditSummary, mode: str) -> TableData:
    """Return a table of the changes for a file."""
    columns = (
        Column(_("Measure"), "title"),
        Column(_("Texts n"), "n"),
        Column(_("Before"), "before"),
        Column(_("After"), "after"),
        EstimateColumn(_("Difference"), "difference"),
    )
    rows = [*summary.changes, *summary.checks]
    caption = _("Texts before and after editing, study “%s”.") % study.name
    note, name = str(RECIPE), f"before-and-after-{mode}"
    return table_of(columns, rows, caption=caption, note=note, name=name)


def pairs_table(pairs: Sequence[EditedPair], mode: str) -> TableData:
    columns = [
        TextColumn(_("Answer"), "edited.before.public_id"),
        TextColumn(_("Edited text"), lambda pair: value_of("public_id", _after(pair))),
        Column(_("Kind"), lambda pair: _("revision") if pair.edited.revision_id else _("gold")),
        Column(_("System"), "edited.before.system.name"),
        Column(_("Object 1"), "edited.before.question.comparison.object1"),
        Column(_("Object 2"), "edited.before.question.comparison.object2"),
        Column(_("Aspect"), "edited.before.question.aspect"),
        Column(_("Words changed"), "edited.edit_distance"),
        Column(_("Seconds"), "seconds"),
    ]
    for name, title in TITLES.items():
        columns.append(Column(_("%s before") % title, f"before.{name}"))
        columns.append(Column(_("%s after") % title, f"after.{name}"))
    return table_of(columns, pairs, name=f"edited-texts-{mode}")


def _after(pair: EditedPair) -> Any:
    return pair.edited.revision or pair.edited.gold


BEST = {
    "f1": lazy("cites the relevant arguments best"),
    "similarity": lazy("stays most similar to its arguments"),
    "jaccard_segment": lazy("shares the most words with its arguments"),
}


def faithfulness_finding(groups: Sequence[GroupFigures]) -> Conclusion | None:
    """State the best group on the first headline measure with values (rule "paired means")."""
    for name in HEADLINES:
        known = [group for group in groups if group.measures[name].value is not None]
        if known:
            return _closest(name, sorted(known, key=lambda figures: -(_value(figures, name))))
    return None


def _value(group: GroupFigures, name: str) -> float:
    return group.measures[name].value or 0.0


def _called(group: GroupFigures) -> str:
    return f"{short(group.name)} ({text_of_group(group)})"


def _closest(name: str, groups: Sequence[GroupFigures]) -> Conclusion:
    best, measure = groups[0], MEASURES[name]
    values = {"name": _called(best), "measure": measure.title, "value": _figure(best, name)}
    if len(groups) == 1:
        return Conclusion(
            _("%(name)s: %(measure)s %(value)s.") % values, f"{capfirst(str(measure.recipe))}."
        )
    pairs = combinations([figures.by_question[name] for figures in groups], 2)
    tests = paired_tests(
        [[first[at] - other[at] for at in first.keys() & other.keys()] for first, other in pairs]
    )
    # Pairs with the first group come first.
    others = list(zip(groups[1:], tests, strict=False))
    is_tested = any(test.p is not None for _group, test in others)
    unclear = [(_called(group), test) for group, test in others if test.direction != "above"]
    next_best = {"name": _called(groups[1]), "value": _figure(groups[1], name)}
    text = ngettext(
        "Paired t test.", "Paired t tests, Holm's correction for %d pairs.", len(tests)
    )
    method = text % len(tests) if len(tests) > 1 else text
    sure = [_("Next: %(name)s, %(value)s.") % next_best, method if is_tested else ""]
    if unclear:
        says = _("%(name)s has the highest %(measure)s in these data: %(value)s.")
        text = _(
            "On the questions common to both, the data do not show that the highest value exceeds "
            "that of %s."
        )
        of_them = [test for _name, test in unclear]
        if is_tested:
            sure.append(text % listed([name for name, _test in unclear], shortened=str))
        sure.append(_what_would_tell(of_them, len(tests), _("common questions")))
    else:
        says = f"%(name)s {BEST[name]}: %(measure)s %(value)s."
    return Conclusion(says % values, " ".join(filter(None, sure)), "" if unclear else "good")


def _figure(group: GroupFigures, name: str) -> str:
    return estimate_text(group.measures[name])


def _what_would_tell(tests: Sequence[PairedTest], family: int, units: str) -> str:
    """State how many units a verdict needs, or how many would show the clearest difference."""
    least = least_units(family)
    if max(test.n for test in tests) < least:
        return _("A verdict needs %(n)d or more %(units)s.") % {"n": least, "units": units}
    enough = min((test.enough for test in tests if test.enough), default=None)
    if not any(test.value for test in tests):
        return ""
    singular, many = _("a difference of this size"), _("the clearest of these differences")
    return would_show(enough, units, many if len(tests) > 1 else singular)


def edited_finding(summary: EditSummary) -> Conclusion | None:
    """State how many words editing changed, and which measures are shown to have changed."""
    if not summary.n:
        return None
    text = ngettext(
        "Editing changed %(words)s words per text on average, over %(n)s text.",
        "Editing changed %(words)s words per text on average, over %(n)s texts.",
        summary.n,
    )
    says = text % {"words": estimate_text(summary.distance, 1), "n": f"{summary.n:,}"}
    tests, moved = tested_changes(summary)
    n, sure = sum(test.p is not None for test in tests), ""
    if n:
        text = _(
            "%(moved)s. Measures tested together over questions: %(n)d. Each interval below is "
            "for one measure alone."
        )
        names = _("Shown to have changed: %s") % "; ".join(map(_moved, moved)) if moved else ""
        sure = text % {"moved": names or _("No measure is shown to have changed"), "n": n}
    if tests and not moved:
        sure = f"{sure} {_what_would_tell(tests, len(tests), _('questions'))}".strip()
    return Conclusion(says, sure)


def tested_changes(summary: EditSummary) -> tuple[list[PairedTest], list[MeasureChange]]:
    """Return tests of all measures with a value, and the measures shown to have changed."""
    known = [change for change in (*summary.checks, *summary.changes) if change.n]
    tests = paired_tests([change.by_question for change in known])
    pairs = zip(known, tests, strict=True)
    return tests, [change for change, test in pairs if test.direction != "not_shown"]


def _moved(change: MeasureChange) -> str:
    values = (text_of(value, change.decimals) for value in (change.before, change.after))
    return f"{change.title} {' → '.join(values)}"


def experts_finding(agreement: ExpertAgreement) -> Conclusion | None:
    """State whether experts' texts are closer to each other than to the machine's."""
    if not agreement.alike:
        return None
    tests = paired_tests([[together - machine for together, machine in agreement.alike]])
    together, machine = (fmean(column) for column in zip(*agreement.alike, strict=True))
    places = 2 if text_of(together, 2) != text_of(machine, 2) else 3
    values = {"experts": text_of(together, places), "machine": text_of(machine, places)}
    text = {
        "above": _(
            "Experts' versions are more similar to each other (%(experts)s) than to the "
            "machine's version (%(machine)s)."
        ),
        "below": _(
            "Experts' versions are less similar to each other (%(experts)s) than to the "
            "machine's version (%(machine)s)."
        ),
        "not_shown": _(
            "Similarity of experts' versions: %(experts)s to each other, %(machine)s to the "
            "machine's version. The data do not show which is higher."
        ),
    }[tests[0].direction]
    sure = ngettext(
        "Mean cosines over %d calibration answer edited by two or more experts.",
        "Mean cosines over %d calibration answers edited by two or more experts.",
        tests[0].n,
    )
    method = "" if tests[0].p is None else _("Paired t test.")
    is_open = tests[0].direction == "not_shown"
    tells = _what_would_tell(tests, 1, _("answers")) if is_open else ""
    return Conclusion(text % values, " ".join(filter(None, (sure % tests[0].n, method, tells))))

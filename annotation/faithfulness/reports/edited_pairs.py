"""Each text that people made beside the machine answer it came from, with the figures of both."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as lazy

from annotation.editing.reports.edited_texts import newest_revisions, passed
from annotation.faithfulness.models import EditedText, FaithfulnessFigures
from cqa_site.people.models import Study

from .faithfulness import COHERENCE
from .tables import MEASURES

# Figures of a text that stand in columns of their own.
COLUMNS = [name for name in MEASURES if name != COHERENCE]
WORDS, CHECKS = "words", "checks"
TITLES = {name: MEASURES[name].title for name in COLUMNS} | {
    WORDS: lazy("Words"),
    CHECKS: lazy("Checks passed"),
}
# Of lengths and counts; shares show more.
DECIMALS = {"levenshtein": 1, WORDS: 0, CHECKS: 0}
Place = tuple[bool, int | None]


@dataclass(frozen=True, slots=True)
class Pair:
    """One text before and after; measures that one of the two lacks are None there."""

    edited: EditedText
    before: dict[str, float | None]
    after: dict[str, float | None]

    @property
    def cells(self) -> list[tuple[float | None, float | None, int]]:
        """Both sides of every measure in the order of `TITLES`, with the decimals to show."""
        return [(self.before[name], self.after[name], DECIMALS.get(name, 2)) for name in TITLES]

    @property
    def seconds(self) -> int | None:
        """How long the expert worked on it here; None for a text that was imported."""
        return self.edited.revision.active_seconds if self.edited.revision else None

    @property
    def minutes(self) -> float | None:
        """The same in minutes."""
        return None if self.seconds is None else self.seconds / 60


def edited_of(study: Study) -> QuerySet[EditedText]:
    """Comparisons that count: of each sheet the newest revision, and imported gold texts."""
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


def pairs_of(rows: Iterable[EditedText], mode: str) -> list[Pair]:
    """Add the figures of both sides; two queries."""
    every = list(rows)
    answers = {row.before_id for row in every} | {row.gold_id for row in every if row.gold_id}
    revisions = {row.revision_id for row in every if row.revision_id}
    kept = FaithfulnessFigures.objects.filter(mode=mode)
    found: dict[Place, dict[str, float | None]] = {}
    for is_revision, name, keys in ((False, "answer", answers), (True, "revision", revisions)):
        figures = kept.filter(**{f"{name}__in": keys})
        for pk, *values in figures.values_list(name, *COLUMNS):
            found[is_revision, pk] = dict(zip(COLUMNS, values, strict=True))
    return [_pair(row, found) for row in every]


def _pair(row: EditedText, found: dict[Place, dict[str, float | None]]) -> Pair:
    place = (True, row.revision_id) if row.revision_id else (False, row.gold_id)
    sides = [
        (found.get((False, row.before_id), {}), row.words_before, row.checks_before),
        (found.get(place, {}), row.words_after, row.checks_after),
    ]
    before, after = (
        {**dict.fromkeys(COLUMNS), **figures, WORDS: words, CHECKS: passed(checks)}
        for figures, words, checks in sides
    )
    return Pair(row, before, after)

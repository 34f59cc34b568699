"""Counting rounds: the kind of work, its guideline, and the sample of sets."""

import random
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isclose
from typing import Any

from django.db import transaction
from django.db.models import Avg, Count, Exists, Max, OuterRef, Q, QuerySet
from django.forms import Field, FloatField
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from argsum.counting.methods.counts import (
    CoverageCounts,
    count_covered,
    count_unique,
    marks_from_json,
    undecided,
)
from argsum.counting.models import (
    ConflictingCount,
    CountEvent,
    CountingItem,
    CountingRound,
    CountingSlot,
    CountSheet,
)
from argsum.datasets.models import Dataset, ReferenceKeyPoint
from argsum.keypoints.models import SummarySet, SystemSummary
from cqa_site.people.models import Rater, Study, User
from cqa_site.rounds.kind import Audit, Card, RoundNotReady, SheetNotValid, Words
from cqa_site.rounds.lifecycle import OneByOne, locked_round
from cqa_site.rounds.models import COUNTED, ORDINARY
from cqa_site.rounds.queue import CHUNK

FETCH = 1_000
MOST_COUNTED = 1_000
# There are no qualification examples yet, so nobody is admitted or excluded.
UNSURE = Q(covered_is_unsure=True) | Q(unique_is_unsure=True)


@dataclass(frozen=True)
class CountContent:
    """Contents of a counting form.

    ``marks`` has the format of `CountSheet.marks`. ``covered`` and ``unique`` are typed counts,
    None if the marks decide; there is no count if the person is unsure. ``covered_text`` and
    ``unique_text`` are typed texts that are not counts; drafts store them, so that no input is
    lost.
    """

    marks: dict[str, Any] = field(default_factory=dict)
    covered: float | None = None
    covered_is_unsure: bool = False
    unique: float | None = None
    unique_is_unsure: bool = False
    comment: str = ""
    covered_text: str = ""
    unique_text: str = ""


class CountingRoundKind(OneByOne):
    """One summary set at a time, marked against its references."""

    name = "count"
    audit = Audit(round="counting_round", person="counter")
    words = Words(
        rounds=lazy("Counting rounds"),
        about=lazy(
            "People compare a system's key points with references without knowing who wrote them, "
            "and count how many references are covered and how many statements are different."
        ),
        things=lazy("Sets"),
        results=lazy("Agreement on counts"),
    )
    section = "key_points"
    results_page = "summary_people"
    terms = ("reference key point", "coverage", "uniqueness")
    work_page = "count"
    sheet_page = "count_form"
    takes_crowd = True
    subject = "summary_set"
    needed = ("summary_set__cell",)
    item_needed = ("summary_set__cell", "summary_set__study")
    Round = CountingRound
    Item = CountingItem
    Slot = CountingSlot
    Sheet = CountSheet
    Event = CountEvent
    Conflict = ConflictingCount
    Content = CountContent
    settled = ("marks", "comment", "covered", "unique", "coverage", "redundancy")
    skipped = Q(covered_is_unsure=True, unique_is_unsure=True)
    tolerance = 0
    tolerance_text = lazy("Maximum difference for each of the two counts. The default is 0.")
    value = ("covered", "unique")
    figures = {
        "unsure": Count("pk", filter=COUNTED & UNSURE),
        "coverage": Avg("coverage", filter=COUNTED),
        "redundancy": Avg("redundancy", filter=COUNTED),
    }

    def begin(self, round_: CountingRound, item: CountingItem, rater: Rater) -> dict[str, Any]:
        """Return the sizes of the set, which database constraints need."""
        sizes = SummarySet.objects.filter(pk=item.summary_set_id).values_list(
            Count("summaries", distinct=True), Count("cell__key_points", distinct=True)
        )
        summaries, references = sizes[0]
        return {"summaries": summaries, "references": references}

    def submitted(self, sheet: CountSheet) -> CountContent:
        return CountContent(
            marks=sheet.marks,
            covered=sheet.covered if sheet.covered_is_typed else None,
            covered_is_unsure=sheet.covered_is_unsure,
            unique=sheet.unique if sheet.unique_is_typed else None,
            unique_is_unsure=sheet.unique_is_unsure,
            comment=sheet.comment,
        )

    def problem(self, sheet: CountSheet, content: CountContent) -> SheetNotValid | None:
        """Return an error if marks are missing, unless counts were typed or marked as unsure."""
        marks = marks_from_json(content.marks)
        references, summaries = undecided(marks, sheet.references, sheet.summaries)
        missing = []
        if content.covered is None and not content.covered_is_unsure:
            missing += [f"reference-{reference}" for reference in references]
        if content.unique is None and not content.unique_is_unsure:
            missing += [f"summary-{summary}" for summary in summaries]
            partly = set(marks.partly)
            if not missing and marks.groups and all(partly.intersection(g) for g in marks.groups):
                text = _(
                    "At least one statement must count in full, because they cannot all repeat "
                    "each other."
                )
                return SheetNotValid(text, [f"summary-{place}" for place in sorted(partly)])
        if not missing:
            return None
        text = _("Not marked yet: %s. Mark them, type the count, or mark the count as unsure.")
        return SheetNotValid(text % ", ".join(_shown(name) for name in missing), missing)

    def settle(self, sheet: CountSheet, content: CountContent) -> None:
        """Set the marks, and the counts and shares that follow from them."""
        put_content(sheet, content)

    def mark(self, sheet: CountSheet, key: Mapping[str, Any]) -> tuple[int, int]:
        """Return how many known counts (``covered``, ``unique``) match, and how many there are."""
        return sum(getattr(sheet, name) == count for name, count in key.items()), len(key)

    def difference(self, sheet: CountSheet, known: Mapping[str, Any]) -> float:
        """Return the larger difference in counts, or infinity if a rater was unsure of a count."""
        counts = [(getattr(sheet, name), count) for name, count in known.items()]
        return max(inf if own is None else abs(own - count) for own, count in counts)

    def answer_fields(self, round_: CountingRound) -> dict[str, Field]:
        """Return fields for the two counts."""
        most: Any = {"min_value": 0, "max_value": MOST_COUNTED, "step_size": 0.5}
        return {
            "covered": FloatField(label=lazy("References covered"), **most),
            "unique": FloatField(label=lazy("Different statements"), **most),
        }

    def alike(self, round_: CountingRound) -> Q:
        """Select sheets with both counts."""
        return Q(covered__isnull=False, unique__isnull=False)

    def slots(self, round_: CountingRound, items: Iterable[int]) -> dict[int, int]:
        """Return the same number of slots for every set."""
        return dict.fromkeys(items, round_.raters)

    def card(self, done: int) -> Card:
        """Return the card for a person's start page."""
        return Card(
            text=_("Compare key points with references, one set at a time. Every mark is saved."),
            button=_("Continue judging") if done else _("Start judging"),
            badge=ngettext("%d judged by you", "%d judged by you", done) % done if done else "",
        )

    def check(self) -> Iterator[str]:
        """Check that each count follows from the marks, was typed, or is marked as unsure."""
        sheets = CountSheet.objects.filter(state=CountSheet.State.SUBMITTED, round__isnull=False)
        for sheet in sheets.defer("draft").iterator(FETCH):
            marks = marks_from_json(sheet.marks)
            counts = CoverageCounts(sheet.covered, sheet.unique, sheet.references, sheet.summaries)
            for name, marked, share, stored in (
                ("covered", count_covered(marks), counts.coverage, sheet.coverage),
                ("unique", count_unique(marks), counts.redundancy, sheet.redundancy),
            ):
                count = getattr(sheet, name)
                if (count is None) != getattr(sheet, f"{name}_is_unsure"):
                    yield f"count sheet {sheet.pk}: {name} is {count}, despite its unsure mark"
                if count not in (None, marked) and not getattr(sheet, f"{name}_is_typed"):
                    yield f"count sheet {sheet.pk} has {name} {count}, but its marks give {marked}"
                if (share is None) != (stored is None) or not isclose(share or 0, stored or 0):
                    yield f"count sheet {sheet.pk} has a share that does not match {name}"


COUNTING = CountingRoundKind()


def counts_of(content: CountContent, *, references: int, summaries: int) -> CoverageCounts:
    """Return a form's current counts: those typed or, if missing, those from the marks."""
    marks = marks_from_json(content.marks)
    covered = count_covered(marks) if content.covered is None else content.covered
    unique = count_unique(marks) if content.unique is None else content.unique
    return CoverageCounts(
        None if content.covered_is_unsure else covered,
        None if content.unique_is_unsure else unique,
        references,
        summaries,
    )


def put_content(sheet: CountSheet, content: CountContent) -> None:
    """Set marks, counts and shares of a sheet; the caller saves it."""
    counts = counts_of(content, references=sheet.references, summaries=sheet.summaries)
    sheet.marks, sheet.comment = content.marks, content.comment
    sheet.covered, sheet.unique = counts.covered, counts.unique
    sheet.covered_is_typed = content.covered is not None and not content.covered_is_unsure
    sheet.unique_is_typed = content.unique is not None and not content.unique_is_unsure
    sheet.covered_is_unsure = content.covered_is_unsure
    sheet.unique_is_unsure = content.unique_is_unsure
    sheet.coverage, sheet.redundancy = counts.coverage, counts.redundancy


def _shown(name: str) -> str:
    kind, place = name.split("-")
    text = _("reference %d") if kind == "reference" else _("summary %d")
    return text % (int(place) + 1)


GUIDE = """\
You see a debate topic, a side, and two lists. **References** are key points that people wrote
after reading the whole debate. **Summaries** are what a system wrote. You answer two questions,
and you only compare meaning: wording, length and style do not matter.

### 1. How many references do the summaries cover?

Read one reference and look for its point among the summaries.

- **Covered**: the summaries make this point, in one of them or in several together.
- **Partly**: they make only a part of it, or something more general that includes it.
- **Not covered**: the point is missing, or only the topic is the same.

Then tick the summaries in which you found the point. One summary may cover several references.

### 2. How many different things do the summaries say?

Give summaries that say the same thing the same letter; a summary with a point of its own gets its
own letter. It does not matter whether the point is among the references.

- Tick **partly** where a statement repeats another one in part and adds something of its own. Tick
  it for one of the two, never for both: it then counts one half.
- Choose **says nothing** for a text that makes no point at all.

### An example

Topic: *Every town should keep a public night bus*, supporting side. The texts are invented.

| Reference | Judgement |
|---|---|
| Night buses keep people safe on their way home | covered, by 1 |
| Night buses help people who work in shifts | partly, by 2: only nurses are named |
| Night buses cost less than taxis | not covered |

| Summary | Statement |
|---|---|
| 1. Nobody has to walk through dark streets any more | A |
| 2. Nurses reach home after their late shift | B |
| 3. The way home becomes safe | A, the same as 1 |
| 4. Hospital staff and bakers get to work | C, partly: it repeats B and adds bakers |

1.5 of 3 references are covered, and 2.5 of 4 statements are different.

If you cannot decide, tick **unsure**: the set then has no count from you, which is better than a
guess.
"""

# A rater's order includes all remaining sets; with more sets, serving would be slow.
MOST_SETS = 10_000
ONE, ALL = "one", "all"


@dataclass(frozen=True, kw_only=True)
class CountingPlan:
    """All options that decide which sets are judged, and how.

    ``per_cell`` selects either one set per system and cell, with a random setting, or all sets.
    """

    name: str
    seed: int
    dataset: Dataset | None = None
    split: str = ""
    systems: tuple[str, ...] = ()
    setting: str = ""
    per_cell: str = ONE
    leave_out_used: bool = False
    # None selects every matching set.
    size: int | None = None
    raters: int = 3
    repeat_share: float = 0.0
    lease_minutes: int = 120
    skip_share: float | None = 0.2
    instructions: str = GUIDE

    def recipe(self, n_sets: int) -> dict[str, Any]:
        """Return the recipe to store with the round: public ids, names and numbers."""
        return {
            "dataset": str(self.dataset.public_id) if self.dataset else None,
            "dataset_name": self.dataset.name if self.dataset else "",
            "split": self.split,
            "systems": list(self.systems),
            "setting": self.setting,
            "per_cell": self.per_cell,
            "leave_out_used": self.leave_out_used,
            "size": self.size,
            "found": n_sets,
        }


SETTINGS = (
    "name", "seed", "raters", "repeat_share", "lease_minutes", "skip_share", "instructions",
)  # fmt: skip


@transaction.atomic
def plan_round(
    *, study: Study, plan: CountingPlan, actor: User, round_: CountingRound | None = None
) -> CountingRound:
    """Create a draft round with its sets, or draw the sets of a draft again.

    Raises RoundNotReady if no set matches, or if there would be too many sets.
    """
    planned = locked_round(round_, CountingRound.State.DRAFT) if round_ else None
    planned = planned or CountingRound(study=study, created_by=actor)
    drawn, n_sets = drawn_sets(study=study, plan=plan, round_=round_)
    if not drawn:
        raise RoundNotReady(_("No matching sets have key points and references."))
    if len(drawn) > MOST_SETS:
        raise RoundNotReady(
            _("%(found)d sets match, but a round can have at most %(most)d. Draw a random sample.")
            % {"found": len(drawn), "most": MOST_SETS}
        )
    for name in SETTINGS:
        setattr(planned, name, getattr(plan, name))
    planned.recipe = plan.recipe(n_sets)
    planned.save()
    planned.items.filter(ORDINARY).delete()
    planned.items.update(is_drawn=False)
    start = planned.items.aggregate(last=Max("position"))["last"] or 0
    CountingItem.objects.bulk_create(
        (
            CountingItem(round=planned, summary_set_id=pk, position=position)
            for position, pk in enumerate(drawn, start + 1)
        ),
        batch_size=CHUNK,
    )
    return planned


def drawn_sets(
    *, study: Study, plan: CountingPlan, round_: CountingRound | None = None
) -> tuple[list[int], int]:
    """Return the keys of the drawn sets in order, and the number of matching sets."""
    rows = matching_sets(study=study, plan=plan, round_=round_)
    matches = list(rows.order_by("pk").values_list("pk", "system", "setting", "cell"))
    strata: list[tuple[int, Hashable]] = [(pk, pk) for pk, *_rest in matches]
    if plan.per_cell == ONE:
        strata = one_setting(matches, seed=plan.seed)
    return draw_sets(strata, plan.size, seed=plan.seed), len(matches)


def one_setting(
    sets: Sequence[tuple[int, str, str, int]], *, seed: int
) -> list[tuple[int, Hashable]]:
    """Return the sets of one setting per system, in strata of system and cell for `draw_sets`.

    The setting is drawn from those with sets in the most cells, so that all judgements of a system
    are about the same setting and a leaderboard can show their mean. Only a cell without that
    setting keeps its other sets.

    Parameters
    ----------
    sets
        Key, system, setting and cell.
    seed
        The same seed gives the same settings.
    """
    rng = random.Random(seed)  # noqa: S311  an order, not a secret
    cells: dict[str, dict[str, set[int]]] = {}
    for _key, system, setting, cell in sets:
        cells.setdefault(system, {}).setdefault(setting, set()).add(cell)
    chosen = {}
    for system, settings in sorted(cells.items()):
        most = max(len(keys) for keys in settings.values())
        chosen[system] = rng.choice([name for name, keys in settings.items() if len(keys) == most])
    return [
        (key, (system, cell))
        for key, system, setting, cell in sets
        if setting == chosen[system] or cell not in cells[system][chosen[system]]
    ]


def draw_sets(strata: Iterable[tuple[int, Hashable]], size: int | None, *, seed: int) -> list[int]:
    """Draw one set from every stratum, in random order, and return ``size`` sets or all of them.

    The same sets and the same seed give the same draw.
    """
    rng = random.Random(seed)  # noqa: S311  an order, not a secret
    members: dict[Hashable, list[int]] = {}
    for key, stratum in sorted(strata, key=lambda pair: pair[0]):
        members.setdefault(stratum, []).append(key)
    chosen = sorted(rng.choice(member) for member in members.values())
    return rng.sample(chosen, len(chosen) if size is None else min(size, len(chosen)))


def matching_sets(
    *, study: Study, plan: CountingPlan, round_: CountingRound | None = None
) -> QuerySet[SummarySet]:
    """Return the sets that a round may use: those with key points and with references."""
    texts = SystemSummary.objects.filter(summary_set=OuterRef("pk"))
    references = ReferenceKeyPoint.objects.filter(cell=OuterRef("cell"))
    sets = study.summary_sets.filter(
        Exists(texts), Exists(references), state=SummarySet.State.DONE
    )
    if plan.dataset is not None:
        sets = sets.filter(cell__dataset=plan.dataset)
    if plan.split:
        sets = sets.filter(cell__split=plan.split)
    if plan.systems:
        sets = sets.filter(system__in=plan.systems)
    if plan.setting:
        sets = sets.filter(setting__contains=plan.setting)
    used = CountingItem.objects.filter(summary_set=OuterRef("pk"), round__study=study)
    if round_ is not None:
        sets = sets.filter(~Exists(used.filter(round=round_).exclude(ORDINARY)))
        used = used.exclude(round=round_)
    return sets.filter(~Exists(used)) if plan.leave_out_used else sets

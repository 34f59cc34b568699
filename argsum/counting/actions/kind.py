"""Counting as a kind of work: which references are covered, which statements say the same."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isclose
from typing import Any

from django.db.models import Avg, Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from argsum.counting.methods.marks import (
    Counts,
    count_covered,
    count_unique,
    marks_from_json,
    undecided,
)
from argsum.counting.models import (
    CountEvent,
    CountingItem,
    CountingRound,
    CountingSlot,
    CountSheet,
    KeptCount,
)
from argsum.keypoints.models import SummarySet
from cqa_site.people.models import Rater
from cqa_site.rounds.kind import Audit, Card, SheetNotValid, Words
from cqa_site.rounds.models import COUNTED
from cqa_site.rounds.policies import OneByOne

FETCH = 1_000
# There are no examples to qualify by yet, so nobody is let in or kept out.
UNSURE = Q(covered_is_unsure=True) | Q(unique_is_unsure=True)


@dataclass(frozen=True)
class CountContent:
    """What stands on a form.

    ``marks`` is as `CountSheet.marks`; ``covered`` and ``unique`` are counts that were typed, None
    where the marks count; an unsure one gives no count. ``covered_text`` and ``unique_text`` are
    what was typed there and is no count: kept in drafts, so that nothing typed is lost.
    """

    marks: dict[str, Any] = field(default_factory=dict)
    covered: float | None = None
    covered_is_unsure: bool = False
    unique: float | None = None
    unique_is_unsure: bool = False
    comment: str = ""
    covered_text: str = ""
    unique_text: str = ""


class Counting(OneByOne):
    """One summary set at a time, marked against its references."""

    name = "count"
    audit = Audit(round="counting_round", person="counter")
    words = Words(
        rounds=lazy("Counting rounds"),
        about=lazy(
            "People compare the key points of a system with references, blind to who wrote them: "
            "how many references are covered, how many statements are different."
        ),
        things=lazy("Sets"),
        results=lazy("Agreement of counts"),
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
    Kept = KeptCount
    Content = CountContent
    settled = ("marks", "comment", "covered", "unique", "coverage", "redundancy")
    figures = {
        "unsure": Count("pk", filter=COUNTED & UNSURE),
        "coverage": Avg("coverage", filter=COUNTED),
        "redundancy": Avg("redundancy", filter=COUNTED),
    }

    def begin(self, round_: CountingRound, item: CountingItem, rater: Rater) -> dict[str, Any]:
        """The sizes of the set, which the database guards."""
        sizes = SummarySet.objects.filter(pk=item.summary_set_id).values_list(
            Count("summaries", distinct=True), Count("cell__key_points", distinct=True)
        )
        summaries, references = sizes[0]
        return {"summaries": summaries, "references": references}

    def submitted(self, sheet: CountSheet) -> CountContent:
        """What was submitted last, empty before that."""
        return CountContent(
            marks=sheet.marks,
            covered=sheet.covered if sheet.covered_is_typed else None,
            covered_is_unsure=sheet.covered_is_unsure,
            unique=sheet.unique if sheet.unique_is_typed else None,
            unique_is_unsure=sheet.unique_is_unsure,
            comment=sheet.comment,
        )

    def problem(self, sheet: CountSheet, content: CountContent) -> SheetNotValid | None:
        """A count needs all its marks, or a number, or that somebody is unsure."""
        marks = marks_from_json(content.marks)
        references, summaries = undecided(marks, sheet.references, sheet.summaries)
        missing = []
        if content.covered is None and not content.covered_is_unsure:
            missing += [f"reference-{each}" for each in references]
        if content.unique is None and not content.unique_is_unsure:
            missing += [f"summary-{each}" for each in summaries]
            partly = set(marks.partly)
            if not missing and marks.groups and all(partly.intersection(g) for g in marks.groups):
                text = _("At least one statement has to count in full: nothing else is repeated.")
                return SheetNotValid(text, [f"summary-{each}" for each in sorted(partly)])
        if not missing:
            return None
        text = _("Still undecided: %s. Mark them, type the count, or say that you are unsure.")
        return SheetNotValid(text % ", ".join(_shown(each) for each in missing), missing)

    def settle(self, sheet: CountSheet, content: CountContent) -> None:
        """Marks, and the counts and shares that follow from them."""
        put_content(sheet, content)

    def mark(self, sheet: CountSheet, key: Mapping[str, Any]) -> tuple[int, int]:
        """Which of the known counts, ``covered`` and ``unique``, the sheet has."""
        return sum(getattr(sheet, name) == count for name, count in key.items()), len(key)

    def slots(self, round_: CountingRound, items: Iterable[int]) -> dict[int, int]:
        """The same number of people for every set."""
        return dict.fromkeys(items, round_.raters)

    def card(self, done: int) -> Card:
        """Words for a person's first page."""
        return Card(
            text=_("Compare key points with references, one set at a time. Every mark is saved."),
            button=_("Go on judging") if done else _("Start judging"),
            badge=ngettext("%d judged by you", "%d judged by you", done) % done if done else "",
        )

    def check(self) -> Iterator[str]:
        """A count follows from the marks, is typed, or is missing because somebody is unsure."""
        sheets = CountSheet.objects.filter(state=CountSheet.State.SUBMITTED, round__isnull=False)
        for sheet in sheets.defer("draft").iterator(FETCH):
            marks = marks_from_json(sheet.marks)
            counts = Counts(sheet.covered, sheet.unique, sheet.references, sheet.summaries)
            for name, marked, share, stored in (
                ("covered", count_covered(marks), counts.coverage, sheet.coverage),
                ("unique", count_unique(marks), counts.redundancy, sheet.redundancy),
            ):
                count = getattr(sheet, name)
                if (count is None) != getattr(sheet, f"{name}_is_unsure"):
                    yield f"count sheet {sheet.pk}: {name} is {count}, against its unsure mark"
                if count not in (None, marked) and not getattr(sheet, f"{name}_is_typed"):
                    yield f"count sheet {sheet.pk} has {name} {count}, its marks give {marked}"
                if (share is None) != (stored is None) or not isclose(share or 0, stored or 0):
                    yield f"count sheet {sheet.pk} has a share that is not of its {name} count"


COUNTING = Counting()


def counts_of(content: CountContent, *, references: int, summaries: int) -> Counts:
    """The counts that a content gives so far: typed ones first, else those of the marks."""
    marks = marks_from_json(content.marks)
    covered = count_covered(marks) if content.covered is None else content.covered
    unique = count_unique(marks) if content.unique is None else content.unique
    return Counts(
        None if content.covered_is_unsure else covered,
        None if content.unique_is_unsure else unique,
        references,
        summaries,
    )


def put_content(sheet: CountSheet, content: CountContent) -> None:
    """Set marks, counts and shares of a sheet that the caller saves."""
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

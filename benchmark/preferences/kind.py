"""Preferring as a kind of work: which of two answers is better, blind to who wrote them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from benchmark.preferences.methods.verdicts import FIRST, LEFT, RIGHT, SECOND
from benchmark.preferences.models import (
    KeptPreference,
    Pair,
    PreferenceEvent,
    PreferenceItem,
    PreferenceRound,
    PreferenceSheet,
    PreferenceSlot,
)
from cqa_site.judging.identity import digest
from cqa_site.people.models import Rater
from cqa_site.rounds.kind import Audit, Card, SheetNotValid, Words
from cqa_site.rounds.models import COUNTED
from cqa_site.rounds.policies import OneByOne

SAID_LEFT = Q(verdict=FIRST, is_swapped=False) | Q(verdict=SECOND, is_swapped=True)
SAID_RIGHT = Q(verdict=FIRST, is_swapped=True) | Q(verdict=SECOND, is_swapped=False)


@dataclass(frozen=True)
class PreferenceContent:
    """What stands on a form; the verdict is about the pair's own first and second answer."""

    verdict: str = ""
    comment: str = ""


def turned(word: str, *, is_swapped: bool) -> str:
    """Left or right as first or second, and back; ties and both bad have no side.

    Examples
    --------
    >>> turned("left", is_swapped=True), turned("second", is_swapped=True)
    ('second', 'left')
    """
    sides = (RIGHT, LEFT) if is_swapped else (LEFT, RIGHT)
    names = dict(zip(sides, (FIRST, SECOND), strict=True))
    return {**names, **{name: side for side, name in names.items()}}.get(word, word)


class Preferring(OneByOne):
    """One pair at a time; what comes a second time comes with the sides exchanged."""

    name = "prefer"
    audit = Audit(round="preference_round", person="preferrer")
    words = Words(
        rounds=lazy("Preference rounds"),
        about=lazy(
            "People see two answers to one question side by side, blind to who wrote them, and "
            "say which is better."
        ),
        things=lazy("Pairs"),
        results=lazy("Preferences"),
    )
    section = "score"
    results_page = "preferences"
    terms = ("verdict", "control pair", "contradiction", "qualification")
    work_page = "prefer"
    sheet_page = "prefer_form"
    takes_crowd = True
    subject = "pair"
    needed = ("pair__question__comparison", "pair__first", "pair__second")
    item_needed = (
        "pair__question__comparison",
        "pair__first__system",
        "pair__second__system",
        "pair__first__condition",
        "pair__second__condition",
    )
    Round = PreferenceRound
    Item = PreferenceItem
    Slot = PreferenceSlot
    Sheet = PreferenceSheet
    Event = PreferenceEvent
    Kept = KeptPreference
    Content = PreferenceContent
    settled = ("verdict", "comment")
    figures = {
        "left": Count("pk", filter=COUNTED & SAID_LEFT),
        "right": Count("pk", filter=COUNTED & SAID_RIGHT),
        "tie": Count("pk", filter=COUNTED & Q(verdict="tie")),
        "both_bad": Count("pk", filter=COUNTED & Q(verdict="both_bad")),
        "controls": Count("pk", filter=COUNTED & ~Q(known="")),
        "met": Count("pk", filter=COUNTED & ~Q(known="") & Q(verdict=F("known"))),
    }

    def begin(self, round_: PreferenceRound, item: PreferenceItem, rater: Rater) -> dict[str, Any]:
        """The side of each answer: by chance, and yet even for every person.

        Of every two sheets one is swapped; chance says which.
        """
        return {"known": item.known, "is_swapped": self._is_swapped(round_, item, rater)}

    def _is_swapped(self, round_: PreferenceRound, item: PreferenceItem, rater: Rater) -> bool:
        same = Q(pair=item.pair_id)
        seen = PreferenceSheet.objects.filter(round=round_, rater=rater).aggregate(
            firsts=Count("pk", filter=Q(replicate=0)),
            before=Count("pk", filter=same),
            swapped=Count("pk", filter=same & Q(is_swapped=True)),
        )
        if seen["before"]:
            return not seen["swapped"]
        block, is_later = divmod(seen["firsts"], 2)
        draw = int(digest(["sides", round_.seed, rater.pk, block])[:2], 16)
        return bool(draw % 2) != bool(is_later)

    def submitted(self, sheet: PreferenceSheet) -> PreferenceContent:
        """What was submitted last, empty before that."""
        return PreferenceContent(sheet.verdict, sheet.comment)

    def problem(self, sheet: PreferenceSheet, content: PreferenceContent) -> SheetNotValid | None:
        """A verdict is needed, a reason is not."""
        if content.verdict:
            return None
        return SheetNotValid(_("Say which answer is better, or that neither is."), ["verdict"])

    def settle(self, sheet: PreferenceSheet, content: PreferenceContent) -> None:
        """As given."""
        sheet.verdict, sheet.comment = content.verdict, content.comment

    def mark(self, sheet: PreferenceSheet, key: Mapping[str, Any]) -> tuple[int, int]:
        """Whether the verdict is the known one."""
        return int(sheet.verdict == key["verdict"]), 1

    def slots(self, round_: PreferenceRound, items: Iterable[int]) -> dict[int, int]:
        """The same number of people for every pair."""
        return dict.fromkeys(items, round_.raters)

    def check_opening(self, round_: PreferenceRound) -> None:
        """Pairs stay as they were drawn, so nothing can be wrong by now."""

    def card(self, done: int) -> Card:
        """Words for a person's first page."""
        return Card(
            text=_("Say which of two answers is better, one pair at a time, by one key."),
            button=_("Go on comparing") if done else _("Start comparing"),
            badge=ngettext("%d compared by you", "%d compared by you", done) % done
            if done
            else "",
        )

    def check(self) -> Iterator[str]:
        """Both answers of a pair are about its question, in its study; controls are what they are.

        A sheet keeps what its round's item says of the pair.
        """
        strange = Pair.objects.exclude(
            first__question=F("question"),
            second__question=F("question"),
            first__study=F("study"),
            second__study=F("study"),
        )
        for pk in strange.values_list("pk", flat=True):
            yield f"pair {pk} has an answer to another question or of another study"
        item = PreferenceItem.objects.filter(round=OuterRef("round"), pair=OuterRef("pair"))
        sheets = PreferenceSheet.objects.filter(round__isnull=False)
        unlike = sheets.exclude(known=Subquery(item.values("known")[:1]))
        for pk in unlike.values_list("pk", flat=True):
            yield f"preference sheet {pk} does not know what the item of its round knows"


PREFERRING = Preferring()

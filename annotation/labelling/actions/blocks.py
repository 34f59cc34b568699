"""Labelling as a task: blocks with control items, and corrections to rounds."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from django.db import transaction
from django.db.models import Avg, Count, OuterRef, Q, QuerySet, Sum
from django.forms import ChoiceField, Field
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from annotation.labelling.models import (
    Assignment,
    GuidelineUse,
    Item,
    LabelRound,
    Slot,
    VoteEvent,
)
from annotation.labelling.reports import KnownLabel, label_violations
from cqa_site.people.access import record
from cqa_site.people.models import Rater, Study, User
from cqa_site.rounds.kind import (
    Audit,
    Card,
    Exercise,
    OfferedAnswer,
    RoundNotReady,
    TaskKind,
    Words,
)
from cqa_site.rounds.lifecycle import locked_round
from cqa_site.rounds.models import Place, Round
from cqa_site.rounds.progress import count_of, newest_of_each
from cqa_site.rounds.queue import place_for
from cqa_site.rounds.rules.actions import check_rules
from cqa_site.rounds.rules.measures import MEASURES, OF_CONTROLS, RecentAnswer
from .controls import offers_of, take_labels
from .exercises import draw_training, exercises_of, known_controls
from .rounds import RUNNING, add_slots, freeze, prepare_round, require_live
from .serving import DONE, FREE, how_far, lock_slots, next_work, take_slots

# Serving policy for labels: blocks of items, with control items hidden among them
#
# `serving` and `votes` do the work; this part implements the interface to the rounds engine.

CHUNK = 500
RESERVED = Q(state=Assignment.State.SERVED)
HELD = RESERVED | Q(slot__isnull=False)


class Blocks(TaskKind):
    """Labelling in blocks; only ordinary items are reserved through slots."""

    # For raters who answer too few control items with the known label.
    excludes_by_rule = True
    pauses = True

    skipped = Q(state=Assignment.State.SKIPPED)

    def counts(self) -> dict[str, Any]:
        """Return the counts of items and slots; imported rounds have only ``votes`` (labels)."""
        mine = {"round": OuterRef("pk")}
        slots = Slot.objects.filter(**mine)
        votes = Assignment.objects.filter(**mine, state=Assignment.State.ANSWERED)
        queries = {
            "size": Item.objects.filter(**mine),
            "wanted": slots,
            "done": slots.filter(state=Slot.State.DONE),
            "votes": votes,
        }
        return {name: count_of(rows, "round") for name, rows in queries.items()}

    def count_own(self, rounds: Iterable[Round], user: User) -> dict[int, int]:
        """Count the items labelled or skipped, including control items."""
        own = Assignment.objects.filter(
            round__in=[label_round.pk for label_round in rounds], rater__user=user, state__in=DONE
        )
        return dict(own.order_by().values_list("round").annotate(Count("pk")))

    def most_items(self, round_: Round) -> int:
        """Return the maximum number of items per rater, with ordinary items up to the share cap.

        Each block includes control items as long as the person has not seen all of them. Drafts
        serve no items.
        """
        label_round = self.own(round_)
        if label_round.state == LabelRound.State.DRAFT:
            return 0
        items = _count_items(label_round)
        return _with_controls(label_round, items["ordinary"], items)

    def count_free(self, round_: Round) -> int:
        """Return the maximum number of items free for one rater; 0 if the round is not open."""
        label_round = self.own(round_)
        if label_round.state != LabelRound.State.OPEN:
            return 0
        free = Slot.objects.filter(FREE, round=label_round).values("item").distinct().count()
        return _with_controls(label_round, free, _count_items(label_round)) if free else 0

    def paces(self, round_: Round, **where: Any) -> Iterable[tuple[int, int, int, Any]]:
        """Return each rater's pace over items labelled or skipped, including control items."""
        own = Assignment.objects.filter(round=round_.pk, state__in=DONE, **where)
        skipped = Count("pk", filter=self.skipped)
        rows = own.order_by().values_list("rater")
        return rows.annotate(Count("pk"), skipped=skipped, seconds=Avg("active_ms") / 1000)

    def measures(self, round_: Round) -> tuple[str, ...]:
        """Return all measures except those of control items; imported rounds have no measures."""
        if not self.own(round_).is_live:
            return ()
        return tuple(name for name in MEASURES if name not in OF_CONTROLS)

    def last_answers(
        self, round_: Round, most: int, *, with_majority: bool = False, **where: Any
    ) -> dict[int, list[RecentAnswer]]:
        """Return labelled and skipped items, including control items (whose agreement is None)."""
        own = Assignment.objects.filter(round=round_.pk, state__in=DONE, **where)
        columns = ("rater", "answered_at", "active_ms", "label", "is_flagged", "is_extra", "item")
        newest = newest_of_each(own, most, "-answered_at", "-pk")
        rows = list(newest.values_list(*columns))
        among = {"item__in": {item for *_answer, item in rows}} if where else {}
        votes = _ordinary_votes(round_, **among) if with_majority else {}
        answers: dict[int, list[RecentAnswer]] = defaultdict(list)
        for rater, at, milliseconds, label, is_flagged, is_extra, item in rows:
            others = votes.get(item, Counter()) - Counter([] if is_extra else [label])
            top = majority_of(others)
            answers[rater].append(
                RecentAnswer(
                    at,
                    None if milliseconds is None else milliseconds / 1000,
                    label,
                    label is None,
                    is_flagged,
                    None if None in (label, top) else label == top,
                )
            )
        return answers

    def value_counts(self, round_: Round) -> list[int]:
        """Count the labels, including those of control items."""
        rows = Assignment.objects.filter(round=round_.pk, state=Assignment.State.ANSWERED)
        return [n for _label, n in rows.order_by().values_list("label").annotate(n=Count("pk"))]

    def seconds_worked(self, round_: Round) -> Iterable[tuple[int, Any]]:
        """Add up the time on all items served, including control items."""
        rows = Assignment.objects.filter(round=round_.pk).order_by()
        yield from rows.values_list("rater").annotate(seconds=Sum("active_ms") / 1000.0)

    def why_none(self, round_: Round, rater: Rater) -> str:
        """Return the reason why the rater has no work, as given by `serving`."""
        label_round = self.own(round_)
        return next_work(
            label_round=label_round, place=place_for(round_=label_round, rater=rater)
        ).reason

    def is_done_by(self, round_: Round, place: Place) -> bool:
        """Whether the rater has no items left, as counted on the work page."""
        served = Assignment.objects.filter(
            round=round_.pk, rater=place.rater_id, state=Assignment.State.SERVED
        )
        far = how_far(label_round=self.own(round_), place=place, times=[], served=served.count())
        return not far.left

    def leave_out(self, place: Place) -> int:
        """Release an excluded rater's items in a running round; the labels become extras.

        Reserved control items are released too, because otherwise only they would remain in the
        block.
        """
        mine = Assignment.objects.filter(round=place.round_id, rater=place.rater_id)
        return free_slots(mine.filter(HELD)) if _is_running(self.own(place.round)) else 0

    def stop(self, place: Place, *, withdraws: bool) -> None:
        """End a rater's reservations; a withdrawal also voids the labels.

        The history of votes is kept. An answer in progress gets a free slot.
        """
        mine = Assignment.objects.filter(round=place.round_id, rater=place.rater_id)
        free_slots(mine.filter(HELD if withdraws else RESERVED))
        if withdraws:
            void = {"label": None, "is_extra": False, "state": Assignment.State.VOID}
            mine.filter(state__in=DONE).update(**void)

    def count_again(self, place: Place) -> int:
        """Restore labels to free slots; labels submitted after closing stay extras."""
        return _regain_slots(place)

    def check_work(self) -> Iterable[str]:
        """Check assignments, slots and votes."""
        return label_violations()


def _ordinary_votes(round_: Round, **among: Any) -> dict[int, Counter[int]]:
    """Count the counted labels of each ordinary item."""
    excluded = Place.objects.filter(round=round_.pk, excluded_at__isnull=False).values("rater")
    rows = (
        Assignment.objects.filter(
            round=round_.pk,
            state=Assignment.State.ANSWERED,
            is_extra=False,
            item__control_label__isnull=True,
            **among,
        )
        .exclude(rater__in=excluded)
        .order_by()
        .values_list("item", "label")
        .annotate(n=Count("pk"))
    )
    votes: dict[int, Counter[int]] = defaultdict(Counter)
    for item, label, n in rows:
        votes[item][label] = n
    return votes


def majority_of(votes: Counter[int]) -> int | None:
    """Return the most frequent label; None on a tie or with fewer than two votes.

    Examples
    --------
    >>> majority_of(Counter({2: 2, 0: 1})), majority_of(Counter({2: 1, 0: 1}))
    (2, None)
    """
    (top, most), *rest = [*votes.most_common(2), (-1, 0)]
    return top if votes.total() >= 2 and most > rest[0][1] else None


def _is_running(label_round: LabelRound) -> bool:
    return label_round.is_live and label_round.state != LabelRound.State.CLOSED


def _count_items(label_round: LabelRound) -> dict[str, int]:
    return label_round.items.aggregate(
        ordinary=Count("pk", filter=Item.ORDINARY),
        controls=Count("pk", filter=Q(control_label__isnull=False, is_retired=False)),
    )


def _with_controls(label_round: LabelRound, ordinary: int, items: dict[str, int]) -> int:
    """Count the ordinary items up to the share cap, plus the control items in their blocks."""
    allowed = min(ordinary, math.ceil(items["ordinary"] * label_round.share_cap))
    blocks = math.ceil(allowed / max(1, label_round.block_size - label_round.controls_per_block))
    return allowed + min(items["controls"], blocks * label_round.controls_per_block)


def free_slots(held: QuerySet[Assignment]) -> int:
    """Free the rows' slots and return their number; reservations end, and labels become extras."""
    rows = list(held.select_for_update().order_by("pk").values_list("slot", flat=True))
    slots = sorted(pk for pk in rows if pk)
    held.filter(state=Assignment.State.ANSWERED).update(slot=None, is_extra=True)
    held.filter(RESERVED).update(slot=None, state=Assignment.State.EXPIRED)
    for start in range(0, len(slots), CHUNK):
        chunk = lock_slots(Slot.objects.filter(pk__in=slots[start : start + CHUNK]))
        Slot.objects.filter(pk__in=chunk).update(state=Slot.State.OPEN, lease_until=None)
    return len(slots)


def _regain_slots(place: Place) -> int:
    """Assign free slots to the rater's extra labels; return the number assigned."""
    extras = Assignment.objects.filter(
        round=place.round_id, rater=place.rater_id, state=Assignment.State.ANSWERED, is_extra=True
    )
    if place.round.closed_at:
        extras = extras.filter(answered_at__lt=place.round.closed_at)
    waiting = list(extras.select_for_update().order_by("pk").values_list("item", "pk"))
    return sum(
        _take_slots(dict(waiting[start : start + CHUNK]))
        for start in range(0, len(waiting), CHUNK)
    )


def _take_slots(assignments: dict[int, int]) -> int:
    """Take each item's first free slot for its assignment; return the number taken."""
    free = Slot.objects.filter(FREE, item__in=assignments)
    # The last entry wins, so the slot with the lowest number comes last.
    chosen = dict(free.order_by("-number").values_list("item", "pk"))
    slots = take_slots(list(chosen.values()))
    ids = [slot.pk for slot in slots]
    Slot.objects.filter(pk__in=ids).update(state=Slot.State.DONE, lease_until=None)
    rows = [Assignment(pk=assignments[slot.item_id], slot=slot, is_extra=False) for slot in slots]
    return Assignment.objects.bulk_update(rows, ["slot", "is_extra"])


def check_correction(label_round: LabelRound, after: dict[str, Any]) -> None:
    """Raise RoundNotReady if the number of votes is reduced or the scale is changed."""
    if set(after) - {"name"}:
        require_live(label_round)
    if after.get("votes_per_item", label_round.votes_per_item) < label_round.votes_per_item:
        raise RoundNotReady(
            _(
                "Votes per item can only be raised, because some items may already have all %d "
                "votes."
            )
            % label_round.votes_per_item
        )
    if after.get("guideline", label_round.guideline).values != label_round.guideline.values:
        raise RoundNotReady(
            _("Only the wording can change, because labels given so far use this round's scale.")
        )


def correct_label_round(label_round: LabelRound, before: dict[str, Any]) -> None:
    """Add slots for additional votes, and record when the guideline's wording changed."""
    if "votes_per_item" in before:
        items = (
            label_round.items.filter(Item.ORDINARY).order_by("rank").values_list("pk", flat=True)
        )
        added = range(before["votes_per_item"] + 1, label_round.votes_per_item + 1)
        add_slots(label_round, items.iterator(), added)
    if "guideline" in before:
        freeze(label_round.guideline)
        if not label_round.guideline_uses.exists():
            _note_use(label_round, before["guideline"], label_round.opened_at)
        _note_use(label_round, label_round.guideline, timezone.now())


def _note_use(label_round: LabelRound, guideline: Any, since: Any) -> None:
    GuidelineUse.objects.create(label_round=label_round, guideline=guideline, since=since)


@transaction.atomic
def retire_item(*, label_round: LabelRound, item: Item, is_retired: bool, actor: User) -> None:
    """Stop serving and counting an ordinary item, or restore it.

    A person who is viewing the item can still answer; the answer is kept as an extra. Raises
    RoundNotReady for control items, which are retired on the quality pages.
    """
    label_round = locked_round(label_round, *RUNNING)
    item = Item.objects.select_for_update(no_key=True).get(pk=item.pk, round=label_round)
    if item.is_control:
        raise RoundNotReady(_("Retire control items on the Quality page."))
    if item.is_retired == is_retired:
        return
    item.is_retired = is_retired
    item.save(update_fields=["is_retired"])
    if is_retired:
        free_slots(Assignment.objects.filter(RESERVED, item=item))
        Slot.objects.filter(pk__in=lock_slots(Slot.objects.filter(FREE, item=item))).delete()
    else:
        there = set(item.slots.values_list("number", flat=True))
        wanted = range(1, label_round.votes_per_item + 1)
        add_slots(label_round, [item.pk], [number for number in wanted if number not in there])
    record(
        study=label_round.study,
        actor=actor,
        verb="item_retired" if is_retired else "item_taken_back",
        subject=f"{label_round.name}: {item.external_id}",
    )


# Data that would be deleted with a round: machines' labels, adopted labels, figures.
MADE_OF_IT = ("judge_runs", "trained_judges", "adoptions", "lent_to", "snapshots")


class LabelRoundKind(Blocks):
    """Rounds that collect relevance labels for arguments."""

    name = "label"
    audit = Audit(
        round="label_round",
        person="rater",
        decisions={"exclude": "excluded", "reinstate": "reinstated", "pause": "paused"},
    )
    words = Words(
        rounds=lazy("Label rounds"),
        about=lazy("A round collects labels for a set of arguments under one guideline."),
        things=lazy("Arguments"),
        results=lazy("Figures"),
        work=lazy("Votes"),
        new=lazy("New round"),
    )
    section = "label"
    terms = ("item", "vote", "block", "control item", "judge")
    work_page = "label"
    answer_pages: ClassVar[tuple[str, ...]] = ("label_answer",)
    takes_crowd = True
    takes_controls = True
    crowd_head = "annotation/labelling/_round_head.html"
    Round = LabelRound
    Item = Item
    Slot = Slot
    Event = VoteEvent
    # Handlers set by higher packages, like `after_closing`: for the end of a person's block,
    # called with (label_round, place); for ordinary items, the machine's least certain first; for
    # arguments with labels that people agreed on, called with (study, values of the scale); and
    # for those plus labels settled by experts in other rounds, called with (label_round).
    after_block: tuple[Callable[..., object], ...] = ()
    least_sure_first: Callable[[LabelRound], list[int]] | None = None
    agreed: Callable[[Study, list[int]], list[tuple[int, int]]] | None = None
    known: Callable[[LabelRound], list[KnownLabel]] | None = None

    trains_on_pages = True
    guideline_text = "annotation/labelling/_guideline_text.html"

    def has_guideline(self, round_: Any) -> bool:
        """Return True, because every label round has a guideline."""
        return True

    def exercises(self, round_: Any) -> list[Exercise]:
        """Return the sentences with known labels that were set aside for training."""
        return exercises_of(self.own(round_))

    def draw_exercises(self, round_: LabelRound, wanted: int) -> None:
        """Set aside sentences with known labels; raises RoundNotReady if there are too few."""
        draw_training(round_, self.known_labels(round_.study, round_.guideline), wanted)

    def known_labels(self, study: Study, guideline: Any) -> dict[int, int]:
        """Return arguments with a known label: control items, and arguments people agreed on."""
        values = guideline.values if guideline else []
        agreed = dict(self.agreed(study, values)) if self.agreed else {}
        return agreed | known_controls(study, values)

    def control_offers(self, round_: LabelRound) -> list[OfferedAnswer]:
        """Return labels from settled disputes, then labels that people agreed on."""
        return offers_of(round_, self.known(round_)) if self.known else []

    def take_controls(self, round_: LabelRound, offers: list[OfferedAnswer], actor: User) -> None:
        """Add the arguments as control items, or mark existing items of a draft."""
        take_labels(round_, offers, actor)

    def answer_fields(self, round_: LabelRound) -> dict[str, Field]:
        """Return the form field for a known label with the levels as choices."""
        levels = round_.guideline.level_names.items()
        choices = [(value, f"{value} · {name}") for value, name in levels]
        return {"label": ChoiceField(choices=choices)}

    def make_slots(self, round_: LabelRound) -> None:
        """Create the slots in serving order."""
        prepare_round(round_, self.least_sure_first)

    def check_reopening(self, round_: LabelRound) -> None:
        """Refuse to reopen an imported round."""
        require_live(round_)

    def check_correction(self, round_: LabelRound, after: dict[str, Any]) -> None:
        """Allow a new name, more votes, and a new wording of the same scale."""
        check_correction(round_, after)

    def corrected(self, round_: LabelRound, before: dict[str, Any]) -> None:
        """Add slots for additional votes, and record the dates of each wording."""
        correct_label_round(round_, before)

    def block_ended(self, label_round: LabelRound, place: Place) -> None:
        """Run the handlers for a block after its last item was answered."""
        for follow in self.after_block:
            follow(label_round=label_round, place=place)
        if label_round.rules:
            place.refresh_from_db(fields=["is_stopped", "excluded_at", "prepared_for"])
            check_rules(label_round, place)

    def check_removal(self, round_: LabelRound) -> None:
        """Refuse removal if judges labelled the round's sentences or other data depend on it."""
        if any(getattr(round_, name).exists() for name in MADE_OF_IT):
            raise RoundNotReady(_("This round is already in use, so it cannot be deleted."))

    def card(self, done: int) -> Card:
        """Return the text of the card on a person's start page."""
        if not done:
            text = _(
                "One sentence at a time, one key for each label. Every answer is saved "
                "immediately."
            )
            return Card(text=text, button=_("Start labelling"), badge="")
        return Card(
            text=_("Continue where you left off. Every answer is saved immediately."),
            button=_("Continue labelling"),
            badge=ngettext("%d labelled by you", "%d labelled by you", done) % done,
        )

    def asks(self, items: int) -> str:
        """Return text that states the number of sentences."""
        text = ngettext(
            "You will read %(items)s sentence and label it. Every answer is saved immediately.",
            "You will read %(items)s sentences and label each one. Every answer is saved "
            "immediately.",
            items,
        )
        return text % {"items": items}

    def counted(self) -> str:
        """Return the description of the counted items."""
        return _("Labelled or skipped items, including control items.")


LABELS = LabelRoundKind()

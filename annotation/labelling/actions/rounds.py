"""Creation of guidelines, and planning, filling and preparation of rounds."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from types import MappingProxyType

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.corpus.models import Argument
from annotation.labelling.actions.exercises import (
    choose_training,
    hidden_controls,
    keep_training,
    trained_on,
)
from annotation.labelling.models import Guideline, Item, LabelRound, Slot, check_levels
from cqa_site.people.models import Study, User
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import locked_round

# Guidelines: a default, and versions that are frozen once they are used


def default_levels() -> list[dict]:
    """Return the 0–3 relevance scale (relevance paper, Table 1) in ascending order."""
    return [
        {
            "value": 0,
            "name": _("Not relevant"),
            "meaning": _("Neither object appears, or the sentence does not help to compare them."),
            "example": _("Last winter we had tea with my aunt."),
        },
        {
            "value": 1,
            "name": _("One object only"),
            "meaning": _(
                "Something useful about one of the objects, a superlative, "
                "or both objects each compared with something else."
            ),
            "example": _("Tea keeps well in a closed tin."),
        },
        {
            "value": 2,
            "name": _("Both, no clear reason"),
            "meaning": _(
                "Both objects are compared, but no reason is given, or it is left open which one "
                "is favoured."
            ),
            "example": _("I like tea more than coffee."),
        },
        {
            "value": 3,
            "name": _("Both, with a reason"),
            "meaning": _(
                "Both objects are compared and the sentence says in what respect one is better."
            ),
            "example": _("Tea stains teeth less than coffee does."),
        },
    ]


def default_body() -> str:
    """Return the default instructions for the 0–3 scale, with hard cases from the paper."""
    return _(
        """You see two objects and one sentence from the web. Decide how much the sentence helps
somebody who has to choose between the two objects. Judge the sentence alone: it does not matter
whether you agree with it or whether it is true.

1. Find both objects in the sentence. A product, a close synonym or a clear reference counts as
   the object ("the jet" for *plane*, a phone for its maker).
2. Ask whether the two are compared **with each other**.
3. Ask whether the sentence says **in what** one of them is better, worse or different.

## Hard cases

**Synonyms and parts.** *train / plane*: "The jet is far noisier than the train." Both objects are
there and a property is named: **3**.

**Indirect comparison.** *Model B / Model D*: "B is slower than C, but still quicker than D and E."
It follows that B is quicker than D: **3**. Other objects in the sentence do not matter.

**Unclear preference.** *chess / draughts*: "Nobody should claim that chess is harder than
draughts." Both are compared, but it remains open which one comes off better: **2**.

**Superlative.** *chess / draughts*: "Chess is the hardest game there is." Only one of the objects
is described; nothing follows about the other: **1**.

**Separate comparisons.** *Model A / Model D*: "A is easier to carry than C, and B is quicker than
D." Both objects occur, each compared with something else, never with each other: **1**.

**Personal taste.** *cats / dogs*: "My brother likes cats more than dogs." A preference without a
reason: **2**.

**Mention without content.** *cats / dogs*: "We once had a cat and a dog." This does not help to
compare them: **0**.

If you cannot read the sentence at all, skip it and say why; do not guess."""
    )


def default_draft(study: Study) -> Guideline:
    """Return an unsaved draft based on the newest version or the default."""
    return study.guidelines.first() or Guideline(
        study=study, title=_("Argument relevance"), body=default_body(), levels=default_levels()
    )


def default_guideline(study: Study, *, actor: User | None = None) -> Guideline:
    """Return the study's newest guideline; create version 1 from the default if there is none."""
    draft = default_draft(study)
    if draft.pk is not None:
        return draft
    return save_version(
        study=study, title=draft.title, body=draft.body, levels=draft.levels, actor=actor
    )


@transaction.atomic
def save_version(
    *, study: Study, title: str, body: str, levels: list[dict], actor: User | None
) -> Guideline:
    """Store a new version; raises ScaleNotValid if the levels do not form an ordinal scale."""
    check_levels(levels)
    # Lock the study, so that concurrent saves get consecutive numbers.
    Study.objects.select_for_update().get(pk=study.pk)
    last = study.guidelines.aggregate(last=Max("number"))["last"] or 0
    return Guideline.objects.create(
        study=study, number=last + 1, title=title, body=body, levels=levels, created_by=actor
    )


def freeze(guideline: Guideline) -> None:
    """Mark the version as used; later changes require a new version."""
    Guideline.objects.filter(pk=guideline.pk, frozen_at__isnull=True).update(
        frozen_at=timezone.now()
    )


CHUNK = 5_000
RUNNING = (LabelRound.State.OPEN, LabelRound.State.PAUSED)
Order = Callable[[LabelRound], list[int]]
# Arguments of a new round: all, only arguments not in any round, or none for now.
EVERY, NEW, LATER = "all", "new", "later"


@dataclass(frozen=True, kw_only=True)
class LabelPlan:
    """Settings of a round without its items; the fields are those of the round."""

    name: str
    # None: the default becomes the study's first guideline.
    guideline: Guideline | None
    votes_per_item: int
    block_size: int
    controls_per_block: int
    min_control_accuracy: float
    low_accuracy: str
    usual_accuracy: float
    fallen_accuracy: float
    on_fall: str
    share_cap: float
    expected_seconds: int
    lease_minutes: int
    seed: int
    orders_by_uncertainty: bool
    skip_share: float | None = 0.2


@dataclass(frozen=True)
class Take:
    """Initial items of a round: arguments, and the number of control items among them.

    ``known`` contains arguments with labels that people agreed on. Of these, ``controls`` become
    control items, drawn with the round's seed; ``train`` of the rest are used for training.
    """

    which: str = LATER
    sample: int | None = None
    known: Sequence[tuple[int, int]] = ()
    controls: int = 0
    train: int = 0


@transaction.atomic
def plan_round(
    *,
    study: Study,
    plan: LabelPlan,
    actor: User,
    round_: LabelRound | None = None,
    take: Take = Take(),
) -> LabelRound:
    """Create a draft with the chosen items, or change a draft without changing its items."""
    planned = locked_round(round_, LabelRound.State.DRAFT) if round_ else None
    planned = planned or LabelRound(study=study, created_by=actor)
    for name, value in vars(plan).items():
        setattr(planned, name, value)
    planned.guideline = plan.guideline or default_guideline(study, actor=actor)
    planned.save()
    if round_ is None:
        _fill(planned, take)
    return planned


def arguments_of(study: Study, which: str) -> QuerySet[Argument]:
    """Return the arguments that a round may use."""
    if which == LATER:
        return Argument.objects.none()
    arguments = study.arguments.all()
    held = Item.objects.filter(argument=OuterRef("pk"))
    return arguments.filter(~Exists(held)) if which == NEW else arguments


def _fill(label_round: LabelRound, take: Take) -> None:
    """Draw control items, then add ordinary items from the rest."""
    source = random.Random(label_round.seed)  # noqa: S311  an order, not a secret
    known = dict(source.sample(sorted(take.known), min(take.controls, len(take.known))))
    ids = list(
        arguments_of(label_round.study, take.which).order_by("pk").values_list("pk", flat=True)
    )
    hidden = {*known, *hidden_controls(label_round.study)}
    rest = {pk: label for pk, label in take.known if pk not in hidden}
    trained = choose_training(rest, take.train, label_round.seed)
    keep_training(label_round, trained)
    others = [pk for pk in ids if pk not in known and pk not in trained]
    if take.sample:
        others = source.sample(others, min(take.sample, len(others)))
    add_items(label_round=label_round, argument_ids=[*known, *others], known=known)


@transaction.atomic
def add_items(
    *,
    label_round: LabelRound,
    argument_ids: list[int],
    known: Mapping[int, int] = MappingProxyType({}),
) -> int:
    """Add arguments of the same study; return the number of new items.

    Arguments with a ``known`` label become control items. In a running round, new ordinary items
    are served after all others. Raises RoundNotReady if the round is closed.
    """
    label_round = locked_round(label_round, LabelRound.State.DRAFT, *RUNNING)
    require_live(label_round)
    present = set(label_round.items.values_list("argument_id", flat=True))
    # People see the known labels of these arguments in training.
    present |= set(trained_on(label_round).values_list("pk", flat=True))
    wanted = [pk for pk in dict.fromkeys(argument_ids) if pk not in present]
    arguments = Argument.objects.filter(study=label_round.study).in_bulk(wanted)
    items = [
        Item(
            round=label_round,
            argument=argument,
            external_id=str(argument.public_id),
            # Set both columns, as when an item is marked by hand.
            control_label=known.get(pk),
            imported_control_label=known.get(pk),
        )
        for pk in wanted
        if (argument := arguments.get(pk))
    ]
    Item.objects.bulk_create(items, batch_size=CHUNK)
    if label_round.state != LabelRound.State.DRAFT:
        _append(label_round, items)
    return len(items)


def _append(label_round: LabelRound, items: list[Item]) -> None:
    """Rank items after those of a running round, and create slots for ordinary items."""
    ids = [item.pk for item in items]
    last = label_round.items.exclude(pk__in=ids).aggregate(last=Max("rank"))["last"]
    _rank(label_round, ids, first=0 if last is None else last + 1)
    controls = {item.pk for item in items if item.is_control}
    ordinary = [pk for pk in ids if pk not in controls]
    add_slots(label_round, ordinary, range(1, label_round.votes_per_item + 1))


def add_slots(label_round: LabelRound, item_ids: Iterable[int], numbers: Sequence[int]) -> None:
    """Add slots to items, after all existing slots."""
    last = label_round.slots.aggregate(last=Max("order"))["last"]
    orders = count(0 if last is None else last + 1)
    slots = (
        Slot(round=label_round, item_id=pk, number=number, order=next(orders))
        for pk in item_ids
        for number in numbers
    )
    _store_slots(slots)


@transaction.atomic
def set_control(*, label_round: LabelRound, item: Item, label: int | None) -> None:
    """Make an item of a draft a control item with a known label, or an ordinary item again."""
    label_round = locked_round(label_round, LabelRound.State.DRAFT)
    if label is not None and label not in label_round.guideline.values:
        raise RoundNotReady(_("The label is not on the scale."))
    if label is not None and not label_round.controls_per_block:
        raise RoundNotReady(
            _(
                "Blocks in this round have no control items. Set control items per block "
                "first, then mark control items."
            )
        )
    Item.objects.filter(pk=item.pk).update(control_label=label, imported_control_label=label)


def prepare_round(label_round: LabelRound, least_sure_first: Order | None) -> None:
    """Create a draft's slots in seeded random order, and freeze its guideline.

    ``least_sure_first`` sorts the items if the round starts with those a judge is least sure of.
    """
    _check_complete(label_round)
    _make_slots(label_round, least_sure_first)
    freeze(label_round.guideline)


def require_live(label_round: LabelRound) -> None:
    """Raise RoundNotReady for an imported round."""
    if not label_round.is_live:
        raise RoundNotReady(_("An imported round contains only the labels from its files."))


def _check_complete(label_round: LabelRound) -> None:
    require_live(label_round)
    ordinary = label_round.items.filter(control_label__isnull=True).count()
    keyed = label_round.items.filter(control_label__isnull=False)
    controls = keyed.count()
    if ordinary == 0:
        raise RoundNotReady(_("Add arguments before you open the round."))
    if label_round.controls_per_block and controls == 0:
        raise RoundNotReady(
            _("Mark at least one item as a control item, or set control items per block to 0.")
        )
    if keyed.exclude(control_label__in=label_round.guideline.values).exists():
        raise RoundNotReady(
            _("A control item has a known label that is not on the guideline's scale.")
        )


def _make_slots(label_round: LabelRound, least_sure_first: Order | None) -> None:
    """Assign random ranks to items and slots to ordinary items, in bounded memory."""
    _rank(label_round, list(label_round.items.order_by("pk").values_list("pk", flat=True)))
    votes = label_round.votes_per_item
    slots = (
        Slot(round=label_round, item_id=pk, number=number, order=place * votes + number)
        for pk, place in _places(label_round, least_sure_first)
        for number in range(1, votes + 1)
    )
    _store_slots(slots)


def _rank(label_round: LabelRound, ids: list[int], first: int = 0) -> None:
    random.Random(label_round.seed + first).shuffle(ids)  # noqa: S311  an order, not a secret
    for start in range(0, len(ids), CHUNK):
        part = enumerate(ids[start : start + CHUNK], first + start)
        items = [Item(pk=pk, rank=rank) for rank, pk in part]
        Item.objects.bulk_update(items, ["rank"], batch_size=300)


def _store_slots(slots: Iterator[Slot]) -> None:
    while batch := list(islice(slots, CHUNK)):
        Slot.objects.bulk_create(batch, batch_size=CHUNK)


def _places(label_round: LabelRound, least_sure_first: Order | None) -> Iterable[tuple[int, int]]:
    """Yield ordinary items with queue positions, ordered randomly or by the judge's uncertainty.

    Ranks are random in both cases, so the drawing of control items is not affected.
    """
    if label_round.orders_by_uncertainty:
        doubtful = least_sure_first(label_round) if least_sure_first else []
        if not doubtful:
            raise RoundNotReady(
                _(
                    "The item order needs a trained judge, but none was trained for this "
                    "round. Train one on the Judges page, or change the order."
                )
            )
        return ((pk, place) for place, pk in enumerate(doubtful))
    ordinary = label_round.items.filter(control_label__isnull=True).order_by("rank")
    return ordinary.values_list("pk", "rank").iterator(CHUNK)

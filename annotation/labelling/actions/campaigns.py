"""Planning and filling campaigns, and what makes one ready to open."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotation.corpus.models.questions import Argument
from annotation.labelling.models.campaigns import Campaign, Guideline, Item, Slot
from cqa_site.people.models import Study, User
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.opening import locked_round

from .guidelines import default_guideline, freeze

CHUNK = 5_000
Order = Callable[[Campaign], list[int]]
# Which arguments a new campaign takes: all, those that no campaign holds yet, or none for now.
EVERY, NEW, LATER = "all", "new", "later"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that a campaign decides beside its items; its fields are the campaign's."""

    name: str
    # None makes our default the study's first one.
    guideline: Guideline | None
    votes_per_item: int
    block_size: int
    controls_per_block: int
    min_control_accuracy: float
    low_accuracy: str
    share_cap: float
    expected_seconds: int
    lease_minutes: int
    seed: int
    orders_by_uncertainty: bool
    skip_share: float | None = 0.2


@dataclass(frozen=True)
class Take:
    """What a new campaign begins with: which arguments, and how many known ones as controls.

    ``known`` are arguments with the labels that people agreed on; so many of them, drawn by the
    campaign's seed, become control items.
    """

    which: str = LATER
    sample: int | None = None
    known: Sequence[tuple[int, int]] = ()
    controls: int = 0


@transaction.atomic
def plan_campaign(
    *, study: Study, plan: Plan, actor: User, round_: Campaign | None = None, take: Take = Take()
) -> Campaign:
    """Make a draft with what it shall take, or change a draft, which keeps its items."""
    planned = locked_round(round_, Campaign.State.DRAFT) if round_ else None
    planned = planned or Campaign(study=study, created_by=actor)
    for name, value in vars(plan).items():
        setattr(planned, name, value)
    planned.guideline = plan.guideline or default_guideline(study, actor=actor)
    planned.save()
    if round_ is None:
        _fill(planned, take)
    return planned


def arguments_of(study: Study, which: str) -> QuerySet[Argument]:
    """The arguments that a campaign may take."""
    if which == LATER:
        return Argument.objects.none()
    arguments = study.arguments.all()
    held = Item.objects.filter(argument=OuterRef("pk"))
    return arguments.filter(~Exists(held)) if which == NEW else arguments


def _fill(campaign: Campaign, take: Take) -> None:
    """Draw control items, then take ordinary ones among the others."""
    source = random.Random(campaign.seed)  # noqa: S311  an order, not a secret
    known = dict(source.sample(sorted(take.known), min(take.controls, len(take.known))))
    ids = list(
        arguments_of(campaign.study, take.which).order_by("pk").values_list("pk", flat=True)
    )
    others = [pk for pk in ids if pk not in known]
    if take.sample:
        others = source.sample(others, min(take.sample, len(others)))
    add_items(campaign=campaign, argument_ids=[*known, *others])
    # Both columns, as where somebody marks an item by hand.
    for item in campaign.items.filter(argument__in=known):
        item.control_label = item.imported_control_label = known[item.argument_id]
        item.save(update_fields=["control_label", "imported_control_label"])


@transaction.atomic
def add_items(*, campaign: Campaign, argument_ids: list[int]) -> int:
    """Add arguments of the same study as ordinary items; return how many were new."""
    campaign = locked_round(campaign, Campaign.State.DRAFT)
    present = set(campaign.items.values_list("argument_id", flat=True))
    wanted = [pk for pk in dict.fromkeys(argument_ids) if pk not in present]
    arguments = Argument.objects.filter(study=campaign.study).in_bulk(wanted)
    Item.objects.bulk_create(
        (
            Item(campaign=campaign, argument=argument, external_id=str(argument.public_id))
            for pk in wanted
            if (argument := arguments.get(pk))
        ),
        batch_size=CHUNK,
    )
    return len(arguments)


@transaction.atomic
def set_control(*, campaign: Campaign, item: Item, label: int | None) -> None:
    """Make an item of a draft a control item with a known label, or an ordinary one again."""
    campaign = locked_round(campaign, Campaign.State.DRAFT)
    if label is not None and label not in campaign.guideline.values:
        raise RoundNotReady(_("The label is not on the scale."))
    Item.objects.filter(pk=item.pk).update(control_label=label, imported_control_label=label)


def prepare_campaign(campaign: Campaign, least_sure_first: Order | None) -> None:
    """Make the slots of a draft in a seeded random order; its guideline changes no more.

    ``least_sure_first`` orders them where the campaign wants a judge's doubtful items first.
    """
    _check_complete(campaign)
    _make_slots(campaign, least_sure_first)
    freeze(campaign.guideline)


def _check_complete(campaign: Campaign) -> None:
    if not campaign.is_live:
        raise RoundNotReady(_("An imported round only holds the labels of its files."))
    ordinary = campaign.items.filter(control_label__isnull=True).count()
    keyed = campaign.items.filter(control_label__isnull=False)
    controls = keyed.count()
    if ordinary == 0:
        raise RoundNotReady(_("Add arguments before you open the round."))
    if campaign.controls_per_block and controls == 0:
        raise RoundNotReady(
            _("Mark at least one item as a control item, or set control items per block to 0.")
        )
    if keyed.exclude(control_label__in=campaign.guideline.values).exists():
        raise RoundNotReady(
            _("A control item has a known label that the guideline's scale does not hold.")
        )


def _make_slots(campaign: Campaign, least_sure_first: Order | None) -> None:
    """Give every item a random rank and every ordinary item its slots, in bounded memory."""
    ids = list(campaign.items.order_by("pk").values_list("pk", flat=True))
    random.Random(campaign.seed).shuffle(ids)  # noqa: S311  an order, not a secret
    for start in range(0, len(ids), CHUNK):
        items = [
            Item(pk=pk, rank=rank) for rank, pk in enumerate(ids[start : start + CHUNK], start)
        ]
        Item.objects.bulk_update(items, ["rank"], batch_size=300)
    votes = campaign.votes_per_item
    slots = (
        Slot(campaign=campaign, item_id=pk, number=number, order=place * votes + number)
        for pk, place in _places(campaign, least_sure_first)
        for number in range(1, votes + 1)
    )
    while batch := [slot for _unused, slot in zip(range(CHUNK), slots, strict=False)]:
        Slot.objects.bulk_create(batch, batch_size=CHUNK)


def _places(campaign: Campaign, least_sure_first: Order | None) -> Iterable[tuple[int, int]]:
    """Ordinary items with their place in the queue: random, or the judge's doubtful ones first.

    Ranks stay random either way, so control items are drawn as always.
    """
    if campaign.orders_by_uncertainty:
        doubtful = least_sure_first(campaign) if least_sure_first else []
        if not doubtful:
            raise RoundNotReady(
                _(
                    "Items are to come in the order of the trained judge's uncertainty, and no "
                    "judge was trained for this round. Train one on its page Judges, or change "
                    "the order."
                )
            )
        return ((pk, place) for place, pk in enumerate(doubtful))
    ordinary = campaign.items.filter(control_label__isnull=True).order_by("rank")
    return ordinary.values_list("pk", "rank").iterator(CHUNK)

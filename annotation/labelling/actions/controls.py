"""Control items for label rounds, taken from labels in other rounds."""

from collections.abc import Iterable

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as lazy

from annotation.corpus.models import Argument
from annotation.labelling.models import Item, LabelRound
from annotation.labelling.reports import KnownLabel
from cqa_site.people.access import record
from cqa_site.people.models import User
from cqa_site.rounds.kind import OfferedAnswer
from .exercises import trained_on
from .rounds import add_items

NO_CONTROLS = lazy("the blocks of this round have no control items")
OTHERWISE = lazy("experts chose different labels")
IN_USE = lazy("already a control item of this round")
TRAINED_ON = lazy("used for training before a round")
RUNNING = lazy("an ordinary item of this round, which is running")


def offers_of(label_round: LabelRound, labels: Iterable[KnownLabel]) -> list[OfferedAnswer]:
    """Return the labels as offers for a draft or running round, with reasons if unusable."""
    known = {row.argument: row for row in labels}
    columns = ("argument", "control_label")
    present: dict[int, int | None] = dict(label_round.items.values_list(*columns))
    # Training for any round counts, because people saw the known label in it.
    rounds = LabelRound.objects.filter(study=label_round.study_id).only("recipe")
    trained = set(trained_on(*rounds).values_list("pk", flat=True))
    is_draft = label_round.state == LabelRound.State.DRAFT

    def reason(row: KnownLabel) -> str | Promise:
        if not label_round.controls_per_block:
            return NO_CONTROLS
        if row.label is None:
            return OTHERWISE
        if row.argument in trained:
            return TRAINED_ON
        if row.argument not in present:
            return ""
        if present[row.argument] is not None:
            return IN_USE
        return "" if is_draft else RUNNING

    arguments = Argument.objects.select_related("comparison").in_bulk(list(known))
    return [
        OfferedAnswer(
            source=argument,
            item=Item(argument=argument),
            known={"label": row.label},
            people=row.people,
            is_settled=row.is_settled,
            is_present=row.argument in present,
            reason=reason(row),
        )
        for row in known.values()
        if (argument := arguments.get(row.argument))
    ]


def take_labels(label_round: LabelRound, offers: list[OfferedAnswer], actor: User) -> None:
    """Turn arguments, including a draft's ordinary items, into control items of a locked round."""
    labels = {offer.source.pk: offer.known["label"] for offer in offers}
    for label in set(labels.values()):
        own = [pk for pk, known in labels.items() if known == label]
        items = label_round.items.filter(argument__in=own)
        items.update(control_label=label, imported_control_label=label)
    add_items(label_round=label_round, argument_ids=list(labels), known=labels)
    record(
        study=label_round.study,
        actor=actor,
        verb="controls_taken",
        subject=label_round.name,
        labels={str(offer.source.public_id): offer.known["label"] for offer in offers},
    )

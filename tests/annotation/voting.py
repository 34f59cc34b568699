"""Rounds with votes, for tests about what becomes of them."""

import itertools

from annotation.judges.models import JudgeLabel, TrainedJudge
from annotation.labelling.actions import serving, votes as label_votes
from annotation.labelling.models import Assignment, Item, LabelRound
from cqa_site.people.models import Rater, Study
from cqa_site.rounds.lifecycle import open_round
from cqa_site.rounds.models import Place
from cqa_site.rounds.queue import place_for
from tests.cast import make_label_round, make_member

KEYS = itertools.count()


def make_raters(study: Study, count: int, kind: str = "person") -> list[Rater]:
    """Raters without an account."""
    return [
        Rater.objects.create(study=study, kind=kind, external_id=f"{kind}-{next(KEYS)}")
        for _ in range(count)
    ]


def vote(item, rater: Rater, label: int, **fields) -> Assignment:
    """One answered assignment, written directly."""
    return Assignment.objects.create(
        round=item.round, item=item, rater=rater, label=label, state="answered", **fields
    )


def imported(study: Study, crowd: list[Rater], *, votes, controls=(), name="Crowd", **fields):
    """An imported round; a row of ``votes`` per item, ``controls`` are (its place, key)."""
    fields |= {"ordinary": len(votes), "controls": 0, "name": name, "origin": "imported"}
    label_round = make_label_round(study, **fields)
    items = list(label_round.items.order_by("pk"))
    for place, key in controls:
        items[place].control_label = items[place].imported_control_label = key
        items[place].save()
    given = {"round": label_round, "state": "answered", "active_ms": 4_000}
    Assignment.objects.bulk_create(
        Assignment(item=item, rater=rater, label=value, **given)
        for item, values in zip(items, votes, strict=True)
        for rater, value in zip(crowd, values, strict=False)
        if value is not None
    )
    return label_round


def lend(label_round: LabelRound, labels: dict[int, int], rater: Rater, name: str) -> LabelRound:
    """A round in which the rater gave these labels, by place of the sentence."""
    source = imported(label_round.study, [], votes=[[]], name=name)
    items = label_round.items.order_by("pk")
    for place, label in labels.items():
        about = {"argument": items[place].argument, "external_id": f"{name}-{place}"}
        vote(Item.objects.create(round=source, **about), rater, label)
    return source


def opened(study: Study, **fields) -> LabelRound:
    """A live round that serves."""
    label_round = make_label_round(study, **fields)
    open_round(round_=label_round, actor=make_member(study, "researcher"))
    label_round.refresh_from_db()
    return label_round


def newcomer(label_round: LabelRound) -> Place:
    """The place of a new rater."""
    (rater,) = make_raters(label_round.study, 1)
    return place_for(round_=label_round, rater=rater)


def work(place: Place) -> serving.LabelWork:
    """What the rater may do now."""
    place.refresh_from_db()
    label_round = LabelRound.objects.get(pk=place.round_id)
    return serving.next_work(label_round=label_round, place=place)


def label(place: Place, assignment: Assignment, value: int = 2, key: str = "") -> Assignment:
    """Answer one assignment."""
    key = key or f"key-{next(KEYS)}"
    given = label_votes.SubmittedLabel(client_key=key, label=value, active_ms=3_000)
    return label_votes.answer(rater=place.rater, assignment=assignment, given=given)


def label_all(place: Place, value: int = 2, at_most: int = 1_000) -> int:
    """Label whatever comes, up to a number of items; return how many there were."""
    for count in range(at_most):
        todo = work(place).assignments
        if not todo:
            return count
        label(place, todo[0], value)
    return at_most


def label_by_machine(label_round, label=1):
    """A classifier labels every argument of a round."""
    rater = Rater.objects.create(study=label_round.study, kind="classifier", name="Trained judge")
    version = TrainedJudge.objects.create(label_round=label_round, rater=rater, number=1)
    for item in label_round.items.all():
        JudgeLabel.objects.create(
            label_round=label_round, argument=item.argument, trained=version, label=label
        )

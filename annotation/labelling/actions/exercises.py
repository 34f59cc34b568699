"""Sentences with known labels for training before a label round."""

import random
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.corpus.methods.sentences import split_sentence
from annotation.corpus.models import Argument
from annotation.labelling.models import Item, LabelRound
from cqa_site.people.models import Study
from cqa_site.rounds.kind import Exercise, RoundNotReady

# Number of exercises for a new round without steps of its own.
USUAL = 3
# Key in a round's recipe, for pairs of an argument's public id and its label.
TRAINING = "training"


def known_controls(study: Study, values: list[int]) -> dict[int, int]:
    """Return the control items of a study's rounds as arguments with known labels."""
    items = Item.objects.filter(
        round__study=study, control_label__in=values, is_retired=False, round__origin="live"
    )
    rows: Any = items.order_by("pk").values_list("argument", "control_label")
    return dict(rows)


def hidden_controls(study: Study) -> set[int]:
    """Return the control items of unfinished rounds, whose labels training would reveal."""
    items = Item.objects.filter(
        round__study=study, control_label__isnull=False, round__origin="live"
    )
    running = items.exclude(round__state=LabelRound.State.CLOSED)
    return set(running.values_list("argument", flat=True))


def choose_training(known: dict[int, int], wanted: int, seed: int) -> dict[int, int]:
    """Draw the given number of arguments with known labels, or all if there are fewer."""
    draw = random.Random(f"{seed}:training")  # noqa: S311  an order, not a secret
    picked = draw.sample(sorted(known), min(wanted, len(known)))
    return {pk: known[pk] for pk in picked}


def keep_training(label_round: LabelRound, chosen: dict[int, int]) -> None:
    """Store the drawn arguments with the round; they do not become its items."""
    if not chosen:
        return
    arguments = Argument.objects.filter(study=label_round.study_id).in_bulk(list(chosen))
    pairs = [[str(arguments[pk].public_id), label] for pk, label in chosen.items()]
    label_round.recipe[TRAINING] = label_round.recipe.get(TRAINING, []) + pairs
    label_round.save(update_fields=["recipe"])


def trained_on(*label_rounds: LabelRound) -> QuerySet[Argument]:
    """Return the arguments used in training for these rounds."""
    ids = [pair[0] for row in label_rounds for pair in row.recipe.get(TRAINING, [])]
    return Argument.objects.filter(public_id__in=ids)


def draw_training(label_round: LabelRound, known: dict[int, int], wanted: int) -> None:
    """Draw the missing exercises from arguments outside the round; raises RoundNotReady.

    A round that only shows its guideline draws the usual number, or none if too few are available.
    """
    there = label_round.recipe.get(TRAINING, [])
    is_usual = not wanted and label_round.shows_guideline and label_round.onboarding_id is None
    missing = (USUAL if is_usual else wanted) - len(there)
    if missing <= 0:
        return
    used = set(label_round.items.values_list("argument", flat=True))
    used |= set(trained_on(label_round).values_list("pk", flat=True))
    used |= hidden_controls(label_round.study)
    free = {pk: label for pk, label in known.items() if pk not in used}
    if len(free) >= missing:
        keep_training(label_round, choose_training(free, missing, label_round.seed))
    elif not is_usual:
        text = _(
            "The steps before the work need %(wanted)d sentences with known labels from "
            "outside this round, but there are only %(number)d. Labels are known for control "
            "items of closed rounds, and for sentences on which people agreed. Draw fewer control "
            "items, choose an onboarding with fewer items, or create a small round, set known "
            "labels in it, open it and close it."
        )
        raise RoundNotReady(text % {"wanted": wanted, "number": len(free) + len(there)})


def exercises_of(label_round: LabelRound) -> list[Exercise]:
    """Return the sentences in the order drawn."""
    pairs = label_round.recipe.get(TRAINING, [])
    if not pairs:
        return []
    rows = trained_on(label_round).select_related("comparison")
    arguments = {str(row.public_id): row for row in rows}
    levels: dict[int, Any] = {level["value"]: level for level in label_round.guideline.levels}
    return [
        _exercise(arguments[public_id], label, levels)
        for public_id, label in pairs
        if public_id in arguments and label in levels
    ]


def _exercise(argument: Argument, label: int, levels: dict[int, Any]) -> Exercise:
    object1, object2 = argument.comparison.object1, argument.comparison.object2
    where = {"value": label, "name": levels[label]["name"]}
    return Exercise(
        key=str(argument.public_id),
        template="annotation/_exercise.html",
        context={
            "object1": object1,
            "object2": object2,
            "segments": split_sentence(argument.text, object1, object2),
        },
        choices=[(str(value), f"{value} · {level['name']}") for value, level in levels.items()],
        right=str(label),
        why=levels[label]["meaning"],
        where=_("Label scale, %(value)d: %(name)s") % where,
    )

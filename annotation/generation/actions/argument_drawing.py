"""Drawing the arguments that a model writes an answer from: filters, order, and what was left out.

The same seed, arguments and labels give the same lists, whichever other questions are asked.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from annotation.answers.actions.lists import argument_list, relevance_of, whose_labels
from annotation.corpus.models.questions import Argument, ArgumentList, Question
from annotation.generation.methods.favoured_object import favoured_object
from cqa_site.people.models import Study

# Final labels that may be used, by the name of the choice.
RELEVANCE: dict[str, frozenset[int] | None] = {
    "any": None,
    "3": frozenset({3}),
    "2-3": frozenset({2, 3}),
    "0-1": frozenset({0, 1}),
}
FAVOURED: dict[str, int | None] = {"any": None, "object1": 1, "object2": 2}
# Why an argument is not shown to the model; the last one counts questions without any.
REASONS = ("blank", "unlabelled", "relevance", "unclear", "other_object", "too_many", "questions")
# Below what any model takes; a list of the paper has 3 to 17.
MOST_ARGUMENTS = 200
AT_ONCE = 200


@dataclass(slots=True)
class Drawn:
    """The arguments drawn for one question, and how many were not, by reason."""

    question: Question
    arguments: list[Argument]
    left_out: Counter[str] = field(default_factory=Counter)
    # Whose labels filtered them; empty where none did.
    whose: str = ""

    @property
    def numbered(self) -> list[tuple[int, Argument]]:
        """The arguments under the numbers by which an answer cites them, from 1."""
        return list(enumerate(self.arguments, start=1))


def draw(
    study: Study, questions: Iterable[Question], target: Mapping[str, Any], seed: int
) -> Iterator[Drawn]:
    """Draw the arguments of each question; a bounded number of queries for every few hundred.

    ``target`` names ``relevance``, ``favoured`` and ``most_arguments``, and with a filter by
    label whose ``labels``; see `target_of` in `annotation.generation.actions.targets`.
    """
    stream = iter(questions)
    while together := list(islice(stream, AT_ONCE)):
        found = _arguments(study, together)
        wanted = RELEVANCE[target["relevance"]]
        whose = "" if wanted is None else whose_labels(study, target.get("labels", ""))
        labels = _labels(study, found, whose) if whose else {}
        for question in together:
            drawn = Drawn(question, [], whose=whose)
            kept = _kept(found[question.comparison_id], drawn, labels, target)
            chooser = random.Random(f"{seed}:{question.public_id}")  # noqa: S311 - reproducible
            # One draw does both: which ones, if there are too many, and in which order.
            drawn.arguments = chooser.sample(kept, min(len(kept), target["most_arguments"]))
            drawn.left_out["too_many"] += len(kept) - len(drawn.arguments)
            yield drawn


def keep_list(drawn: Drawn, target: Mapping[str, Any], seed: int) -> ArgumentList:
    """Store the list of a question with how it was drawn."""
    names = ("relevance", "favoured", "most_arguments")
    left_out = {name: count for name, count in drawn.left_out.items() if count}
    recipe = {name: target[name] for name in names} | {"seed": seed, "left_out": left_out}
    if drawn.whose:
        recipe["labels"] = drawn.whose
    return argument_list(drawn.question, drawn.numbered, recipe)


def count_left_out(lists: Iterable[Drawn]) -> dict[str, int]:
    """How many arguments were not drawn, by reason, and how many questions have none at all."""
    found: Counter[str] = Counter()
    for drawn in lists:
        found.update(drawn.left_out)
        found["questions"] += not drawn.arguments
    return {reason: found[reason] for reason in REASONS if found[reason]}


def _arguments(study: Study, questions: Sequence[Question]) -> dict[int, list[Argument]]:
    """Comparison → its arguments in a fixed order."""
    comparisons = {question.comparison_id for question in questions}
    found: dict[int, list[Argument]] = defaultdict(list)
    rows = Argument.objects.filter(study=study, comparison__in=comparisons).order_by("pk")
    for argument in rows.only("comparison_id", "text"):
        found[argument.comparison_id].append(argument)
    return found


def _labels(
    study: Study, arguments: Mapping[int, Sequence[Argument]], whose: str
) -> Mapping[int, int | None]:
    keys = [one.pk for several in arguments.values() for one in several]
    return relevance_of(study, keys, whose)


def _kept(
    arguments: Sequence[Argument],
    drawn: Drawn,
    labels: Mapping[int, int | None],
    target: Mapping[str, Any],
) -> list[Argument]:
    """What passes the filters; counts the rest by the first filter that it fails."""
    kept = []
    for argument in arguments:
        if reason := _why_not(argument, drawn.question, labels, target):
            drawn.left_out[reason] += 1
        else:
            kept.append(argument)
    return kept


def _why_not(
    argument: Argument,
    question: Question,
    labels: Mapping[int, int | None],
    target: Mapping[str, Any],
) -> str:
    """The first reason against an argument; empty if there is none."""
    if argument.is_blank:
        return "blank"
    wanted = RELEVANCE[target["relevance"]]
    if wanted is not None and (label := labels[argument.pk]) not in wanted:
        return "unlabelled" if label is None else "relevance"
    side = FAVOURED[target["favoured"]]
    if side is None:
        return ""
    pair = question.comparison
    favoured = favoured_object(argument.text, pair.object1, pair.object2)
    if favoured is None:
        return "unclear"
    return "" if favoured == side else "other_object"

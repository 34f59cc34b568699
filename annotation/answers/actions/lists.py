"""Numbered lists of arguments: each kept once per question; `reports` reads them."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import IntegrityError, transaction

from annotation.answers.reports.argument_lists import (
    numbered_labels,
    numbered_texts,
    relevance_of,
    whose_labels,
)
from annotation.corpus.models.questions import Argument, ArgumentList, ListedArgument, Question

__all__ = [
    "argument_list",
    "list_key",
    "numbered_labels",
    "numbered_texts",
    "relevance_of",
    "whose_labels",
]


def list_key(numbered: Iterable[tuple[int, str]]) -> str:
    """SHA-256 of numbers and texts in their order; what makes a list that list."""
    pairs = [[number, text] for number, text in numbered]
    return hashlib.sha256(json.dumps(pairs, ensure_ascii=False).encode()).hexdigest()


def argument_list(
    question: Question, numbered: Sequence[tuple[int, Argument]], recipe: dict[str, Any]
) -> ArgumentList:
    """Find the list of these arguments under these numbers, or make it.

    ``recipe`` says how it was drawn and is kept with a new list only. Raises
    ValueError where a number stands twice.
    """
    if len({number for number, _argument in numbered}) < len(numbered):
        raise ValueError("a number stands for two arguments")
    key = list_key((number, argument.text) for number, argument in numbered)
    found = ArgumentList.objects.filter(question=question, sha256=key).first()
    if found is not None:
        return found
    try:
        with transaction.atomic():
            return _make_list(question, numbered, recipe, key)
    except IntegrityError:
        # Somebody made the same list between the two statements.
        return ArgumentList.objects.get(question=question, sha256=key)


def _make_list(
    question: Question, numbered: Sequence[tuple[int, Argument]], recipe: dict, key: str
) -> ArgumentList:
    made = ArgumentList.objects.create(question=question, sha256=key, recipe=recipe)
    ListedArgument.objects.bulk_create(
        ListedArgument(argument_list=made, number=number, argument=argument)
        for number, argument in numbered
    )
    return made

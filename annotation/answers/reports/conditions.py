"""Conditions of a study, and rows narrowed to those of some of them."""

from collections.abc import Iterable
from typing import TypeVar

from django.db.models import Count, Exists, Model, OuterRef, QuerySet

from annotation.answers.models.answers import Answer
from annotation.answers.models.conditions import Condition
from cqa_site.people.models import Study

# What somebody may choose instead of naming conditions; without a choice it is the plain ones.
ALL = "all"
Rows = TypeVar("Rows", bound=Model)


def used_conditions(study: Study) -> QuerySet[Condition]:
    """Those under which the study has answers, each with ``answer_count``."""
    counted = study.conditions.annotate(answer_count=Count("answers"))
    return counted.filter(answer_count__gt=0).order_by(*Condition._meta.ordering or ())


def under(rows: QuerySet[Rows], chosen: Iterable[str], path: str = "") -> QuerySet[Rows]:
    """Rows of answers under the chosen conditions: public ids, `ALL`, or nothing for plain ones.

    ``path`` leads from a row to its answer.
    """
    wanted = list(chosen)
    if ALL in wanted:
        return rows
    if wanted:
        return rows.filter(**{f"{path}condition__public_id__in": wanted})
    return rows.filter(**{f"{path}condition__is_plain": True})


def without_superseded(answers: QuerySet[Answer]) -> QuerySet[Answer]:
    """Answers without those by experts who submitted a newer text, which is an answer too."""
    newer = Answer.objects.filter(
        revision__sheet=OuterRef("revision__sheet"),
        revision__number__gt=OuterRef("revision__number"),
    )
    return answers.filter(~Exists(newer))


def names_of(study: Study, chosen: Iterable[str]) -> list[str]:
    """The names of chosen conditions, in their order; none for `ALL` and for the plain ones."""
    wanted = [each for each in chosen if each != ALL]
    return [each.name for each in study.conditions.filter(public_id__in=wanted)]

"""What models were trained on, as conditions: whoever asks, scores or counts leaves it out."""

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.answers.models.learned import LearnedComparison
from annotation.corpus.models.questions import Question
from cqa_site.people.models import Study


def is_learned(answer: str = "") -> Exists:
    """Condition on answers, or on rows that reach one by ``answer`` (such as ``answer__``)."""
    system, model = OuterRef(f"{answer}system"), OuterRef(f"{answer}system__model")
    same = Q(system=system) | (Q(system__model=model) & ~Q(system__model=""))
    rows = LearnedComparison.objects.filter(
        same,
        comparison=OuterRef(f"{answer}question__comparison"),
        system__study=OuterRef(f"{answer}study"),
    )
    return Exists(rows)


def learned_questions(study: Study, model: str) -> QuerySet[Question]:
    """Questions of a study that a model, by the name it is asked for, was trained on."""
    if not model:
        return study.questions.none()
    rows = LearnedComparison.objects.filter(system__study=study, system__model=model)
    return study.questions.filter(comparison__in=rows.values("comparison"))


def count_learned_pairs() -> Coalesce:
    """For querysets of systems: how many pairs of objects each was trained on."""
    rows = LearnedComparison.objects.filter(system=OuterRef("pk")).order_by()
    counted = rows.values("system").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)

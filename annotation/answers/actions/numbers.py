"""Which choice an answer is: those of one system to one question under one condition count on."""

from collections.abc import Iterable

from annotation.answers.models.answers import Answer
from cqa_site.runs.models import Run


def choices_before(
    run: Run, *, system: int, condition: int, questions: Iterable[int]
) -> dict[int, int]:
    """Question → how many choices come before the first one of a run.

    The answers of a run to a question stand together, in the order of its replicates and not of
    its replies: behind the highest choice there is, and behind what a run that has an answer
    there may still bring. The first answer settles the place of the others, so a reply that is
    read again, or asked for again much later, gets the number it would have had.

    Call where answers are stored: a model's system belongs to one endpoint, whose locked gate
    lets one worker store at a time, so no two runs see the same end.
    """
    wanted = set(questions)
    rows = Answer.objects.filter(
        study=run.study_id, question__in=wanted, system=system, condition=condition
    )
    found = rows.order_by().values_list(
        "question", "run", "choice", "call__replicate", "run__spec__replicates"
    )
    before, own = dict.fromkeys(wanted, 0), {}
    for question, by, choice, replicate, replicates in found:
        if by == run.pk:
            own[question] = choice - replicate - 1
        else:
            last = choice if by is None else choice - replicate - 1 + replicates
            before[question] = max(before[question], last)
    return before | own

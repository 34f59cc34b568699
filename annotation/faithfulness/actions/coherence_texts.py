"""Which citations a coherence run judges.

Where segments stand and what they cite was settled when the faithfulness figures were made, so
nothing has to be read again; texts without figures are not judged.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Q, QuerySet

from annotation.answers.models.answers import Answer
from annotation.answers.reports.conditions import ALL, under
from annotation.corpus.methods.seeded_sample import seeded_places
from annotation.editing.reports.edited_texts import newest_revisions
from annotation.faithfulness.models import FaithfulnessFigures
from annotation.faithfulness.reports.coherence_rows import Cited
from cqa_site.people.models import Study


def target_of(
    *,
    systems: Iterable[str] = (),
    scenarios: Iterable[int] = (),
    conditions: Iterable[str] = (),
    texts: str = "answers",
    sample: int = 0,
) -> dict[str, Any]:
    """What a coherence run judges, as its spec keeps it.

    Parameters
    ----------
    systems, scenarios
        Public ids and numbers; without any, all of them.
    conditions
        Public ids or `ALL`; without any the plain ones.
    texts
        ``answers``, ``edited`` or ``both``: answers as written, experts' newest versions of them,
        or both.
    sample
        Judge only so many texts, drawn by the run's seed; 0 for all.
    """
    return {
        "systems": sorted(map(str, systems)),
        "scenarios": sorted(scenarios),
        "conditions": sorted(conditions),
        "texts": texts,
        "sample": sample,
    }


def chosen_citations(study: Study, target: Mapping[str, Any], seed: int) -> Iterator[Cited]:
    """Every citation of the chosen texts, text by text."""
    rows = _cited_texts(study, target)
    if target["sample"]:
        rows = [rows[place] for place in seeded_places(len(rows), target["sample"], seed)]
    for answer, revision, citations in rows:
        for start, end, number in citations:
            yield Cited(answer, revision, start, end, number)


def _cited_texts(
    study: Study, target: Mapping[str, Any]
) -> list[tuple[int, int, list[list[int]]]]:
    """(answer, revision or 0, citations) of each text that cites something, by answer."""
    rows: list[tuple[int, int, list[list[int]]]] = []
    figures = FaithfulnessFigures.objects.filter(mode=FaithfulnessFigures.Mode.SOUND)
    if target["texts"] != "edited":
        answers = _of_target(Answer.objects.filter(study=study), target)
        found = figures.filter(answer__in=answers.values("pk"))
        rows += [(pk, 0, cited) for pk, cited in found.values_list("answer", "citations")]
    if target["texts"] != "answers":
        revisions = _of_target(newest_revisions(study), target, "sheet__answer__")
        found = figures.filter(revision__in=revisions.order_by().values("pk"))
        rows += found.values_list("revision__sheet__answer", "revision", "citations")
    return sorted(row for row in rows if row[2])


def _of_target(rows: QuerySet, target: Mapping[str, Any], path: str = "") -> QuerySet:
    if target["systems"]:
        rows = rows.filter(**{f"{path}system__public_id__in": target["systems"]})
    if target["scenarios"]:
        rows = rows.filter(**{f"{path}scenario__in": target["scenarios"]})
    # A run from before there were any has all.
    return under(rows, target.get("conditions", [ALL]), path)


def count_other_conditions(study: Study, target: Mapping[str, Any]) -> int:
    """How many texts that cite something are left out because of the condition they are under."""
    mixed = {**target, "conditions": [ALL]}
    return len(_cited_texts(study, mixed)) - len(_cited_texts(study, target))


def without_figures(study: Study) -> int:
    """Answers with arguments whose citations are not known yet, so that no run can judge them."""
    answers = Answer.objects.filter(study=study, argument_list__isnull=False)
    return answers.exclude(figures__mode=FaithfulnessFigures.Mode.SOUND).count()


def has_citations(study: Study) -> bool:
    """Whether a citation of any text of the study is known."""
    of_study = Q(answer__study=study) | Q(revision__sheet__answer__study=study)
    figures = FaithfulnessFigures.objects.filter(of_study, mode=FaithfulnessFigures.Mode.SOUND)
    return figures.exclude(citations=[]).exists()


def citing_answers(study: Study) -> QuerySet[Answer]:
    """Answers of which a citation is known."""
    figures = FaithfulnessFigures.objects.filter(
        answer__study=study, mode=FaithfulnessFigures.Mode.SOUND
    )
    cited = figures.exclude(citations=[]).values("answer")
    return Answer.objects.filter(study=study, pk__in=cited).order_by("pk")


def first_citation(answer: Answer) -> Cited:
    """The first citation of an answer of which one is known."""
    figures = answer.figures.get(mode=FaithfulnessFigures.Mode.SOUND)
    start, end, number = figures.citations[0]
    return Cited(answer.pk, 0, start, end, number)

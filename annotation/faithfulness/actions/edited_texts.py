"""Comparing texts that people made with the machine answers they came from."""

from collections.abc import Iterable, Sequence

from annotation.answers.actions.lists import numbered_texts
from annotation.answers.methods.checks import check_answer
from annotation.answers.models.answers import Answer
from annotation.editing.models import Revision
from annotation.editing.reports.edited_texts import newest_revisions
from annotation.faithfulness.methods.segment_matches import word_distance
from annotation.faithfulness.models import EditedText
from cqa_site.people.models import Study

from .texts import Pair

COLUMNS = [
    "before",
    "key",
    "edit_distance",
    "words_before",
    "words_after",
    "checks_before",
    "checks_after",
    "at",
]


def drop_superseded(study: Study) -> None:
    """Forget comparisons of revisions that are no longer the newest of their sheet."""
    edited = EditedText.objects.filter(before__study=study, revision__isnull=False)
    edited.exclude(revision__in=newest_revisions(study).order_by().values("pk")).delete()


def compare(study: Study, pairs: Sequence[Pair]) -> None:
    """Compare some texts with their machine answers and keep the result."""
    answers = _answers(study, (pk for pair in pairs for pk in pair.before))
    gold = _answers(study, (pair.after for pair in pairs if not pair.is_revision))
    revisions = Revision.objects.in_bulk([pair.after for pair in pairs if pair.is_revision])
    lists = numbered_texts({answer.argument_list_id for answer in answers.values()})
    for is_revision, found, unique in ((True, revisions, "revision"), (False, gold, "gold")):
        rows = [
            _row(pair, [answers[pk] for pk in pair.before], found[pair.after], lists)
            for pair in pairs
            if pair.is_revision == is_revision
        ]
        EditedText.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=[unique], update_fields=COLUMNS
        )


def _answers(study: Study, keys: Iterable[int]) -> dict[int, Answer]:
    answers = Answer.objects.select_related("question__comparison")
    return {answer.pk: answer for answer in answers.filter(study=study, pk__in=set(keys))}


def _row(
    pair: Pair, candidates: Sequence[Answer], after: Answer | Revision, lists: dict
) -> EditedText:
    distances = [(word_distance(each.text, after.text), each.pk) for each in candidates]
    distance, nearest = min(distances)
    before = next(each for each in candidates if each.pk == nearest)
    arguments = lists.get(before.argument_list_id, {})
    return EditedText(
        before=before,
        revision=after if isinstance(after, Revision) else None,
        gold=after if isinstance(after, Answer) else None,
        key=pair.key,
        edit_distance=distance,
        words_before=len(before.text.split()),
        words_after=len(after.text.split()),
        checks_before=_checks(before.text, arguments, before),
        checks_after=_checks(after.text, arguments, before),
    )


def _checks(text: str, arguments: dict[int, str], answer: Answer) -> dict[str, bool | None]:
    pair = answer.question.comparison
    checks = check_answer(text, arguments, pair.object1, pair.object2)
    return {check.name: check.is_passed for check in checks}

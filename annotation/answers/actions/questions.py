"""Questions asked by hand, and names of systems."""

from django.db import IntegrityError, transaction

from annotation.answers.models.answers import System
from annotation.corpus.models.questions import Comparison, Question
from cqa_site.people.access import record
from cqa_site.people.models import Study, User


class AlreadyThere(Exception):
    """The study has this question, or a system of this name; the message says which."""


def add_question(
    *, comparison: Comparison, aspect: str = "", wording: str = "", actor: User | None
) -> Question:
    """Ask a question about a comparison; raises AlreadyThere."""
    asked = {"comparison": comparison, "aspect": aspect.strip(), "wording": wording.strip()}
    try:
        with transaction.atomic():
            question = Question.objects.create(study=comparison.study, **asked)
    except IntegrityError as error:
        raise AlreadyThere(str(Question(**asked))) from error
    record(study=comparison.study, actor=actor, verb="question_added", subject=str(question))
    return question


@transaction.atomic
def add_missing_questions(*, study: Study, actor: User | None) -> int:
    """Ask a plain question about every comparison that has none; return how many."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    made = Question.objects.bulk_create(
        Question(study=study, comparison=comparison)
        for comparison in study.comparisons.filter(questions__isnull=True)
    )
    if made:
        record(
            study=study, actor=actor, verb="questions_added", subject=study.name, number=len(made)
        )
    return len(made)


def change_system(*, system: System, name: str, kind: str, actor: User | None) -> None:
    """Correct what a system is called and what it is; raises AlreadyThere."""
    before = {"name": system.name, "kind": system.kind}
    if before == {"name": name, "kind": kind}:
        return
    system.name, system.kind = name, kind
    try:
        with transaction.atomic():
            system.save(update_fields=["name", "kind"])
    except IntegrityError as error:
        system.name, system.kind = before["name"], before["kind"]
        raise AlreadyThere(name) from error
    record(study=system.study, actor=actor, verb="system_changed", subject=name, before=before)

"""Opening a study, and holding it still while its people change."""

from django.db import transaction

from cqa_site.people.access import record
from cqa_site.people.models import Membership, Role, Study, User


@transaction.atomic
def create_study(*, name: str, description: str, actor: User, goal: str = "") -> Study:
    """Open a study; whoever opens it is its first admin."""
    study = Study.objects.create(name=name, description=description, goal=goal, created_by=actor)
    Membership.objects.create(study=study, user=actor, role=Role.ADMIN)
    record(study=study, actor=actor, verb="study_created", subject=study.name)
    return study


@transaction.atomic
def change_study(*, study: Study, name: str, description: str, goal: str, actor: User) -> None:
    """Store a new name, description and goal."""
    before = study.name
    study.name, study.description, study.goal = name, description, goal
    study.save(update_fields=["name", "description", "goal"])
    record(study=study, actor=actor, verb="study_changed", subject=name, before=before)


def hold_people(study: Study) -> None:
    """Let nobody else change the study's people until this transaction ends.

    The lock leaves rows that refer to the study alone, so imports go on.
    SQLite needs none: its write transactions run one after the other.
    """
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)

"""Storage of rubric versions."""

from django.db import transaction
from django.db.models import Max

from benchmark.rubrics.methods.compqa_rubric import COMPQA
from benchmark.rubrics.methods.rubric import Rubric, rubric_sha256, rubric_to_dict
from benchmark.rubrics.models import RubricVersion
from cqa_site.people.access import record
from cqa_site.people.models import Study, User


@transaction.atomic
def save_rubric(
    *,
    study: Study,
    rubric: Rubric,
    actor: User | None = None,
    derived_from: RubricVersion | None = None,
) -> RubricVersion:
    """Store a rubric as the next version of its name; an unchanged text is no new version."""
    # The study's row is the lock under which numbers are given out.
    Study.objects.select_for_update().get(pk=study.pk)
    sha256 = rubric_sha256(rubric)
    named = study.rubric_versions.filter(name=rubric.name)
    if duplicate := named.filter(sha256=sha256).first():
        return duplicate
    last = named.aggregate(last=Max("number"))["last"] or 0
    version = RubricVersion.objects.create(
        study=study,
        name=rubric.name,
        number=last + 1,
        content=rubric_to_dict(rubric),
        sha256=sha256,
        derived_from=derived_from,
        created_by=actor,
    )
    record(
        study=study,
        actor=actor,
        verb="rubric_saved",
        subject=str(version),
        sha256=sha256,
    )
    return version


def default_rubric(study: Study, actor: User | None = None) -> RubricVersion:
    """Return the newest version of the CompQA rubric.

    Without one, the built-in text is stored as version 1.
    """
    newest = study.rubric_versions.filter(name=COMPQA.name).order_by("-number").first()
    return newest or save_rubric(study=study, rubric=COMPQA, actor=actor)

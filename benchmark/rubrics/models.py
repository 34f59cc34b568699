"""Rubric versions, under which sheets are scored, and their storage."""

import uuid

from django.db import models, transaction
from django.db.models import Max
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from benchmark.rubrics.methods.rubric import (
    COMPQA,
    Rubric,
    rubric_from_dict,
    rubric_sha256,
    rubric_to_dict,
)
from cqa_site.people.access import record
from cqa_site.people.models import Study, User


class RubricVersion(models.Model):
    """One frozen text of a rubric; a changed text gets the next number under the same name.

    People and judges get the same version, and sheets under different versions are never compared
    without a notice.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="rubric_versions")
    name = models.CharField(_("name"), max_length=80)
    number = models.PositiveIntegerField()
    # In the format of `rubric_to_dict`; ordered parts are lists.
    content = models.JSONField()
    sha256 = models.CharField(max_length=64, editable=False)
    derived_from = models.ForeignKey("self", models.PROTECT, null=True, related_name="successors")
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "name", "number"], name="rubric_version_number_once"
            ),
            models.UniqueConstraint(
                fields=["study", "name", "sha256"], name="rubric_version_text_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.number}"

    @cached_property
    def rubric(self) -> Rubric:
        """Rubric in the form that the methods use."""
        return rubric_from_dict(self.content)


@transaction.atomic
def save_rubric(
    *,
    study: Study,
    rubric: Rubric,
    actor: User | None = None,
    derived_from: RubricVersion | None = None,
) -> RubricVersion:
    """Store a rubric as the next version under its name; an unchanged text gets no new version."""
    # The row of the study is locked while a number is assigned.
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
    record(study=study, actor=actor, verb="rubric_saved", subject=str(version), sha256=sha256)
    return version


def default_rubric(study: Study, actor: User | None = None) -> RubricVersion:
    """Return the newest CompQA rubric; if none exists, store the built-in text as version 1."""
    newest = study.rubric_versions.filter(name=COMPQA.name).order_by("-number").first()
    return newest or save_rubric(study=study, rubric=COMPQA, actor=actor)

"""Rubric versions, under which every sheet is scored."""

import uuid

from django.db import models
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from benchmark.rubrics.methods.rubric import Rubric, rubric_from_dict


class RubricVersion(models.Model):
    """One frozen text of a rubric; a change creates the next number of the same name.

    People and judges are given the same version, and sheets of different versions are never
    compared without saying so.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="rubric_versions")
    name = models.CharField(_("name"), max_length=80)
    number = models.PositiveIntegerField()
    # As `rubric_to_dict` gives it; everything ordered stands in lists.
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
        """The rubric as the methods use it."""
        return rubric_from_dict(self.content)

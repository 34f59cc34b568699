"""Texts that people made from machine answers: which ones count."""

from django.db.models import Exists, OuterRef, QuerySet

from annotation.editing.models import Revision
from cqa_site.people.models import Study


def newest_revisions(study: Study) -> QuerySet[Revision]:
    """The newest revision of each sheet; the earlier ones stay in its history."""
    newer = Revision.objects.filter(sheet=OuterRef("sheet"), number__gt=OuterRef("number"))
    return Revision.objects.filter(~Exists(newer), sheet__answer__study=study).order_by("pk")


def passed(checks: dict[str, bool | None]) -> int:
    """How many checks a text passed."""
    return sum(value is True for value in checks.values())

"""Invariants of editing, checked in the database; each finding is one sentence."""

import hashlib
from collections.abc import Iterator

from django.db.models import Count, F, Max

from annotation.answers.models.answers import Answer
from annotation.editing.models import Revision


def find_editing_violations() -> Iterator[str]:
    """Yield every broken invariant; nothing when all is well."""
    yield from _changed_revisions()
    yield from _gaps_between_revisions()
    yield from _answers_unlike_their_revision()


def _changed_revisions() -> Iterator[str]:
    for revision in Revision.objects.only("content", "text_sha256").iterator(500):
        if hashlib.sha256(revision.text.encode()).hexdigest() != revision.text_sha256:
            yield f"revision {revision.pk} no longer matches its hash"


def _gaps_between_revisions() -> Iterator[str]:
    rows = Revision.objects.order_by().values("sheet")
    for row in rows.annotate(n=Count("pk"), last=Max("number")).exclude(n=F("last")):
        yield f"edit sheet {row['sheet']} has {row['n']} revisions up to number {row['last']}"


def _answers_unlike_their_revision() -> Iterator[str]:
    unlike = Answer.objects.filter(revision__isnull=False).exclude(
        text_sha256=F("revision__text_sha256"),
        question=F("revision__sheet__answer__question"),
        study=F("revision__sheet__answer__study"),
    )
    for pk in unlike.order_by("pk").values_list("pk", flat=True):
        yield f"answer {pk} is not what its revision says"

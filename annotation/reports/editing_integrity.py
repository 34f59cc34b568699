"""Invariants of editing, checked in the database; each finding is one sentence."""

import hashlib
from collections.abc import Iterator

from django.db.models import Count, Exists, F, Max, OuterRef, Q

from annotation.models import EditingTask, Revision


def find_editing_violations() -> Iterator[str]:
    """Yield every broken invariant; nothing when all is well."""
    yield from _changed_revisions()
    yield from _gaps_between_revisions()
    yield from _submitted_without_revision()


def _changed_revisions() -> Iterator[str]:
    rows = Revision.objects.values_list("pk", "text", "text_sha256")
    for pk, text, sha256 in rows.iterator(500):
        if hashlib.sha256(text.encode()).hexdigest() != sha256:
            yield f"revision {pk} no longer matches its hash"


def _gaps_between_revisions() -> Iterator[str]:
    rows = Revision.objects.order_by().values("task")
    for row in rows.annotate(n=Count("pk"), last=Max("number")).exclude(n=F("last")):
        yield f"editing task {row['task']} has {row['n']} revisions up to number {row['last']}"


def _submitted_without_revision() -> Iterator[str]:
    revised = Exists(Revision.objects.filter(task=OuterRef("pk")))
    is_submitted = Q(state=EditingTask.State.SUBMITTED) | Q(submitted_at__isnull=False)
    for pk in EditingTask.objects.filter(is_submitted, ~revised).values_list("pk", flat=True):
        yield f"editing task {pk} is submitted without a revision"

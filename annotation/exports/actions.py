"""Creation of a round's export files from a single snapshot."""

import secrets
from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.consensus.actions.consensus import recompute_final_labels
from annotation.exports.models import ExportFile
from annotation.exports.reports.tables import TABLES, ExportSource
from annotation.figures.actions import LABEL_ROUNDS
from annotation.figures.models import Snapshot
from annotation.figures.reports.snapshots import marker
from annotation.labelling.models import LabelRound
from cqa_site.files.actions.exports import ExportKind, ExportOptions, FileTable, request_files
from cqa_site.people.models import User
from cqa_site.results import snapshots
from cqa_site.runs.jobs import JobContext, JobRefused


class ExportNotPossible(Exception):
    """The requested export is not possible from the snapshot; the message gives the reason."""


class LabelRoundExports(ExportKind):
    """Votes, labels, annotators and figures of a snapshot."""

    job = "export"
    Model = ExportFile

    def source(self, work: JobContext, files: Collection[ExportFile]) -> ExportSource:
        """Return the stored snapshot, updating it first if it is live."""
        rows = Snapshot.objects.select_related("label_round__study", "label_round__guideline")
        snapshot = rows.get(pk=work.payload["snapshot"])
        if not snapshot.is_frozen:
            work.progress(0, note=_("Updating the figures"))
            snapshots.refresh(LABEL_ROUNDS, snapshot.label_round)
            recompute_final_labels(snapshot.label_round)
            snapshot = rows.get(pk=snapshot.pk)
        try:
            check_labels(snapshot.label_round, snapshot, [file.content for file in files])
        except ExportNotPossible as reason:
            raise JobRefused(str(reason)) from reason
        return ExportSource(snapshot, secrets.token_bytes(32), work.payload["with_comments"])

    def table(self, file: ExportFile, source: ExportSource) -> FileTable:
        """Return the rows of a file as a stream."""
        return TABLES[file.content](source)

    def about(self, source: ExportSource) -> dict[str, Any]:
        """Describe the round and snapshot, and the treatment of raters and times."""
        snapshot, label_round = source.snapshot, source.snapshot.label_round
        return {
            "label_round": {"id": str(label_round.public_id), "name": label_round.name},
            "snapshot": {
                "id": str(snapshot.public_id),
                "number": snapshot.number,
                "is_frozen": snapshot.is_frozen,
                "sha256": snapshot.sha256,
                "computed_at": snapshot.computed_at and snapshot.computed_at.isoformat(),
                "recipe": snapshot.recipe,
            },
            "aggregator": label_round.aggregator,
            "raters": "HMAC-SHA256 with a random key for this set of files, which was not stored",
            "times": "rounded to the minute, UTC",
        }


EXPORTS = LabelRoundExports()


@transaction.atomic
def request_exports(
    *,
    label_round: LabelRound,
    snapshot: Snapshot | None,
    contents: list[str],
    format: str,
    options: ExportOptions,
    actor: User,
) -> list[ExportFile]:
    """Request a set of files, by default from the newest snapshot, which is updated first.

    Raises ExportNotPossible.
    """
    snapshot = snapshot or current_snapshot(label_round=label_round)
    check_labels(label_round, snapshot, contents)
    return request_files(
        EXPORTS,
        study=label_round.study,
        subject=f"{label_round.name} #{snapshot.number}",
        contents=contents,
        format=format,
        options=options,
        actor=actor,
        payload={"snapshot": snapshot.pk},
        key=str(snapshot.pk),
        label_round=label_round,
        snapshot=snapshot,
    )


@transaction.atomic
def current_snapshot(*, label_round: LabelRound) -> Snapshot:
    """Return the newest snapshot, or a new empty one if the newest is frozen and outdated."""
    LabelRound.objects.select_for_update(no_key=True).get(pk=label_round.pk)
    newest = label_round.snapshots.defer("rows", "figures").first()
    if newest and (not newest.is_frozen or newest.marker == marker(label_round)):
        return newest
    return Snapshot.objects.create(
        label_round=label_round, number=newest.number + 1 if newest else 1
    )


def check_labels(label_round: LabelRound, snapshot: Snapshot, contents: list[str]) -> None:
    """Raise ExportNotPossible for an older snapshot, because only current labels exist."""
    if ExportFile.Content.FINAL_LABELS not in contents or not snapshot.is_frozen:
        return
    if marker(label_round) != snapshot.marker:
        raise ExportNotPossible(
            _(
                "Votes or decisions have changed since this snapshot was frozen, so its final "
                "labels can no longer be determined. Export them from the current state."
            )
        )

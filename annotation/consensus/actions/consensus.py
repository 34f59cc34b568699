"""Derive final labels in the background, and choose the labels that a study uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.consensus.models import FinalLabel, PreferredLabels
from annotation.consensus.reports import (
    adjudication_table,
    adoption_table,
    counted_votes,
    label_source,
    override_table,
    vote_table,
)
from annotation.labelling.models import LabelRound, VoteEvent
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import JobContext, enqueue
from cqa_site.runs.models import Job

if TYPE_CHECKING:
    import pandas as pd

    from annotation.consensus.methods import Method


JOB = "final_labels"
COMPARED: tuple[Method, ...] = ("dawid_skene", "mace")
CHUNK = 1_000
# Minimum time between computations requested by page views while votes arrive.
REST = timedelta(seconds=20)
LABELS = (
    "label", "majority_label", "dawid_skene_label", "mace_label", "expert_label", "adopted_label",
    "adjudicated_label",
)  # fmt: skip
# Field of the row → column of the method's table, where the names differ.
FACTS = {
    "provenance": "provenance",
    "votes": "n",
    "pattern": "pattern",
    "is_tied": "tied",
    "spread": "spread",
    "methods_differ": "methods_differ",
}
FIELDS = (*LABELS, *FACTS)


class SourceNotValid(Exception):
    """A round cannot be overruled by itself or by another study's round."""


@transaction.atomic
def request_final_labels(*, label_round: LabelRound, actor: User | None = None) -> Job:
    """Queue a job to recompute final labels after this transaction, or reuse a pending job.

    A running job may have read its votes before this change, so it is not sufficient. Locking
    the pending job prevents workers from starting it before we commit.
    """
    for turn in ("", ":next", ":third", ":fourth"):
        with suppress(Job.DoesNotExist):
            job = enqueue(
                study=label_round.study,
                kind=JOB,
                key=f"{label_round.public_id}{turn}",
                actor=actor,
                label_round=str(label_round.public_id),
            )
            if Job.objects.select_for_update().filter(pk=job.pk, state="ready").exists():
                return job
    return job


@transaction.atomic
def request_everywhere(*, label_round: LabelRound, actor: User | None = None) -> None:
    """Recompute the final labels of the round and of rounds that depend on its labels."""
    request_final_labels(label_round=label_round, actor=actor)
    in_force = Q(adoptions__source=label_round, adoptions__withdrawn_at__isnull=True)
    depending = LabelRound.objects.filter(Q(overridden_by=label_round) | in_force).distinct()
    for other in depending.select_related("study"):
        request_final_labels(label_round=other, actor=actor)


def after_closing(*, round_: LabelRound, actor: User) -> None:
    """Recompute final labels, and thereby the experts' queue, after a round is closed."""
    request_everywhere(label_round=round_, actor=actor)


def keep_current(label_round: LabelRound, actor: User | None = None) -> Job | None:
    """Return the job that updates outdated labels; request one unless the last job has just ended.

    Used by pages that show labels. Return None if the labels are up to date, or if the next
    computation has to wait.
    """
    if not is_stale(label_round):
        return None
    if job := active_job(label_round):
        return job
    just_ended = _jobs(label_round).filter(finished_at__gt=timezone.now() - REST)
    return (
        None if just_ended.exists() else request_final_labels(label_round=label_round, actor=actor)
    )


def is_stale(label_round: LabelRound) -> bool:
    """Return whether votes changed since the last computation; machine labels are not votes."""
    used = label_round.final_labels.aggregate(votes=Sum("votes"))["votes"] or 0
    return used != counted_votes(label_round).count() or _has_changes(label_round)


def _has_changes(label_round: LabelRound) -> bool:
    """Return whether anyone changed a label after the last computation was requested."""
    done = _jobs(label_round).filter(state=Job.State.DONE)
    last = done.order_by("-created_at").values_list("created_at", flat=True).first()
    if last is None:
        return False
    changes = VoteEvent.objects.filter(assignment__round=label_round, at__gt=last)
    return changes.filter(kind=VoteEvent.Kind.CHANGE).exists()


def make_final_labels(work: JobContext) -> None:
    """Handle a job: recompute the final labels of its round."""
    label_round = LabelRound.objects.get(study=work.study, public_id=work.payload["label_round"])
    recompute_final_labels(label_round, work=work)


def active_job(label_round: LabelRound) -> Job | None:
    """Return the round's pending or running job that recomputes labels, or None."""
    return _jobs(label_round).filter(state__in=[Job.State.READY, Job.State.LEASED]).first()


def _jobs(label_round: LabelRound) -> QuerySet[Job]:
    payload = {"label_round": str(label_round.public_id)}
    return Job.objects.filter(study=label_round.study_id, kind=JOB, payload=payload)


def recompute_final_labels(label_round: LabelRound, *, work: JobContext | None = None) -> int:
    """Recompute the final labels from their sources; return the number of changed rows.

    Votes, expert labels and adjudications are only read, so running this again changes nothing.
    Annotators never wait for long, because the long computation does not hold a lock and only
    changed rows are written, a thousand per transaction. If a run is killed halfway, each
    written row is correct and the job starts again.
    """
    rows = _derive(label_round, work)
    changed, gone = _compare(label_round, rows)
    for start in range(0, len(changed), CHUNK):
        if not _write(label_round, work, changed[start : start + CHUNK]):
            return start
        _say(work, 2, _("Storing labels"))
    for start in range(0, len(gone), CHUNK):
        FinalLabel.objects.filter(pk__in=gone[start : start + CHUNK]).delete()
    return len(changed) + len(gone)


@transaction.atomic
def set_consensus(
    *, label_round: LabelRound, aggregator: str, overridden_by: Iterable[LabelRound], actor: User
) -> None:
    """Set the aggregation method, and the rounds whose labels overrule the votes."""
    sources = list(overridden_by)
    if any(source == label_round or source.study_id != label_round.study_id for source in sources):
        raise SourceNotValid(_("Only other rounds of the same study can overrule this round."))
    record(
        study=label_round.study,
        actor=actor,
        verb="consensus_changed",
        subject=label_round.name,
        before=_settings(label_round),
        after={"aggregator": aggregator, "overridden_by": sorted(map(str, sources))},
    )
    label_round.aggregator = aggregator
    label_round.save(update_fields=["aggregator"])
    label_round.overridden_by.set(sources)
    request_final_labels(label_round=label_round, actor=actor)


def _settings(label_round: LabelRound) -> dict:
    sources = sorted(map(str, label_round.overridden_by.all()))
    return {"aggregator": label_round.aggregator, "overridden_by": sources}


def _derive(label_round: LabelRound, work: JobContext | None) -> dict[int, tuple]:
    """Map each argument of the round to the values of its final-label row."""
    table = derive_labels(label_round, compared=COMPARED, work=work)
    _say(work, 2, _("Storing labels"))
    labels = [table[name].astype(object).where(table[name].notna(), None) for name in LABELS]
    table["pattern"] = table["pattern"].str.slice(stop=40)
    facts = [table[column] for column in FACTS.values()]
    columns = [column.to_list() for column in (*labels, *facts)]
    return dict(zip(table.index, zip(*columns, strict=True), strict=True))


def derive_labels(
    label_round: LabelRound,
    *,
    adopted: pd.DataFrame | None = None,
    compared: Sequence[Method] = (),
    work: JobContext | None = None,
) -> pd.DataFrame:
    """Return the current final labels by argument; see `annotation.consensus.methods`.

    ``adopted`` replaces the current adoptions. Nothing is stored.
    """
    from annotation.consensus.methods import final_labels

    _say(work, 0, _("Reading votes"))
    units = list(
        label_round.items.order_by("argument_id").values_list("argument_id", flat=True).distinct()
    )
    votes, overrides = vote_table(label_round), override_table(label_round)
    decisions = adjudication_table(label_round)
    if adopted is None:
        adopted = adoption_table(label_round)
    _say(work, 1, _("Comparing methods"))
    return final_labels(
        votes,
        overrides,
        decisions,
        cast("Method", label_round.aggregator),
        adopted=adopted,
        compared=compared,
        units=units,
    )


def _compare(
    label_round: LabelRound, rows: dict[int, tuple]
) -> tuple[list[FinalLabel], list[int]]:
    """Return rows to write, and keys of stored rows whose argument is no longer in the round.

    Reads while holding the lock, so that no older run is still writing; see ``_write``.
    """
    with transaction.atomic():
        _lock(label_round)
        columns = ("pk", "argument_id", *FIELDS)
        present = list(label_round.final_labels.values_list(*columns))
    stored = {argument: tuple(values) for _pk, argument, *values in present}
    changed = [
        FinalLabel(
            label_round=label_round, argument_id=argument, **dict(zip(FIELDS, row, strict=True))
        )
        for argument, row in rows.items()
        if stored.get(argument) != row
    ]
    return changed, [pk for pk, argument, *_values in present if argument not in rows]


@transaction.atomic
def _write(label_round: LabelRound, work: JobContext | None, rows: list[FinalLabel]) -> bool:
    """Store some rows; return False if a later request, with later votes, has already started."""
    _lock(label_round)
    if work and _is_overtaken(work):
        return False
    FinalLabel.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["label_round", "argument"],
        update_fields=FIELDS,
    )
    return True


def _lock(label_round: LabelRound) -> None:
    """Lock the round so that only one run at a time reads or writes; new votes are not blocked."""
    LabelRound.objects.select_for_update(of=("self",), no_key=True).get(pk=label_round.pk)


def _is_overtaken(work: JobContext) -> bool:
    later = Job.objects.filter(kind=JOB, payload=work.payload, pk__gt=work.job.pk)
    return later.filter(state__in=[Job.State.LEASED, Job.State.DONE]).exists()


def _say(work: JobContext | None, done: int, note: str) -> None:
    if work:
        work.progress(done, 3, note)


class LabelsNotOfStudy(Exception):
    """The round belongs to another study."""


@transaction.atomic
def prefer_labels(*, study: Study, label_round: LabelRound | None, actor: User) -> None:
    """Use one round's final labels in the study or, with None, each sentence's newest label."""
    if label_round is not None and label_round.study_id != study.pk:
        raise LabelsNotOfStudy
    before = label_source(study)
    if before == label_round:
        return
    PreferredLabels.objects.filter(study=study).delete()
    if label_round is not None:
        PreferredLabels.objects.create(study=study, label_round=label_round)
    record(
        study=study,
        actor=actor,
        verb="preferred_labels_chosen",
        subject=study.name,
        before=before.name if before else "",
        after=label_round.name if label_round else "",
    )

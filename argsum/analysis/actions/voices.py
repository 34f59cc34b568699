"""Find near-duplicates among the comments of a topic, and store people's changes to groups."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from argsum.analysis.models import Analysis
from argsum.analysis.reports.voices import uncompared
from argsum.datasets.methods.near_duplicates import find_near_duplicates
from argsum.datasets.models import Cell, Comment, NearDuplicate, NearDuplicateGroup
from cqa_site.people.access import record
from cqa_site.people.models import User
from cqa_site.runs.jobs import JobContext, enqueue
from cqa_site.runs.models import Job
from .analyses import count_points, count_voices

JOB = "near_duplicates"
PIECE = 2_000
Say = Callable[[int, int, str], object]


class GroupRefused(Exception):
    """The group cannot be changed in this way. The message gives the reason."""


def ask_to_group(*, cell: Cell, actor: User | None) -> Job:
    """Queue a job that compares new comments; raises GroupRefused if there are none."""
    if not uncompared(cell):
        raise GroupRefused(_("All comments have been compared."))
    key = str(cell.public_id)
    return enqueue(study=cell.dataset.study, kind=JOB, key=key, actor=actor, cell=cell.pk)


def job_of(cell: Cell) -> Job | None:
    """Return the newest job that looks for near-duplicates in a cell."""
    rows = Job.objects.filter(study_id=cell.dataset.study_id, key=f"{JOB}:{cell.public_id}")
    return rows.order_by("-pk").first()


def find_groups(work: JobContext) -> None:
    """Run a job that groups the comments of a cell that have not been compared yet."""
    cells = Cell.objects.filter(dataset__study=work.study, pk=work.payload["cell"])
    if cell := cells.first():
        group_comments(cell, work.progress)


def group_comments(cell: Cell, say: Say) -> None:
    """Store groups of near-duplicates, adding new comments to existing groups.

    Stored rows do not change. If a group was undone, its new copies count as separate voices. If
    another job was faster, nothing is stored.
    """
    rows = list(cell.comments.order_by("position").values_list("pk", "position", "text"))
    if not rows or rows[-1][1] == cell.compared_until:
        return
    place = {pk: at for at, (pk, _position, _text) in enumerate(rows)}
    stored = NearDuplicate.objects.filter(group__cell=cell).values_list("comment", flat=True)
    centres = cell.duplicate_groups.order_by("pk").values_list("centre", flat=True)
    note = _("comparing comments with each other")
    new_groups = find_near_duplicates(
        [text for _pk, _position, text in rows],
        known=[place[pk] for pk in centres],
        settled=frozenset(place[pk] for pk in stored),
        progress=lambda done, total: say(done, total, note),
    )
    with transaction.atomic():
        held = Cell.objects.select_for_update().filter(pk=cell.pk).first()
        if held is None or held.compared_until != cell.compared_until:
            return
        # Read again, because people may have undone a group during the comparison.
        held_groups = {
            group.centre_id: group
            for group in held.duplicate_groups.select_for_update(of=("self",))
        }
        keys = [pk for pk, _position, _text in rows]
        for own in new_groups:
            centre = keys[own.centre]
            group = held_groups.get(centre) or held.duplicate_groups.create(centre_id=centre)
            members = zip(own.members, own.shared, strict=True)
            about: dict[str, Any] = {"group": group, "is_out": group.is_undone}
            NearDuplicate.objects.bulk_create(
                (NearDuplicate(comment_id=keys[at], shared=n, **about) for at, n in members),
                batch_size=PIECE,
            )
        cell.compared_until = held.compared_until = rows[-1][1]
        held.save(update_fields=["compared_until"])
        if new_groups:
            recount(held)


def recount(cell: Cell) -> None:
    """Recount the voices of all analyses of a cell. Call inside a transaction.

    Running analyses are included, because one that is being stored may have counted the old
    groups.
    """
    rows = Analysis.objects.select_for_update(of=("self",)).select_related("cell")
    states = (Analysis.State.RUNNING, Analysis.State.DONE)
    for analysis in rows.filter(cell=cell, state__in=states).order_by("pk"):
        count_points(analysis)
        count_voices(analysis)
        analysis.save(update_fields=["voices", "voices_revision"])


@transaction.atomic
def change_group(
    *, group: NearDuplicateGroup, actor: User | None, is_out: bool, comment: Comment | None = None
) -> None:
    """Remove a comment from a group or put it back. By default, undo or restore the whole group.

    Raises GroupRefused if the comment is not in the group, or is already in that state.
    """
    held = NearDuplicateGroup.objects.select_for_update(of=("self",)).get(pk=group.pk)
    members = held.members.filter(is_out=not is_out)
    facts: dict[str, Any] = {"group": str(held.public_id)}
    if comment is not None:
        members = members.filter(comment=comment)
        facts["comment"] = str(comment.public_id)
        verb = "near_duplicate_removed" if is_out else "near_duplicate_restored"
        if held.is_undone and not is_out:
            raise GroupRefused(_("This group has been undone. Restore it first."))
    else:
        verb = "near_duplicates_undone" if is_out else "near_duplicates_restored"
    if not members.update(is_out=is_out):
        raise GroupRefused(
            _("Somebody else changed this group in the meantime. Nothing was saved.")
        )
    if comment is None:
        NearDuplicateGroup.objects.filter(pk=held.pk).update(is_undone=is_out)
    dataset = held.cell.dataset
    record(study=dataset.study, actor=actor, verb=verb, subject=dataset.name, **facts)
    recount(held.cell)

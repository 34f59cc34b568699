"""Archiving and deletion of studies."""

import shutil
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import IntegrityError, models, transaction
from django.db.models import ManyToOneRel, ProtectedError, Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from cqa_site.people.access import record
from cqa_site.people.actions import hold_people
from cqa_site.people.models import Study, User
from cqa_site.rounds.kind import kind_of, kinds
from cqa_site.rounds.models import Round
from cqa_site.rounds.progress import rounds_of
from cqa_site.runs.jobs import JobContext, JobRefused, enqueue, handles
from cqa_site.runs.kinds import about
from cqa_site.runs.models import Job, Run
from cqa_site.web.housekeeping import chore
from cqa_site.web.uploads import path_of

# Archiving and restoring a study, its active work and its contents

LISTED = 50


@dataclass(frozen=True)
class Active:
    """Active work in a study, and the page on which it can be ended."""

    name: str
    url: str


class StudyBusy(Exception):
    """Raised if active work, listed in ``active``, prevents archiving or deleting a study."""

    def __init__(self, active: list[Active]) -> None:
        super().__init__(
            _(
                "In progress: %s. Close the rounds, cancel the runs and wait for background work "
                "to finish."
            )
            % ", ".join(activity.name for activity in active)
        )
        self.active = active


@transaction.atomic
def archive_study(*, study: Study, actor: User) -> None:
    """Make the study read-only, or raise StudyBusy while work is active."""
    hold_people(study)
    if active := list(active_in(study)):
        raise StudyBusy(active)
    _set_archived(study, actor, timezone.now())


@transaction.atomic
def unarchive_study(*, study: Study, actor: User) -> None:
    """Restore an archived study; its rounds remain closed until somebody opens them."""
    hold_people(study)
    _set_archived(study, actor, None)


def _set_archived(study: Study, actor: User, at: object) -> None:
    """Set the archive time; a repeated request changes nothing."""
    wanted = Study.objects.filter(pk=study.pk, archived_at__isnull=at is not None)
    if wanted.update(archived_at=at):
        verb = "study_archived" if at else "study_unarchived"
        record(study=study, actor=actor, verb=verb, subject=study.name)
    study.refresh_from_db(fields=["archived_at"])


def active_in(study: Study) -> Iterator[Active]:
    """Yield the rounds, runs and jobs that have not ended."""
    going = (Round.State.OPEN, Round.State.PAUSED)
    for round_ in study.rounds.filter(state__in=going)[:LISTED]:
        page = kind_of(round_).audit.round
        yield Active(round_.name, reverse(page, args=[study.public_id, round_.public_id]))
    runs = study.runs.filter(state__in=Run.WORKING).select_related("relevance__label_round")
    for run in runs[:LISTED]:
        url = reverse("run", args=[study.public_id, run.public_id])
        yield Active(f"#{run.number} {about(run)}", url)
    if jobs := study.jobs.filter(state__in=Job.ACTIVE).count():
        name = ngettext("%d background job", "%d background jobs", jobs) % jobs
        yield Active(name, reverse("study", args=[study.public_id]))


def contents_of(study: Study) -> list[str]:
    rounds = [round_ for kind in kinds() for round_ in rounds_of(kind, study)]
    labels = sum(round_.done for round_ in rounds)
    runs, files = study.runs.count(), study.import_files.count()
    counts = {"rounds": len(rounds), "labels": labels, "runs": runs, "files": files}
    counts = {name: f"{count:,}" for name, count in counts.items()}
    return [
        ngettext("%(rounds)s round", "%(rounds)s rounds", len(rounds)) % counts,
        ngettext("%(labels)s answer given by people", "%(labels)s answers given by people", labels)
        % counts,
        ngettext("%(runs)s model run", "%(runs)s model runs", runs) % counts,
        ngettext("%(files)s uploaded file", "%(files)s uploaded files", files) % counts,
    ]


# Deletion of a study's rows, in batches, and of its files.
#
# The foreign keys of all models determine which rows are deleted, and in which order. Only this
# module bypasses PROTECT and deletes rows from append-only tables. Rows are deleted table by
# table, referring rows first, and the database checks every reference. If a worker is killed, the
# study is only partly deleted, and the next worker continues.

DELETE_JOB = "delete_study"
BATCH = 1_000
# Requests that were in progress when the study was deleted may still add rows.
PASSES = 5
Model = type[models.Model]


class NotArchived(Exception):
    """Raised for a study that cannot be deleted because it is not archived."""

    def __str__(self) -> str:
        return "Archive the study first."


@transaction.atomic
def delete_study(*, study: Study, actor: User) -> Job:
    """Close the study to everybody and queue its deletion; raise NotArchived or StudyBusy."""
    hold_people(study)
    if not Study.objects.filter(pk=study.pk, archived_at__isnull=False).exists():
        raise NotArchived
    if active := list(active_in(study)):
        raise StudyBusy(active)
    Study.objects.filter(pk=study.pk).update(deleted_at=timezone.now())
    return _enqueue(study, actor)


def _enqueue(study: Study, actor: User | None) -> Job:
    key, name = str(study.public_id), study.name
    return enqueue(study=None, kind=DELETE_JOB, key=key, actor=actor, id=key, name=name)


@chore("interrupted study deletions")
def delete_again() -> int:
    """Queue unfinished deletions again, and return their number."""
    waiting = list(Study.objects.filter(deleted_at__isnull=False))
    for study in waiting:
        key = f"{DELETE_JOB}:{study.public_id}"
        last = Job.objects.filter(key=key).select_related("created_by").order_by("-pk").first()
        _enqueue(study, last.created_by if last else None)
    return len(waiting)


@handles(DELETE_JOB, is_long=True)
def delete_rows(work: JobContext) -> None:
    """Delete a study's rows, then the study, and record the deletion in the site's log."""
    studies = Study.objects.filter(public_id=work.payload["id"], deleted_at__isnull=False)
    study = studies.first()
    if study is None:
        return
    deletion = Deletion(study, work)
    for _attempt in range(PASSES):
        deletion.delete_contents()
        deletion.delete_participants()
        try:
            deletion.delete_study()
        except IntegrityError:
            continue
        return
    raise JobRefused("Something is still writing to the study. Housekeeping will try again.")


def tables_of_study() -> list[tuple[Model, ...]]:
    """Return the models whose rows belong to a study, referring models first.

    Models with circular references are grouped.
    """
    paths = study_paths()
    group_of = {model: (model,) for model in paths}
    while True:
        before: dict[tuple[Model, ...], set[tuple[Model, ...]]] = {
            group: set() for group in group_of.values()
        }
        for model in paths:
            for field in _references(model):
                if field.related_model in paths:
                    before[group_of[field.related_model]].add(group_of[model])
        for group, others in before.items():
            others.discard(group)
        try:
            return list(TopologicalSorter(before).static_order())
        except CycleError as error:
            # In a circle, rows that are found through other rows are deleted before those rows.
            models = dict.fromkeys(model for group in error.args[1] for model in group)
            circle = tuple(sorted(models, key=lambda model: -paths[model][0].count("__")))
            group_of |= dict.fromkeys(circle, circle)


@cache
def study_paths() -> dict[Model, tuple[str, ...]]:
    """Map each model with rows of a study to the lookups from a row to its study.

    A single required reference is enough; otherwise all optional references are followed.
    """
    paths: dict[Model, tuple[str, ...]] = {Study: ("pk",)}
    every = [*apps.get_models(include_auto_created=True)]
    while True:
        reached = {model: _paths(model, paths) for model in every if model not in paths}
        reached = {model: lookups for model, lookups in reached.items() if lookups}
        if not reached:
            # Only now are the targets of all optional references known.
            return {model: _paths(model, paths) or lookups for model, lookups in paths.items()}
        paths |= reached


def _paths(model: Model, known: dict[Model, tuple[str, ...]]) -> tuple[str, ...]:
    optional: list[str] = []
    for field in _references(model):
        if field.related_model not in known or field.related_model is model:
            continue
        beyond = known[field.related_model]
        lookups = [field.name if path == "pk" else f"{field.name}__{path}" for path in beyond]
        if not field.null:
            return tuple(lookups)
        optional += lookups
    return tuple(optional)


def _references(model: Model) -> Iterator[Any]:
    """Yield the foreign keys of the model's own table, including the one to its parent's table."""
    for field in model._meta.local_fields:
        if field.is_relation:
            yield field


def rows_of(model: Model, study: Study) -> QuerySet[Any]:
    wanted = Q()
    for path in study_paths()[model]:
        wanted |= Q(**{path: study.pk})
    return model._base_manager.filter(wanted).order_by()


class Deletion:
    """The deletion of a study by one worker; ``done`` includes rows deleted earlier."""

    def __init__(self, study: Study, work: JobContext) -> None:
        self.study, self.work = study, work
        *self.tables, _study = tables_of_study()
        self.done = work.job.done
        self.total = self.done + sum(
            rows_of(model, study).count() for group in self.tables for model in group
        )

    def delete_contents(self) -> None:
        """Delete the rows table by table, and the files of each row before the row itself."""
        for group in self.tables:
            # The database checks circular references after all their rows have been deleted.
            targets = {field.related_model for model in group for field in _references(model)}
            is_circle = not targets.isdisjoint(group)
            with transaction.atomic() if is_circle else nullcontext():
                for model in group:
                    while self._delete_batch(model, reports=not is_circle):
                        pass
            self.work.step(self.done, self.total)

    def _delete_batch(self, model: Model, *, reports: bool) -> int:
        with transaction.atomic():
            rows = rows_of(model, self.study)
            if hasattr(model, "STORED_IN") or hasattr(model, "stored_paths"):
                batch = list(rows[:BATCH])
                for row in batch:
                    for path in _paths_of(row):
                        if path.is_dir():
                            shutil.rmtree(path, ignore_errors=True)
                        else:
                            path.unlink(missing_ok=True)
                keys = [row.pk for row in batch]
            else:
                keys = list(rows.values_list("pk", flat=True)[:BATCH])
            _let_go(model, keys)
            _delete(model._base_manager.filter(pk__in=keys))
            self.done += len(keys)
            if reports and keys:
                self.work.step(self.done, self.total, str(model._meta.verbose_name_plural))
        return len(keys)

    def delete_participants(self) -> None:
        """Delete accounts of crowd participants that no longer belong to any study.

        These accounts have no e-mail address or password, so nobody can use them without a study.
        """
        orphans = User.objects.filter(
            email__isnull=True, memberships=None, raters=None, participant=None
        ).order_by("pk")
        last = 0
        while keys := list(orphans.filter(pk__gt=last).values_list("pk", flat=True)[:BATCH]):
            for key in keys:
                # Accounts named in another log are not deleted.
                with suppress(ProtectedError):
                    User.objects.filter(pk=key).delete()
            last = keys[-1]
            self.work.step(self.done, self.total)

    @transaction.atomic
    def delete_study(self) -> None:
        """Delete the study's own row and record the deletion in the site's log."""
        record(
            study=None,
            actor=self.work.job.created_by,
            verb="study_deleted",
            subject=self.study.name,
            rows=self.done + 1,
            id=str(self.study.public_id),
        )
        _delete(rows_of(Study, self.study))
        self.work.step(self.done, self.done)
        self.work.finish()


def _delete(rows: QuerySet[Any]) -> None:
    """Delete rows from one table only, without cascading or protection of related rows."""
    rows._raw_delete(rows.db)


def _let_go(model: Model, keys: list[Any]) -> None:
    """Clear nullable references from other studies and later batches to these rows."""
    for relation in model._meta.get_fields(include_hidden=True):
        if not (isinstance(relation, ManyToOneRel) and relation.field.null):
            continue
        other, name = relation.related_model, relation.field.name
        if other is model or relation.on_delete is models.SET_NULL:
            other._base_manager.filter(**{f"{name}__in": keys}).update(**{name: None})


def _paths_of(row: Any) -> Iterator[Path]:
    yield from getattr(row, "stored_paths", ())
    if stored_as := getattr(row, "stored_as", ""):
        file = path_of(row.STORED_IN, stored_as)
        yield from (file, file.with_suffix(".manifest.json"))

"""Jobs that check and import files, batches and archives."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.base import File
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from cqa_site.files.format_parts import asked_with_uploads
from cqa_site.files.formats import format_of
from cqa_site.files.models import ImportBatch, ImportFile, ImportMatch, ImportProblem
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import JobContext, StaleWorker, enqueue
from cqa_site.tabular import printable_name
from cqa_site.tabular.binary_formats import place_in, unpacked
from cqa_site.web.outages import is_away
from cqa_site.web.uploads import TooLarge
from .files import (
    DECISIONS,
    FITS,
    INSIDE,
    PROPOSED,
    NotInThisState,
    discard_import,
    is_stranded,
    store_upload,
    stored_path,
)
from .imports import ImportOutcome, ImportRefused, import_path, timed
from .recognition import guess_options

State = ImportFile.State


def run_check(work: JobContext) -> None:
    """Run a dry-run job."""
    check_import(
        import_file=_file_of(work),
        progress=lambda rows: work.progress(rows, note=_("rows read")),
        finish=work.finish,
    )


def run_apply(work: JobContext) -> None:
    """Run an import job; its progress is invisible until the transaction ends."""
    apply_import(
        import_file=_file_of(work),
        leave_out_rejected=work.payload["leave_out_rejected"],
        update_changed=work.payload["update_changed"],
        actor=work.job.created_by,
        finish=work.finish,
    )


def _file_of(work: JobContext) -> ImportFile:
    return ImportFile.objects.select_related("study").get(
        study=work.study, public_id=work.payload["import_file"]
    )


def check_import(
    *,
    import_file: ImportFile,
    progress: Callable[[int], None] | None = None,
    finish: Callable[[], None] | None = None,
) -> ImportOutcome | None:
    """Perform the dry run and store its result; return None if the file is refused.

    ``finish`` ends the job in the transaction that stores the result, so that a
    worker that has lost the job stores nothing.
    """
    try:
        guess_options(import_file)
        outcome = _run(import_file, write=False, progress=timed(progress) if progress else None)
    except ImportRefused as refusal:
        if encoding := getattr(refusal.__cause__, "encoding", ""):
            _save(import_file, options=import_file.options | {PROPOSED: {"encoding": encoding}})
        refuse(import_file, State.REFUSED, str(refusal), finish)
        return None
    with transaction.atomic():
        _keep(import_file, outcome)
        _save(import_file, state=State.CHECKED, refusal="")
        _finish(finish)
    return outcome


def apply_import(
    *,
    import_file: ImportFile,
    leave_out_rejected: bool = False,
    update_changed: bool = False,
    actor: User | None = None,
    finish: Callable[[], None] | None = None,
) -> ImportOutcome | None:
    """Import the file, update its record and end the job in one transaction.

    If the file cannot be imported as it is, none of it is stored, and the file is returned to the
    user with the reason.
    """
    chosen = {"leave_out_rejected": leave_out_rejected, "update_changed": update_changed}
    try:
        with transaction.atomic():
            outcome = _run(import_file, write=True, actor=actor, **chosen)
            _keep(import_file, outcome)
            _close(import_file, outcome, actor, chosen)
            _finish(finish)
    except ImportRefused as refusal:
        import_file.refresh_from_db()
        refuse(import_file, State.CHECKED, str(refusal), finish)
        return None
    return outcome


def _finish(finish: Callable[[], None] | None) -> None:
    if finish is not None:
        finish()


def _run(import_file: ImportFile, **arguments) -> ImportOutcome:
    return import_path(
        study=import_file.study,
        kind=import_file.kind,
        path=stored_path(import_file),
        name=import_file.name,
        options=import_file.options,
        **arguments,
    )


def _keep(import_file: ImportFile, outcome: ImportOutcome) -> None:
    import_file.problems.all().delete()
    ImportProblem.objects.bulk_create(
        ImportProblem(
            import_file=import_file,
            row=flag.row,
            column=flag.column[:200],
            reason=flag.reason[:500],
            is_rejection=flag.is_rejection,
        )
        for flag in outcome.flags
    )
    import_file.matches.all().delete()
    ImportMatch.objects.bulk_create(
        ImportMatch(import_file=import_file, **asdict(near)) for near in outcome.near
    )
    _save(
        import_file, counts=outcome.counts, rows=outcome.rows, notes=_notes(import_file, outcome)
    )


def _notes(import_file: ImportFile, outcome: ImportOutcome) -> list[str]:
    twins = import_file.study.import_files.filter(
        sha256=import_file.sha256, state=State.APPLIED
    ).exclude(pk=import_file.pk)
    if not twins.exists():
        return outcome.notes
    twin = _("This file was imported before. Importing it again adds nothing new.")
    return [twin, *outcome.notes]


def _close(
    import_file: ImportFile, outcome: ImportOutcome, actor: User | None, chosen: dict[str, Any]
) -> None:
    format_of(import_file.kind).applied(outcome, actor)
    _save(
        import_file,
        state=State.APPLIED,
        refusal="",
        applied_at=timezone.now(),
        round_id=next(iter(outcome.rounds), None),
    )
    record(
        study=import_file.study,
        actor=actor,
        verb="import_applied",
        subject=import_file.name,
        counts=outcome.counts,
        sha256=import_file.sha256,
        **chosen,
    )


@transaction.atomic
def refuse(
    import_file: ImportFile, state: str, reason: str, finish: Callable[[], None] | None
) -> None:
    """Store the reason for refusing the file."""
    _save(import_file, state=state, refusal=reason)
    _finish(finish)


def _save(import_file: ImportFile, **changes) -> None:
    for name, value in changes.items():
        setattr(import_file, name, value)
    import_file.save(update_fields=list(changes))


# Uploads with many files of one kind, which are checked and then imported one after the other
#
# Each file is imported separately, completely or not at all. A file that cannot be imported shows
# the reason and does not stop the others. One job processes the files in upload order, and a
# worker that takes over the job continues with the remaining files.

BATCH_JOB = "import_batch"
WAITING = (State.UPLOADED, State.CHECKED, State.REFUSED)
WORKING = (State.CHECKING, State.APPLYING)
BUSY = gettext_lazy(
    "These files are being processed, or one of them was imported or discarded in the meantime."
)
log = logging.getLogger(__name__)


def same_names(files: Iterable[File]) -> list[str]:
    """Return the names that several files share.

    Rows are identified by file name and position, so identical names would cause conflicts.
    """
    counts = Counter(file.name for file in files)
    return sorted(name for name, number in counts.items() if name and number > 1)


def store_batch(
    *,
    study: Study,
    kind: str,
    files: Collection[File],
    options: dict[str, Any],
    actor: User | None,
) -> ImportBatch:
    """Store the files and request their checks; raises TooLarge if a file exceeds the limit."""
    if sum(file.size or 0 for file in files) > settings.MAX_UPLOAD_BYTES:
        raise TooLarge
    batch = ImportBatch.objects.create(study=study, kind=kind, options=options, created_by=actor)
    for file in files:
        store_upload(
            study=study,
            kind=kind,
            name=file.name or "",
            chunks=file.chunks(),
            actor=actor,
            options=dict(options),
            batch=batch,
        )
    check_batch(batch=batch, actor=actor)
    return batch


@transaction.atomic
def check_batch(
    *, batch: ImportBatch, actor: User | None, options: dict[str, Any] | None = None
) -> None:
    """Check every file that has not been imported, using new options if they are given."""
    _require_rest(batch)
    candidates = batch.files.filter(state__in=[*WAITING, *WORKING]).select_related("job")
    files = [file for file in candidates if file.state in WAITING or is_stranded(file)]
    if options is not None:
        batch.options = options
        batch.save(update_fields=["options"])
        for file in files:
            decisions = {name: file.options[name] for name in DECISIONS if name in file.options}
            file.options = options | decisions
        ImportFile.objects.bulk_update(files, ["options"])
    _start(batch, [file.pk for file in files], State.CHECKING, actor, chosen=None)


@transaction.atomic
def apply_batch(
    *,
    batch: ImportBatch,
    files: Collection[UUID] | None = None,
    leave_out_rejected: bool,
    update_changed: bool,
    actor: User | None,
) -> None:
    """Import the named files, or all checked files, each completely or not at all."""
    _require_rest(batch)
    waiting = batch.files.filter(state=State.CHECKED)
    if files is not None:
        waiting = waiting.filter(public_id__in=files)
    keys = list(waiting.values_list("pk", flat=True))
    if files is not None and len(keys) != len(set(files)):
        raise NotInThisState(BUSY)
    chosen = {"leave_out_rejected": leave_out_rejected, "update_changed": update_changed}
    _start(batch, keys, State.APPLYING, actor, chosen)


def discard_batch(*, batch: ImportBatch, actor: User | None) -> None:
    """Delete the batch and its files that were not imported; imported files are kept."""
    with transaction.atomic():
        _require_rest(batch)
        for file in batch.files.exclude(state=State.APPLIED).select_related("study"):
            discard_import(import_file=file, actor=actor)
        batch.delete()


def files_of(batch: ImportBatch) -> QuerySet[ImportFile]:
    """Return the files in upload order, which is also the order of processing."""
    return batch.files.select_related("study", "job").order_by("pk")


def _require_rest(batch: ImportBatch) -> None:
    """Lock the row, so that the second of two requests sees the changes made by the first."""
    held = ImportBatch.objects.select_for_update(no_key=True).get(pk=batch.pk)
    if held.job is not None and held.job.is_active:
        raise NotInThisState(BUSY)


def _start(
    batch: ImportBatch,
    files: list[int],
    state: str,
    actor: User | None,
    chosen: dict[str, bool] | None,
) -> None:
    if not files:
        raise NotInThisState(BUSY)
    job = enqueue(
        study=batch.study,
        kind=BATCH_JOB,
        key=str(batch.public_id),
        actor=actor,
        batch=str(batch.public_id),
        apply=chosen,
    )
    ImportFile.objects.filter(pk__in=files).update(state=state, refusal="", job=job)
    batch.job = job
    batch.save(update_fields=["job"])


def run_batch(work: JobContext) -> None:
    """Run the job: process every file that is still waiting, in order."""
    files = ImportFile.objects.filter(job=work.job, study=work.study).select_related("study")
    keys = list(files.order_by("pk").values_list("pk", "state"))
    for done, (key, state) in enumerate(keys, start=1):
        if state in WORKING:
            step = partial(work.step, done, len(keys), _("files"))
            _one(work, files.get(pk=key), step)


def _one(work: JobContext, file: ImportFile, step: partial[None]) -> None:
    chosen = work.payload["apply"]
    try:
        if chosen is None:
            check_import(import_file=file, finish=step)
        else:
            apply_import(import_file=file, actor=work.job.created_by, finish=step, **chosen)
    except StaleWorker:
        raise
    except ImportRefused as refusal:
        refuse(file, State.REFUSED, str(refusal), step)
    except Exception as error:
        if is_away(error):
            raise
        # A programming error with one file must not block the others.
        log.exception("file %s of batch %s failed", file.public_id, work.payload["batch"])
        file.refresh_from_db()
        back = State.REFUSED if chosen is None else State.CHECKED
        refuse(file, back, _("Unexpected error. The server log has the details."), step)


# Files of an archive, extracted group by group; the archive is kept until it is discarded

ExtractedGroup = ImportBatch | ImportFile


class NoSuchGroup(Exception):
    """Raised if the archive has no group with this number, or has been given another kind."""


@transaction.atomic
def take_group(
    *, archive: ImportFile, number: int, actor: User | None
) -> tuple[ExtractedGroup, bool]:
    """Extract a group's files from the archive for separate import.

    Also return whether the group is newly extracted. Raises NoSuchGroup, UnreadableFile, and
    TooLarge above the limit of one upload.
    """
    held = ImportFile.objects.select_for_update(of=("self",)).get(pk=archive.pk)
    groups = held.options.get(INSIDE, {}).get("groups", [])
    if held.state != ImportFile.State.UPLOADED or number >= len(groups):
        raise NoSuchGroup
    group = groups[number]
    if upload := taken_from(held, [group]).get(group.get("taken", "")):
        return upload, False
    new_upload = _stored(held, group, actor)
    group["taken"] = str(new_upload.public_id)
    held.save(update_fields=["options"])
    return new_upload, True


def taken_from(archive: ImportFile, groups: list[dict[str, Any]]) -> dict[str, ExtractedGroup]:
    """Map values of ``taken`` to the extracted files and batches that still exist."""
    ids = [UUID(group["taken"]) for group in groups if "taken" in group]
    mine = {"public_id__in": ids, "study": archive.study_id}
    models = (ImportFile, ImportBatch) if ids else ()
    rows = [row for model in models for row in model.objects.filter(**mine)]
    return {str(row.public_id): row for row in rows}


def archive_of(upload: ExtractedGroup) -> ImportFile | None:
    """Return the archive from which the upload was extracted, or None if it no longer exists."""
    mine = str(upload.public_id)
    archives = ImportFile.objects.filter(
        study=upload.study_id, state=ImportFile.State.UPLOADED, options__has_key=INSIDE
    )
    for archive in archives:
        groups = archive.options[INSIDE].get("groups", [])
        if any(group.get("taken") == mine for group in groups):
            return archive
    return None


def _stored(archive: ImportFile, group: dict[str, Any], actor: User | None) -> ExtractedGroup:
    names = {option.name for option in asked_with_uploads()}
    values = {name: value for name, value in archive.options.items() if name in names and value}
    options = {**format_of(group["kind"]).of_folder(group["folder"]), **values}
    about: dict[str, Any] = {"study": archive.study, "kind": group["kind"], "actor": actor}
    path, wanted = stored_path(archive), set(group["files"])
    with (
        unpacked(path, name=archive.name, is_wanted=wanted.__contains__, called=place_in) as paths,
        ExitStack() as opened,
    ):
        files = [
            File(opened.enter_context(paths[place].open("rb")), name=printable_name(place))
            for place in group["files"]
        ]
        if len(files) > 1 and format_of(group["kind"]).is_many:
            return store_batch(files=files, options=options, **about)
        (file,) = files
        options |= {FITS: {group["kind"]: group["reason"]}}
        name = file.name or ""
        return store_upload(name=name, chunks=file.chunks(), options=options, **about)

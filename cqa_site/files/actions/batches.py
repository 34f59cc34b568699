"""Many files of one kind in one upload: looked at, then imported, one after the other.

Each file stays a file of its own, whole or not at all; one that cannot be taken says why and
stops no other. One job works through them in the order of the upload, and a worker that takes
the job over goes on with those that are left.
"""

import logging
from collections import Counter
from collections.abc import Collection, Iterable
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.base import File
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from cqa_site.files.models import ImportBatch, ImportFile
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import StaleWorker, Work, enqueue
from cqa_site.web.uploads import TooLarge

from .files import DECISIONS, NotInThisState, discard_import, is_stranded, store_upload
from .guessing import guess_options
from .rows import ImportRefused
from .running import apply_import, check_import, refuse

State = ImportFile.State
BATCH_JOB = "import_batch"
WAITING = (State.UPLOADED, State.CHECKED, State.REFUSED)
WORKING = (State.CHECKING, State.APPLYING)
log = logging.getLogger(__name__)


def same_names(files: Iterable[File]) -> list[str]:
    """Names that several files have; rows are known by file and place, so they would clash."""
    found = Counter(file.name for file in files)
    return sorted(name for name, number in found.items() if name and number > 1)


def store_batch(
    *,
    study: Study,
    kind: str,
    files: Collection[File],
    options: dict[str, Any],
    actor: User | None,
) -> ImportBatch:
    """Store the files and have them looked at; raises TooLarge above the limit of one file."""
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
    """Look at every file that is not imported, with other options if any are given."""
    _require_rest(batch)
    found = batch.files.filter(state__in=[*WAITING, *WORKING]).select_related("job")
    files = [file for file in found if file.state in WAITING or is_stranded(file)]
    if options is not None:
        batch.options = options
        batch.save(update_fields=["options"])
        for file in files:
            kept = {name: file.options[name] for name in DECISIONS if name in file.options}
            file.options = options | kept
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
    """Import the named files, or all that were looked at, each whole or not at all."""
    _require_rest(batch)
    waiting = batch.files.filter(state=State.CHECKED)
    if files is not None:
        waiting = waiting.filter(public_id__in=files)
    keys = list(waiting.values_list("pk", flat=True))
    if files is not None and len(keys) != len(set(files)):
        raise NotInThisState
    chosen = {"leave_out_rejected": leave_out_rejected, "update_changed": update_changed}
    _start(batch, keys, State.APPLYING, actor, chosen)


def discard_batch(*, batch: ImportBatch, actor: User | None) -> None:
    """Forget what was not imported; the batch goes, its imported files stay."""
    with transaction.atomic():
        _require_rest(batch)
        for file in batch.files.exclude(state=State.APPLIED).select_related("study"):
            discard_import(import_file=file, actor=actor)
        batch.delete()


def files_of(batch: ImportBatch) -> QuerySet[ImportFile]:
    """In the order of the upload, in which they are worked on."""
    return batch.files.select_related("study", "job").order_by("pk")


def _require_rest(batch: ImportBatch) -> None:
    """Hold the row, so that of two requests the second sees the work of the first."""
    held = ImportBatch.objects.select_for_update(no_key=True).get(pk=batch.pk)
    if held.job is not None and held.job.is_active:
        raise NotInThisState


def _start(
    batch: ImportBatch,
    files: list[int],
    state: str,
    actor: User | None,
    chosen: dict[str, bool] | None,
) -> None:
    if not files:
        raise NotInThisState
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


def run_batch(work: Work) -> None:
    """The job: every file that still waits for it, in order."""
    files = ImportFile.objects.filter(job=work.job, study=work.study).select_related("study")
    keys = list(files.order_by("pk").values_list("pk", "state"))
    for done, (key, state) in enumerate(keys, start=1):
        if state in WORKING:
            step = partial(work.step, done, len(keys), _("files"))
            _one(work, files.get(pk=key), step)


def _one(work: Work, file: ImportFile, step: partial[None]) -> None:
    chosen = work.payload["apply"]
    try:
        if chosen is None:
            guess_options(file)
            check_import(import_file=file, finish=step)
        else:
            apply_import(import_file=file, actor=work.job.created_by, finish=step, **chosen)
    except StaleWorker:
        raise
    except ImportRefused as refusal:
        refuse(file, State.REFUSED, str(refusal), step)
    except Exception:
        # An error of ours in one file must not keep the others out.
        log.exception("file %s of batch %s failed", file.public_id, work.payload["batch"])
        file.refresh_from_db()
        back = State.REFUSED if chosen is None else State.CHECKED
        refuse(file, back, _("An unexpected error; the server's log has the details."), step)

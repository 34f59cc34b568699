"""The record of an uploaded file: stored, looked at in a dry run, imported or discarded."""

import hashlib
import os
import uuid
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Campaign, ImportFile, ImportProblem
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import enqueue
from cqa_site.tabular import printable_name

from .reading import ImportRefused, import_path, timed
from .rows import Outcome

State = ImportFile.State
FOLDER = "imports"


class TooLarge(Exception):
    """The upload is above the size limit."""


class NotInThisState(Exception):
    """The file was imported, discarded or is being worked on already."""


def stored_path(import_file: ImportFile) -> Path:
    """Where the bytes lie; the name on disk is ours, never the client's."""
    return settings.MEDIA_ROOT / FOLDER / import_file.stored_as


def store_upload(
    *,
    study: Study,
    kind: str,
    name: str,
    chunks: Iterable[bytes],
    actor: User | None,
    options: dict | None = None,
) -> ImportFile:
    """Stream an upload to disk under a random name; raises TooLarge above the limit."""
    stored_as = uuid.uuid4().hex
    folder = settings.MEDIA_ROOT / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = folder / stored_as
    try:
        size, digest = _write(target, chunks)
        return ImportFile.objects.create(
            study=study,
            kind=kind,
            name=printable_name(name),
            sha256=digest,
            size=size,
            stored_as=stored_as,
            options=options or {},
            created_by=actor,
        )
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _write(target: Path, chunks: Iterable[bytes]) -> tuple[int, str]:
    size, digest = 0, hashlib.sha256()
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        for chunk in chunks:
            size += len(chunk)
            if size > settings.MAX_UPLOAD_BYTES:
                raise TooLarge
            digest.update(chunk)
            file.write(chunk)
    return size, digest.hexdigest()


@transaction.atomic
def choose_mapping(*, import_file: ImportFile, options: dict, actor: User | None) -> None:
    """Keep which column is what, and ask for the dry run."""
    _move(import_file, State.UPLOADED, from_states=[State.UPLOADED, State.CHECKED, State.REFUSED])
    import_file.options = options
    import_file.save(update_fields=["options"])
    request_check(import_file=import_file, actor=actor)


@transaction.atomic
def request_check(*, import_file: ImportFile, actor: User | None) -> None:
    """Ask for the dry run in the background."""
    _move(import_file, State.CHECKING, from_states=[State.UPLOADED, State.CHECKED, State.REFUSED])
    _enqueue(import_file, "check_import", actor)


@transaction.atomic
def request_apply(
    *,
    import_file: ImportFile,
    leave_out_rejected: bool,
    update_changed: bool,
    actor: User | None,
) -> None:
    """Ask for the import in the background."""
    _move(import_file, State.APPLYING, from_states=[State.CHECKED])
    _enqueue(
        import_file,
        "apply_import",
        actor,
        leave_out_rejected=leave_out_rejected,
        update_changed=update_changed,
    )


def _enqueue(import_file: ImportFile, kind: str, actor: User | None, **payload) -> None:
    job = enqueue(
        study=import_file.study,
        kind=kind,
        key=str(import_file.public_id),
        actor=actor,
        import_file=str(import_file.public_id),
        **payload,
    )
    ImportFile.objects.filter(pk=import_file.pk).update(job=job)


def _move(import_file: ImportFile, state: str, *, from_states: list[str]) -> None:
    changed = ImportFile.objects.filter(pk=import_file.pk, state__in=from_states).update(
        state=state, refusal=""
    )
    if changed != 1:
        raise NotInThisState
    import_file.state = state


def check_import(*, import_file: ImportFile, progress=None) -> Outcome | None:
    """Run the dry run and keep what it found; None if the file is refused."""
    try:
        outcome = _run(
            import_file, write=False, progress=timed(progress) if progress else None
        )
    except ImportRefused as refusal:
        _refuse(import_file, State.REFUSED, str(refusal))
        return None
    with transaction.atomic():
        _keep(import_file, outcome)
        _save(import_file, state=State.CHECKED, refusal="")
    return outcome


def apply_import(
    *,
    import_file: ImportFile,
    leave_out_rejected: bool = False,
    update_changed: bool = False,
    actor: User | None = None,
    finish=None,
) -> Outcome | None:
    """Import the file, its record and the end of the job in one transaction.

    A file that cannot be imported as it stands goes back to the person, with
    the reason; nothing of it is kept then.
    """
    try:
        with transaction.atomic():
            outcome = _run(
                import_file,
                write=True,
                leave_out_rejected=leave_out_rejected,
                update_changed=update_changed,
                actor=actor,
            )
            _keep(import_file, outcome)
            _close(import_file, outcome, actor, leave_out_rejected, update_changed)
            if finish is not None:
                finish()
    except ImportRefused as refusal:
        _refuse(import_file, State.CHECKED, str(refusal))
        return None
    return outcome


@transaction.atomic
def discard_import(*, import_file: ImportFile, actor: User | None) -> None:
    """Forget a file that was never imported, bytes included."""
    waiting = [State.UPLOADED, State.CHECKED, State.REFUSED]
    deleted = ImportFile.objects.filter(pk=import_file.pk, state__in=waiting).delete()[0]
    if not deleted:
        raise NotInThisState
    path = stored_path(import_file)
    record(
        study=import_file.study, actor=actor, verb="import_discarded", subject=import_file.name
    )
    transaction.on_commit(lambda: path.unlink(missing_ok=True))


def _run(import_file: ImportFile, **asked) -> Outcome:
    return import_path(
        study=import_file.study,
        kind=import_file.kind,
        path=stored_path(import_file),
        name=import_file.name,
        options=import_file.options,
        **asked,
    )


def _keep(import_file: ImportFile, outcome: Outcome) -> None:
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
    _save(import_file, counts=outcome.counts, notes=_notes(import_file, outcome))


def _notes(import_file: ImportFile, outcome: Outcome) -> list[str]:
    twins = import_file.study.import_files.filter(
        sha256=import_file.sha256, state=State.APPLIED
    ).exclude(pk=import_file.pk)
    if not twins.exists():
        return outcome.notes
    twin = _("This very file was imported before; importing it again adds nothing new.")
    return [twin, *outcome.notes]


def _close(
    import_file: ImportFile,
    outcome: Outcome,
    actor: User | None,
    leave_out_rejected: bool,
    update_changed: bool,
) -> None:
    campaigns = Campaign.objects.filter(pk__in=outcome.campaign_ids[:1])
    _save(
        import_file,
        state=State.APPLIED,
        refusal="",
        applied_at=timezone.now(),
        campaign=campaigns.first(),
    )
    record(
        study=import_file.study,
        actor=actor,
        verb="import_applied",
        subject=import_file.name,
        counts=outcome.counts,
        sha256=import_file.sha256,
        leave_out_rejected=leave_out_rejected,
        update_changed=update_changed,
    )


def _refuse(import_file: ImportFile, state: str, reason: str) -> None:
    _save(import_file, state=state, refusal=reason)


def _save(import_file: ImportFile, **changes) -> None:
    for name, value in changes.items():
        setattr(import_file, name, value)
    import_file.save(update_fields=list(changes))

"""State of an uploaded file, and decisions about its near-duplicates."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy

from cqa_site.files.format_parts import asked_with_uploads
from cqa_site.files.models import ImportBatch, ImportFile
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import enqueue
from cqa_site.tabular import printable_name
from cqa_site.web.uploads import path_of, write_upload
from .imports import READING

State = ImportFile.State
FOLDER = ImportFile.STORED_IN
CHECK_JOB = "check_import"
APPLY_JOB = "apply_import"
BUSY = gettext_lazy("This file is being processed or was already imported.")
# Options of a file with the decisions about near matches: per row, the id of the answer or that it
# is a different one; and one decision for all other rows.
BY_ROW, FOR_ALL = "decisions", "near"
DECISIONS = (BY_ROW, FOR_ALL)
# Kinds that fit the file's content, with the reasons, unless a person has chosen a kind.
FITS = "fits"
# Reason why the content cannot be shown, and options with which the file could be read.
TROUBLE, PROPOSED = "trouble", "proposed"
# Option of an archive: groups of the files in it.
INSIDE = "inside"


class NotInThisState(Exception):
    """Raised if the file has been imported or discarded, or is being processed."""


def stored_path(import_file: ImportFile) -> Path:
    """Return the path of the stored bytes; the name on disk never comes from the client."""
    return path_of(FOLDER, import_file.stored_as)


def store_upload(
    *,
    study: Study,
    kind: str,
    name: str,
    chunks: Iterable[bytes],
    actor: User | None,
    options: dict | None = None,
    batch: ImportBatch | None = None,
) -> ImportFile:
    """Stream an upload to disk under a random name; raises TooLarge above the limit."""
    stored = write_upload(FOLDER, chunks)
    try:
        return ImportFile.objects.create(
            study=study,
            kind=kind,
            name=printable_name(name),
            sha256=stored.sha256,
            size=stored.size,
            stored_as=stored.stored_as,
            options=options or {},
            batch=batch,
            created_by=actor,
        )
    except BaseException:
        path_of(FOLDER, stored.stored_as).unlink(missing_ok=True)
        raise


@transaction.atomic
def choose_mapping(*, import_file: ImportFile, options: dict, actor: User | None) -> None:
    """Store the column mapping and request the dry run; decisions about rows are kept."""
    _move(import_file, State.UPLOADED, from_states=_free_states(import_file))
    names = (*DECISIONS, FITS)
    decisions = {name: import_file.options[name] for name in names if name in import_file.options}
    import_file.options = decisions | options
    import_file.save(update_fields=["options"])
    request_check(import_file=import_file, actor=actor)


@transaction.atomic
def choose_reading(*, import_file: ImportFile, chosen: dict) -> None:
    """Store the options for opening a file, and detect its content again."""
    waiting = [State.UPLOADED, State.CHECKED, State.REFUSED]
    _move(import_file, State.UPLOADED, from_states=waiting)
    stale = (TROUBLE, PROPOSED, "mapping")
    values = {name: value for name, value in import_file.options.items() if name not in stale}
    import_file.options = values | chosen
    import_file.save(update_fields=["options"])


@transaction.atomic
def choose_kind(*, import_file: ImportFile, kind: str) -> None:
    """Change the kind of a file, and discard the findings for the old kind."""
    waiting = [State.UPLOADED, State.CHECKED, State.REFUSED]
    _move(import_file, State.UPLOADED, from_states=waiting)
    names = {*READING, *(option.name for option in asked_with_uploads())}
    import_file.kind = kind
    import_file.options = {
        name: value for name, value in import_file.options.items() if name in names
    }
    import_file.counts, import_file.rows, import_file.notes = {}, {}, []
    import_file.save(update_fields=["kind", "options", "counts", "rows", "notes"])
    import_file.problems.all().delete()
    import_file.matches.all().delete()


@transaction.atomic
def request_check(*, import_file: ImportFile, actor: User | None) -> None:
    """Request a dry run in the background, even if an earlier job was interrupted."""
    _move(import_file, State.CHECKING, from_states=_free_states(import_file))
    _enqueue(import_file, CHECK_JOB, actor)


def _free_states(import_file: ImportFile) -> list[str]:
    states: list[str] = [State.UPLOADED, State.CHECKED, State.REFUSED]
    return states + [State.CHECKING, State.APPLYING] * is_stranded(import_file)


def is_stranded(import_file: ImportFile) -> bool:
    """Return whether the file is marked as in progress although no job is active."""
    working = import_file.state in (State.CHECKING, State.APPLYING)
    return working and not (import_file.job and import_file.job.is_active)


@transaction.atomic
def request_apply(
    *, import_file: ImportFile, leave_out_rejected: bool, update_changed: bool, actor: User | None
) -> None:
    _move(import_file, State.APPLYING, from_states=[State.CHECKED])
    _enqueue(
        import_file,
        APPLY_JOB,
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


def _move(import_file: ImportFile, state: str, *, from_states: Sequence[str]) -> None:
    changed = ImportFile.objects.filter(pk=import_file.pk, state__in=from_states).update(
        state=state, refusal=""
    )
    if changed != 1:
        raise NotInThisState(BUSY)
    import_file.state = state


@transaction.atomic
def discard_import(*, import_file: ImportFile, actor: User | None) -> None:
    """Delete a file that was never imported, including its bytes."""
    waiting = [State.UPLOADED, State.CHECKED, State.REFUSED]
    deleted = ImportFile.objects.filter(pk=import_file.pk, state__in=waiting).delete()[0]
    if not deleted:
        raise NotInThisState(BUSY)
    path = stored_path(import_file)
    record(study=import_file.study, actor=actor, verb="import_discarded", subject=import_file.name)
    transaction.on_commit(lambda: path.unlink(missing_ok=True))


# Decisions about texts that nearly equal texts of the study

SAME, OTHER = "same", "other"


class NoSuchMatch(Exception):
    """Raised if one of the given rows has no near match."""


def decided(
    options: Mapping[str, Any], row: int, alike: Mapping[str, int]
) -> tuple[str, int | None]:
    """Return the decision about a row, and the key of the matched text if one was chosen.

    A decision for a text that is no longer in ``alike`` (id → key) is ignored.
    """
    decision = (options.get(BY_ROW) or {}).get(str(row), "")
    if decision in alike:
        return SAME, alike[decision]
    if decision == OTHER:
        return OTHER, None
    word = options.get(FOR_ALL) or ""
    return (word if word in (SAME, OTHER) else ""), None


@transaction.atomic
def decide_matches(
    *,
    import_file: ImportFile,
    decision: str,
    rows: Iterable[int] | None = None,
    actor: User | None,
) -> None:
    """Decide whether near matches are the same or different, then check the file again.

    Without ``rows``, the decision applies to all rows. Raises NoSuchMatch for a row without a near
    match, and NotInThisState.
    """
    matches = import_file.matches.all()
    if rows is None:
        chosen = list(matches)
    else:
        wanted = set(rows)
        chosen = list(matches.filter(row__in=wanted))
        if not chosen or {match.row for match in chosen} != wanted:
            raise NoSuchMatch
    ids = {match.row: str(match.known) for match in chosen}
    decisions = {str(row): known if decision == SAME else OTHER for row, known in ids.items()}
    option = import_file.options.get(BY_ROW) or {}
    options = import_file.options | {BY_ROW: option | decisions}
    choose_mapping(import_file=import_file, options=options, actor=actor)

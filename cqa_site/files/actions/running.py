"""Dry run and import of a stored file, with the record of what was found."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from cqa_site.files.formats import format_of
from cqa_site.files.models import ImportFile, ImportMatch, ImportProblem
from cqa_site.people.access import record
from cqa_site.people.models import User
from cqa_site.runs.jobs import Work

from .files import stored_path
from .reading import import_path, timed
from .rows import ImportRefused, Outcome

State = ImportFile.State


def run_check(work: Work) -> None:
    """The job of a dry run."""
    check_import(
        import_file=_file_of(work),
        progress=lambda rows: work.progress(rows, note=_("rows read")),
        finish=work.finish,
    )


def run_apply(work: Work) -> None:
    """The job of an import; its progress stays unseen until the one transaction ends."""
    apply_import(
        import_file=_file_of(work),
        leave_out_rejected=work.payload["leave_out_rejected"],
        update_changed=work.payload["update_changed"],
        actor=work.job.created_by,
        finish=work.finish,
    )


def _file_of(work: Work) -> ImportFile:
    return ImportFile.objects.select_related("study").get(
        study=work.study, public_id=work.payload["import_file"]
    )


def check_import(
    *,
    import_file: ImportFile,
    progress: Callable[[int], None] | None = None,
    finish: Callable[[], None] | None = None,
) -> Outcome | None:
    """Run the dry run and keep what it found; None if the file is refused.

    ``finish`` ends the job in the transaction that stores the result, so a
    worker that lost the job stores nothing.
    """
    try:
        outcome = _run(import_file, write=False, progress=timed(progress) if progress else None)
    except ImportRefused as refusal:
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
) -> Outcome | None:
    """Import the file, its record and the end of the job in one transaction.

    A file that cannot be imported as it stands goes back to the person, with
    the reason; nothing of it is kept then.
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
    import_file.matches.all().delete()
    ImportMatch.objects.bulk_create(
        ImportMatch(
            import_file=import_file,
            row=near.row,
            about=near.about,
            given=near.given,
            found=near.found,
            known=near.known,
            likeness=near.likeness,
            decision=near.decision,
        )
        for near in outcome.near
    )
    _save(
        import_file, counts=outcome.counts, rows=outcome.rows, notes=_notes(import_file, outcome)
    )


def _notes(import_file: ImportFile, outcome: Outcome) -> list[str]:
    twins = import_file.study.import_files.filter(
        sha256=import_file.sha256, state=State.APPLIED
    ).exclude(pk=import_file.pk)
    if not twins.exists():
        return outcome.notes
    twin = _("This very file was imported before; importing it again adds nothing new.")
    return [twin, *outcome.notes]


def _close(
    import_file: ImportFile, outcome: Outcome, actor: User | None, chosen: dict[str, Any]
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
    """Keep why nothing of the file was taken."""
    _save(import_file, state=state, refusal=reason)
    _finish(finish)


def _save(import_file: ImportFile, **changes) -> None:
    for name, value in changes.items():
        setattr(import_file, name, value)
    import_file.save(update_fields=list(changes))

"""Backups that workers make and check: by schedule, or because somebody asked."""

from django.conf import settings

from cqa_site.people.models import User
from cqa_site.runs.jobs import JobRefused, Work, enqueue, handles
from cqa_site.runs.models import Job
from cqa_site.web.housekeeping import chore

from . import kept
from .archive import Archive, Say
from .making import make_backup
from .passphrases import read_passphrase
from .refusals import BackupRefused
from .sealing import keys_here

BACKUP_JOB, CHECK_JOB = "backup", "check_backup"


def ask_for_backup(actor: User | None = None) -> Job:
    """Have a worker make a backup; never two at a time, whoever asks."""
    return enqueue(study=None, kind=BACKUP_JOB, key="site", actor=actor)


def ask_for_check(backup: kept.Kept, actor: User) -> Job:
    """Have a worker read a backup from its first to its last byte."""
    return enqueue(study=None, kind=CHECK_JOB, key=backup.name, actor=actor, name=backup.name)


@handles(BACKUP_JOB)
def back_up(work: Work) -> None:
    """Make a backup, then throw away what need not be kept."""
    file = settings.BACKUP_PASSPHRASE_FILE
    try:
        passphrase = read_passphrase(file) if file else ""
        make_backup(
            kept.new_path(),
            keys=keys_here() if file else None,
            passphrase=passphrase,
            say=_progress_of(work),
        )
    except BackupRefused as refusal:
        raise JobRefused(str(refusal)) from refusal
    kept.throw_away_old()


@handles(CHECK_JOB)
def check(work: Work) -> None:
    """Read a backup; the job fails with the name of the part that is damaged."""
    found = {each.name: each for each in kept.all_kept()}.get(work.payload["name"])
    if found is None:
        raise JobRefused("The backup is no longer there.")
    try:
        with Archive(found.path) as archive:
            archive.check(_progress_of(work))
    except BackupRefused as refusal:
        raise JobRefused(str(refusal)) from refusal


def _progress_of(work: Work) -> Say:
    """Names of files may be longer than a job's note."""
    return lambda done, total, note: work.progress(done, total, note[:200])


@chore("scheduled backups")
def back_up_if_due() -> int:
    """Ask for a backup when the schedule does; return how many were asked for."""
    if not kept.is_due(kept.newest()):
        return 0
    ask_for_backup()
    return 1

"""Pages about stored backups for site administrators."""

from django.conf import settings
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from cqa_site.people.access import PersonRequest, administrator_page, record
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.runs.models import Job
from cqa_site.web.pages import attachment
from . import backup as backup_files
from .backup import BACKUP_JOB, CHECK_JOB, ask_for_backup, ask_for_check


@administrator_page
def site_backups(request: PersonRequest) -> HttpResponse:
    backups = backup_files.all_kept()
    newest = backup_files.newest(backups)
    jobs = Job.objects.filter(study=None, kind=BACKUP_JOB).order_by("-pk")
    context = {
        "rows": list(zip(backups, _checks(backups), strict=True)),
        "newest": newest,
        "is_late": backup_files.is_due(newest),
        "job": jobs.first(),
        "worker_alive": is_worker_alive(),
        "folder": backup_files.folder(),
        "every_hours": settings.BACKUP_EVERY_HOURS,
        "keep_days": settings.BACKUP_KEEP_DAYS,
        "keep_weeks": settings.BACKUP_KEEP_WEEKS,
        "has_passphrase": bool(settings.BACKUP_PASSPHRASE_FILE),
    }
    return render(request, "upkeep/backups.html", context)


@administrator_page
@require_POST
def site_backup_new(request: PersonRequest) -> HttpResponse:
    ask_for_backup(request.user)
    record(study=None, actor=request.user, verb="backup.asked", subject="")
    return redirect("site_backups")


@administrator_page
@require_POST
def site_backup_check(request: PersonRequest, name: str) -> HttpResponse:
    ask_for_check(_listed(name), request.user)
    return redirect("site_backups")


@administrator_page
def site_backup_file(request: PersonRequest, name: str) -> HttpResponseBase:
    """Download a backup, and record the download in the log."""
    backup = _listed(name)
    record(study=None, actor=request.user, verb="backup.downloaded", subject=backup.name)
    response = attachment(backup.path, name=backup.name, content_type="application/zip")
    # Compressing the file again would take long and hide the download size.
    response["Content-Encoding"] = "identity"
    return response


def _listed(name: str) -> backup_files.StoredBackup:
    """Return a backup from the list, without ever using the requested name as a path."""
    for backup in backup_files.all_kept():
        if backup.name == name:
            return backup
    raise Http404


def _checks(backups: list[backup_files.StoredBackup]) -> list[Job | None]:
    """Return the latest check job for each backup, or None if it has no check job."""
    keys = [f"{CHECK_JOB}:{backup.name}" for backup in backups]
    jobs = {job.key: job for job in Job.objects.filter(key__in=keys).order_by("pk")}
    return [jobs.get(key) for key in keys]

"""URLs of pages about backups, the site's state and metrics, and whole studies."""

from django.urls import path

from .backups import views as backups
from .doctor.views import site_state
from .studies import views as studies
from .watching.views import metrics

STUDY = "s/<uuid:study_id>/settings"
BACKUPS = "site/backups/"

urlpatterns = [
    path("metrics", metrics, name="metrics"),
    path("site/", site_state, name="site_state"),
    path(f"{STUDY}/archive/", studies.study_archive, name="study_archive"),
    path(f"{STUDY}/unarchive/", studies.study_unarchive, name="study_unarchive"),
    path(f"{STUDY}/delete/", studies.study_delete, name="study_delete"),
    path("studies/deletions/<uuid:job_id>/", studies.study_deletion, name="study_deletion"),
    path(BACKUPS, backups.site_backups, name="site_backups"),
    path(f"{BACKUPS}new/", backups.site_backup_new, name="site_backup_new"),
    path(f"{BACKUPS}<str:name>/", backups.site_backup_file, name="site_backup_file"),
    path(f"{BACKUPS}<str:name>/check/", backups.site_backup_check, name="site_backup_check"),
]

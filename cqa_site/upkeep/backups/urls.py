"""Addresses of backups."""

from django.urls import path

from . import views

urlpatterns = [
    path("", views.site_backups, name="site_backups"),
    path("new/", views.site_backup_new, name="site_backup_new"),
    path("<str:name>/", views.site_backup_file, name="site_backup_file"),
    path("<str:name>/check/", views.site_backup_check, name="site_backup_check"),
]

"""Addresses of the pages to archive and delete a study."""

from django.urls import path

from . import views

urlpatterns = [
    path("s/<uuid:study_id>/settings/archive/", views.study_archive, name="study_archive"),
    path("s/<uuid:study_id>/settings/unarchive/", views.study_unarchive, name="study_unarchive"),
    path("s/<uuid:study_id>/settings/delete/", views.study_delete, name="study_delete"),
    path("studies/deletions/<uuid:job_id>/", views.study_deletion, name="study_deletion"),
]

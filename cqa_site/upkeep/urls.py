"""Addresses of the pages for site administrators."""

from django.urls import include, path

urlpatterns = [
    path("", include("cqa_site.upkeep.watching.urls")),
    path("", include("cqa_site.upkeep.studies.urls")),
    path("site/", include("cqa_site.upkeep.doctor.urls")),
    path("site/backups/", include("cqa_site.upkeep.backups.urls")),
]

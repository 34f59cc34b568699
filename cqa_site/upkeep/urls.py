"""Addresses of the pages on which administrators look after the site."""

from django.urls import include, path

urlpatterns = [
    path("", include("cqa_site.upkeep.watching.urls")),
    path("", include("cqa_site.upkeep.studies.urls")),
    path("site/", include("cqa_site.upkeep.doctor.urls")),
    path("site/backups/", include("cqa_site.upkeep.backups.urls")),
]

"""Addresses inside a study; each module of views lists its own."""

from django.urls import include, path

from .views import calls, control, endpoints, jobs, packages, prompts

of_study = [
    *jobs.urlpatterns,
    *packages.urlpatterns,
    *endpoints.urlpatterns,
    *control.urlpatterns,
    *calls.urlpatterns,
    *prompts.urlpatterns,
]
urlpatterns = [*jobs.of_site, path("s/<uuid:study_id>/", include(of_study))]

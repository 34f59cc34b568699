"""Addresses inside a study; each module of views lists its own."""

from django.urls import include, path

from .views import control, endpoints, jobs

of_study = [*jobs.urlpatterns, *endpoints.urlpatterns, *control.urlpatterns]
urlpatterns = [path("s/<uuid:study_id>/", include(of_study))]

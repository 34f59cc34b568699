"""Addresses inside a study; each module of views lists its own."""

from django.urls import include, path

from .views import batches, imports

of_study = [*imports.urlpatterns, *batches.urlpatterns]
urlpatterns = [path("s/<uuid:study_id>/", include(of_study))]

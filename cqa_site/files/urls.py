"""Addresses inside a study; each views module lists its own."""

from django.urls import include, path

from .views import batches, imports

of_study = [*imports.urlpatterns, *batches.urlpatterns]
urlpatterns = [path("s/<uuid:study_id>/", include(of_study))]

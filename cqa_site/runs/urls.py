"""URL patterns inside a study; each view module lists its own patterns."""

from django.urls import include, path

from .views import endpoints, runs

of_study = [
    *runs.job_urls, *runs.package_urls, *endpoints.endpoint_urls, *runs.run_urls, *runs.call_urls,
    *endpoints.prompt_urls,
]  # fmt: skip
urlpatterns = [*runs.of_site, path("s/<uuid:study_id>/", include(of_study))]

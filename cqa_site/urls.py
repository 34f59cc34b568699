"""Every address of the site."""

from django.conf import settings
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

from annotation.views.crowd import participant_urlpatterns
from benchmark.views.public_board import public_urlpatterns
from cqa_site import home

urlpatterns = [
    path("", home.home, name="home"),
    path("healthz", home.health, name="health"),
    path("", include(participant_urlpatterns)),
    path("", include(public_urlpatterns)),
    path("", include("cqa_site.people.urls")),
    path("", include("cqa_site.runs.urls")),
    path("s/<uuid:study_id>/", include("annotation.urls")),
    path("s/<uuid:study_id>/", include("benchmark.urls")),
    path("s/<uuid:study_id>/", include("argsum.urls")),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    # First, because the last address of the other list answers everything.
    path("api/v1/", include("benchmark.api_urls")),
    path("api/v1/", include("argsum.api_urls")),
    path("api/v1/", include("annotation.api_urls")),
]

if settings.DEBUG:
    urlpatterns += [path("design/", home.design, name="design")]

"""Every address of the site."""

from django.apps import apps
from django.conf import settings
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

from cqa_site import home
from cqa_site.web.health import health

# Papers that a site may leave out of INSTALLED_APPS, each with all its addresses.
PAPERS = [each for each in ("benchmark", "argsum") if apps.is_installed(each)]

urlpatterns = [
    path("", home.home, name="home"),
    path("healthz", health, name="health"),
    path("papers/<slug:paper>.md", home.paper_notes, name="paper_notes"),
    path("", include("cqa_site.rounds.crowd.urls")),
    *(path("", include(f"{paper}.public_urls")) for paper in PAPERS),
    path("", include("cqa_site.people.urls")),
    path("", include("cqa_site.runs.urls")),
    path("s/<uuid:study_id>/", include("annotation.urls")),
    *(path("s/<uuid:study_id>/", include(f"{paper}.urls")) for paper in PAPERS),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    # First, because the last address of the other list answers everything.
    *(path("api/v1/", include(f"{paper}.api_urls")) for paper in PAPERS),
    path("api/v1/", include("annotation.api_urls")),
]

handler500 = "cqa_site.web.unavailable.error_500"

if settings.DEBUG:
    urlpatterns += [path("design/", home.design, name="design")]

"""URL configuration of the site."""

from django.apps import apps
from django.conf import settings
from django.urls import include, path, re_path
from django.utils.module_loading import import_string

from cqa_site.api.studies import UnknownAddress
from cqa_site.home import pages
from cqa_site.home.interface import Schema
from cqa_site.web.outages import health

# Apps of papers that a site may remove from INSTALLED_APPS, together with all their addresses.
PAPERS = [app for app in ("benchmark", "argsum") if apps.is_installed(app)]
# URL modules of the REST API; an unknown address returns the API's own 404 response.
API = [
    "cqa_site.api.studies",
    "cqa_site.rounds.crowd.api_urls",
    "cqa_site.rounds.onboarding.api_urls",
    "cqa_site.rounds.rules.api",
    "cqa_site.controls.api",
    "cqa_site.pay.api_urls",
    "cqa_site.runs.api_urls",
    "cqa_site.files.api_urls",
    "cqa_site.upkeep.studies.api",
    *(f"{paper}.api_urls" for paper in ("annotation", *PAPERS)),
]

urlpatterns = [
    path("", pages.home, name="home"),
    path("healthz", health, name="health"),
    path("", include("cqa_site.home.help")),
    path("", include("cqa_site.rounds.crowd.urls")),
    path("", include("cqa_site.rounds.onboarding.urls")),
    path("", include("cqa_site.rounds.rules.pages")),
    path("", include("cqa_site.rounds.typing_signals")),
    path("", include("cqa_site.rounds.pages.replies")),
    *(path("", include(import_string(f"{paper}.urls.public_urlpatterns"))) for paper in PAPERS),
    path("", include("cqa_site.people.urls")),
    path("", include("cqa_site.runs.urls")),
    path("s/<uuid:study_id>/", include("cqa_site.files.views.imports")),
    path("s/<uuid:study_id>/", include("cqa_site.files.views.batches")),
    path("", include("cqa_site.controls.pages")),
    path("", include("cqa_site.controls.example_pages")),
    path("", include("cqa_site.pay.urls")),
    path("", include("cqa_site.upkeep.urls")),
    path("s/<uuid:study_id>/", include("annotation.urls")),
    path("s/<uuid:study_id>/", include("cqa_site.home.pages")),
    path("s/<uuid:study_id>/", include("cqa_site.home.interface")),
    *(path("s/<uuid:study_id>/", include(f"{paper}.urls")) for paper in PAPERS),
    path("api/schema/", Schema.as_view(), name="schema"),
    *(path("api/v1/", include(addresses)) for addresses in API),
    re_path(r"^api/v1/", UnknownAddress.as_view(), name="api_unknown"),
]

handler500 = "cqa_site.web.outages.error_500"

if settings.DEBUG:
    urlpatterns += [path("design/", pages.design, name="design")]

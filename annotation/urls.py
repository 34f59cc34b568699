"""Addresses inside a study; each module of views lists its own."""

from annotation.views import campaigns, crowd, guidelines, label, overview

urlpatterns = [
    *overview.urlpatterns,
    *crowd.urlpatterns,
    *campaigns.urlpatterns,
    *guidelines.urlpatterns,
    *label.urlpatterns,
]

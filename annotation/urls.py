"""Addresses inside a study; each module of views lists its own."""

from annotation.views import (
    adjudication,
    campaigns,
    crowd,
    exports,
    figure_files,
    figures,
    final_labels,
    guidelines,
    imports,
    label,
    overview,
    quality,
    questions,
    snapshots,
)

urlpatterns = [
    *overview.urlpatterns,
    *crowd.urlpatterns,
    *campaigns.urlpatterns,
    *guidelines.urlpatterns,
    *label.urlpatterns,
    *quality.urlpatterns,
    *adjudication.urlpatterns,
    *final_labels.urlpatterns,
    *imports.urlpatterns,
    *exports.urlpatterns,
    *questions.urlpatterns,
    *figures.urlpatterns,
    *figure_files.urlpatterns,
    *snapshots.urlpatterns,
]

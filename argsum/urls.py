"""Addresses of argument summarization inside a study; each module of views lists its own."""

from argsum.views import (
    argument_imports,
    count_imports,
    count_sheets,
    counting,
    counting_rounds,
    counting_runs,
    datasets,
    key_point_boards,
    leaderboard,
    score_imports,
    scorers,
    summary_metrics,
    summary_people,
    summary_sets,
    system_runs,
    writing,
)

urlpatterns: list = [
    *datasets.urlpatterns,
    *argument_imports.urlpatterns,
    *counting.urlpatterns,
    *count_imports.urlpatterns,
    *counting_rounds.urlpatterns,
    *count_sheets.urlpatterns,
    *leaderboard.urlpatterns,
    *key_point_boards.urlpatterns,
    *scorers.urlpatterns,
    *summary_metrics.urlpatterns,
    *summary_people.urlpatterns,
    *summary_sets.urlpatterns,
    *system_runs.urlpatterns,
    *writing.urlpatterns,
    *counting_runs.urlpatterns,
    *score_imports.urlpatterns,
]

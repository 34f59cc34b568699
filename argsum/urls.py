"""Addresses of argument summarization inside a study; each module of views lists its own."""

from argsum.analysis.views import analyses, analysis, comparing, history, points, report
from argsum.analysis.views import writing as point_writing
from argsum.counting.views import counting
from argsum.counting.views import rounds as counting_rounds
from argsum.counting.views import runs as counting_runs
from argsum.counting.views import sheets as count_sheets
from argsum.datasets.views import comments, datasets
from argsum.keypoints.views import sets as summary_sets
from argsum.keypoints.views import system_runs
from argsum.leaderboard.views import boards as key_point_boards
from argsum.leaderboard.views import leaderboard
from argsum.leaderboard.views import metrics as summary_metrics
from argsum.leaderboard.views import people as summary_people
from argsum.scorers import views as scorers
from argsum.writing import views as writing

urlpatterns: list = [
    *datasets.urlpatterns,
    *comments.urlpatterns,
    *analyses.urlpatterns,
    *analysis.urlpatterns,
    *history.urlpatterns,
    *points.urlpatterns,
    *comparing.urlpatterns,
    *report.urlpatterns,
    *point_writing.urlpatterns,
    *counting.urlpatterns,
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
]

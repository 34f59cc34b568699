"""Addresses of the benchmark inside a study; each module of views lists its own."""

from benchmark.preferences import judge_pages
from benchmark.preferences import views as preferences
from benchmark.views import (
    board_files,
    boards,
    distillation,
    rubrics,
    score_agreement,
    score_agreement_files,
    score_imports,
    score_sheets,
    score_watch,
    scoring,
    scoring_examples,
    scoring_rounds,
    scoring_run,
    scoring_runs,
    sheet_export,
)

urlpatterns = [
    *boards.urlpatterns,
    *board_files.urlpatterns,
    *score_agreement.urlpatterns,
    *score_agreement_files.urlpatterns,
    *score_sheets.urlpatterns,
    *score_watch.urlpatterns,
    *scoring.urlpatterns,
    *scoring_rounds.urlpatterns,
    *scoring_examples.urlpatterns,
    *rubrics.urlpatterns,
    *score_imports.urlpatterns,
    *sheet_export.urlpatterns,
    *distillation.urlpatterns,
    *scoring_run.urlpatterns,
    *scoring_runs.urlpatterns,
    *preferences.urlpatterns,
    *judge_pages.urlpatterns,
]

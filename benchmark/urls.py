"""Addresses of the benchmark inside a study; each module of views lists its own."""

from benchmark.agreement.views import agreement as score_agreement
from benchmark.agreement.views import sheets as score_sheets
from benchmark.agreement.views import watch as score_watch
from benchmark.distillation import views as distillation
from benchmark.judges.views import run as scoring_run
from benchmark.judges.views import runs as scoring_runs
from benchmark.leaderboard.views import boards
from benchmark.leaderboard.views import files as board_files
from benchmark.preferences import judge_pages
from benchmark.preferences import views as preferences
from benchmark.rubrics import views as rubrics
from benchmark.scoring.views import examples as scoring_examples
from benchmark.scoring.views import rounds as scoring_rounds
from benchmark.scoring.views import scoring, sheet_export

urlpatterns = [
    *boards.urlpatterns,
    *board_files.urlpatterns,
    *score_agreement.urlpatterns,
    *score_sheets.urlpatterns,
    *score_watch.urlpatterns,
    *scoring.urlpatterns,
    *scoring_rounds.urlpatterns,
    *scoring_examples.urlpatterns,
    *rubrics.urlpatterns,
    *sheet_export.urlpatterns,
    *distillation.urlpatterns,
    *scoring_run.urlpatterns,
    *scoring_runs.urlpatterns,
    *preferences.urlpatterns,
    *judge_pages.urlpatterns,
]

"""Addresses of the benchmark inside a study; each views module lists its own."""

from benchmark.agreement import views as score_agreement
from benchmark.distillation import views as distillation
from benchmark.judges import views as scoring_run
from benchmark.leaderboard.views import boards
from benchmark.preferences import views as preferences
from benchmark.rubrics import views as rubrics
from benchmark.scoring import views as scoring

urlpatterns = [
    *boards.urlpatterns,
    *score_agreement.urlpatterns,
    *scoring.urlpatterns,
    *rubrics.urlpatterns,
    *distillation.urlpatterns,
    *scoring_run.urlpatterns,
    *preferences.urlpatterns,
]

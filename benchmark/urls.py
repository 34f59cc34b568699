"""Addresses of the benchmark inside a study; each views module lists its own."""

from benchmark.agreement import views as agreement
from benchmark.distillation import views as distillation
from benchmark.judges import views as judges
from benchmark.leaderboard.views import boards
from benchmark.preferences import views as preferences
from benchmark.rubrics import views as rubrics
from benchmark.scoring import views as scoring

urlpatterns = [
    *boards.urlpatterns, *agreement.urlpatterns, *scoring.urlpatterns, *rubrics.urlpatterns,
    *distillation.urlpatterns, *judges.urlpatterns, *preferences.urlpatterns,
]  # fmt: skip
# Pages outside any study
public_urlpatterns = boards.public_urlpatterns

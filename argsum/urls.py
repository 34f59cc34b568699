"""URLs of argument summarization in a study, collected from the views modules."""

from argsum.analysis.views import analyses, points, report, runs, sign_off, voices
from argsum.auditing import views as auditing
from argsum.coding import views as coding
from argsum.counting import views as counting
from argsum.datasets import views as datasets
from argsum.keypoints import views as keypoints
from argsum.leaderboard.views import agreement as leaderboard_agreement, leaderboard
from argsum.prose import views as prose
from argsum.scorers import views as scorers
from argsum.surveys import views as surveys
from argsum.writing import views as writing

urlpatterns: list = [
    *datasets.urlpatterns, *analyses.urlpatterns, *points.urlpatterns, *report.urlpatterns,
    *runs.urlpatterns, *sign_off.urlpatterns, *voices.urlpatterns, *auditing.urlpatterns,
    *prose.urlpatterns, *coding.urlpatterns, *counting.urlpatterns, *leaderboard.urlpatterns,
    *scorers.urlpatterns, *leaderboard_agreement.urlpatterns, *keypoints.urlpatterns,
    *surveys.urlpatterns, *writing.urlpatterns,
]  # fmt: skip
# URLs outside any study
public_urlpatterns = leaderboard.public_urlpatterns

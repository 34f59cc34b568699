"""Addresses of the benchmark in the REST API."""

from benchmark.agreement import api as agreement
from benchmark.distillation import api as distillation
from benchmark.judges import api as judges
from benchmark.leaderboard import api as leaderboard
from benchmark.preferences import api as preferences
from benchmark.rubrics import api as rubrics
from benchmark.scoring import api as scoring
from cqa_site.api.base import CREATE, LIST, ROW, R, S, address, resource
from cqa_site.rounds.api import round_addresses

urlpatterns = [
    *round_addresses(
        scoring.ROUNDS,
        S + "scoring-rounds/",
        "round_id",
        ("scoring_round", "scoring_items", "scorers", "scorer_decide"),
    ),
    *round_addresses(
        preferences.ROUNDS,
        S + "preference-rounds/",
        "preference_id",
        ("preference_round", "preference_items", "preferrers", "preferrer_decide"),
    ),
    *resource(
        S + "preference-sheets/",
        "preference_sheets",
        "preference_sheet",
        preferences.PreferenceSheetViews,
    ),
    address(S + "preferences/", "preferences", preferences.PreferenceViews, **ROW),
    address(S + "training-data/", "distillation", distillation.DistillationViews, **ROW),
    address(R + "scoring/", "scoring", judges.ScoringViews, **ROW),
    address(R + "sheets/", "run_sheets", judges.RunSheetViews, **LIST),
    address(R + "probes/", "probes", judges.ProbeViews, **LIST),
    *resource(S + "rubrics/", "rubrics", "rubric", rubrics.RubricViews, listed=CREATE),
    *resource(S + "score-sheets/", "score_sheets", "score_sheet", scoring.ScoreSheetViews),
    address(S + "score-agreement/", "score_agreement", agreement.ScoreAgreementViews, **ROW),
    *resource(
        S + "boards/",
        "boards",
        "board",
        leaderboard.BoardViews,
        "part freeze publish withdraw",
        list_views=leaderboard.BoardListViews,
    ),
    address(S + "boards/refresh/", "boards_refresh", leaderboard.BoardViews, post="refresh"),
    address(
        S + "boards/<uuid:public_id>/rows/", "board_rows", leaderboard.BoardViews, get="sheets"
    ),
]

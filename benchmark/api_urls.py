"""Addresses of the benchmark in the REST interface."""

from benchmark.api import (
    agreement,
    boards,
    distillation,
    rubrics,
    scoring_rounds,
    scoring_runs,
    sheets,
)
from benchmark.preferences import api as preferences
from cqa_site.api.addresses import CREATE, LIST, ROW, R, S, address
from cqa_site.rounds.api import round_addresses

urlpatterns = [
    *round_addresses(
        scoring_rounds.ROUNDS,
        S + "scoring-rounds/",
        "round_id",
        ("scoring_round", "scoring_items", "scorers", "scorer_decide"),
    ),
    address(
        S + "scoring-rounds/<uuid:round_id>/examples/",
        "scoring_examples",
        scoring_rounds.ScoringExampleViews,
        post="set_example",
    ),
    *round_addresses(
        preferences.ROUNDS,
        S + "preference-rounds/",
        "preference_id",
        ("preference_round", "preference_items", "preferrers", "preferrer_decide"),
    ),
    address(
        S + "preference-sheets/", "preference_sheets", preferences.PreferenceSheetViews, **LIST
    ),
    address(
        S + "preference-sheets/<uuid:public_id>/",
        "preference_sheet",
        preferences.PreferenceSheetViews,
        **ROW,
    ),
    address(S + "preferences/", "preferences", preferences.PreferenceViews, **ROW),
    address(S + "training-data/", "distillation", distillation.DistillationViews, **ROW),
    address(R + "scoring/", "scoring", scoring_runs.ScoringViews, **ROW),
    address(R + "sheets/", "run_sheets", scoring_runs.RunSheetViews, **LIST),
    address(R + "probes/", "probes", scoring_runs.ProbeViews, **LIST),
    address(S + "rubrics/", "rubrics", rubrics.RubricViews, **CREATE),
    address(S + "rubrics/<uuid:public_id>/", "rubric", rubrics.RubricViews, **ROW),
    address(S + "score-sheets/", "score_sheets", sheets.ScoreSheetViews, **LIST),
    address(S + "score-sheets/<uuid:public_id>/", "score_sheet", sheets.ScoreSheetViews, **ROW),
    address(S + "score-agreement/", "score_agreement", agreement.ScoreAgreementViews, **ROW),
    address(S + "boards/", "boards", boards.BoardListViews, **LIST),
    address(S + "boards/refresh/", "boards_refresh", boards.BoardViews, post="refresh"),
    address(S + "boards/<uuid:public_id>/", "board", boards.BoardViews, **ROW),
    address(S + "boards/<uuid:public_id>/rows/", "board_rows", boards.BoardViews, get="sheets"),
    address(S + "boards/<uuid:public_id>/part/", "board_part", boards.BoardViews, post="part"),
    address(
        S + "boards/<uuid:public_id>/freeze/", "board_freeze", boards.BoardViews, post="freeze"
    ),
    address(
        S + "boards/<uuid:public_id>/publish/", "board_publish", boards.BoardViews, post="publish"
    ),
    address(
        S + "boards/<uuid:public_id>/withdraw/",
        "board_withdraw",
        boards.BoardViews,
        post="withdraw",
    ),
]

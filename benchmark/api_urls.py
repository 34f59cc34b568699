"""Addresses of the benchmark in the REST interface."""

from annotation.api_urls import CREATE, LIST, ROW, R, S, address
from benchmark.api import (
    agreement,
    boards,
    distillation,
    rubrics,
    scoring_rounds,
    scoring_runs,
    sheets,
)

Q = S + "scoring-rounds/<uuid:round_id>/"
ONE = S + "scoring-rounds/<uuid:public_id>/"

urlpatterns = [
    address(S + "scoring-rounds/", "scoring_rounds", scoring_rounds.ScoringRoundViews, **CREATE),
    address(
        ONE,
        "scoring_round",
        scoring_rounds.ScoringRoundViews,
        **ROW,
        patch="partial_update",
        delete="destroy",
    ),
    address(ONE + "open/", "scoring_round_open", scoring_rounds.ScoringOpenViews, post="move"),
    address(ONE + "close/", "scoring_round_close", scoring_rounds.ScoringCloseViews, post="move"),
    address(
        ONE + "reopen/", "scoring_round_reopen", scoring_rounds.ScoringReopenViews, post="move"
    ),
    address(S + "training-data/", "distillation", distillation.DistillationViews, **ROW),
    address(Q + "items/", "scoring_items", scoring_rounds.ScoringItemViews, **LIST),
    address(
        Q + "examples/", "scoring_examples", scoring_rounds.ScoringItemViews, post="set_example"
    ),
    address(Q + "people/", "scorers", scoring_rounds.ScorerViews, **LIST),
    address(
        Q + "people/<uuid:rater_id>/decide/",
        "scorer_decide",
        scoring_rounds.ScorerViews,
        post="decide",
    ),
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

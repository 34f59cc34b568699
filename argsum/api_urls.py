"""Addresses of argument summarization in the REST interface."""

from argsum.api import (
    count_sheets,
    counting_rounds,
    datasets,
    figures,
    metric_scores,
    scorers,
    summary_sets,
    system_runs,
    systems,
)
from argsum.api.key_point_boards import KeyPointBoardListViews, KeyPointBoardViews
from cqa_site.api.addresses import CREATE, LIST, ROW, R, S, address
from cqa_site.rounds.api import round_addresses

DATASET = S + "datasets/<uuid:public_id>/"
SCORER = S + "scorers/<uuid:public_id>/"

BOARDS = S + "key-points/boards/"
urlpatterns: list = [
    address(S + "scorers/", "text_scorers", scorers.ScorerViews, **CREATE),
    address(S + "scorers/train/", "text_scorers_train", scorers.ScorerViews, post="train"),
    address(SCORER, "text_scorer", scorers.ScorerViews, **ROW, delete="destroy"),
    address(SCORER + "cancel/", "text_scorer_cancel", scorers.ScorerViews, post="cancel"),
    address(SCORER + "resume/", "text_scorer_resume", scorers.ScorerViews, post="resume"),
    address(SCORER + "score/", "text_scorer_score", scorers.ScorerViews, post="score"),
    address(S + "datasets/", "datasets", datasets.DatasetViews, **LIST),
    address(DATASET, "dataset", datasets.DatasetViews, **ROW, delete="destroy"),
    address(DATASET + "recipe/", "dataset_recipe", datasets.DatasetViews, post="recipe"),
    address(S + "datasets/<uuid:dataset_id>/cells/", "dataset_cells", datasets.CellViews, **LIST),
    address(S + "cells/<uuid:public_id>/", "cell", datasets.CellViews, **ROW),
    address(
        S + "cells/<uuid:cell_id>/arguments/",
        "cell_arguments",
        datasets.CellArgumentViews,
        **LIST,
    ),
    *round_addresses(
        counting_rounds.ROUNDS,
        S + "counting-rounds/",
        "counting_id",
        ("counting_round", "counting_items", "counters", "counter_decide"),
    ),
    address(S + "count-sheets/", "count_sheets", count_sheets.CountSheetViews, **LIST),
    address(
        S + "count-sheets/<uuid:public_id>/", "count_sheet", count_sheets.CountSheetViews, **ROW
    ),
    address(
        S + "summarization-systems/",
        "summarization_systems",
        systems.SummarizationSystemViews,
        **ROW,
    ),
    address(S + "system-runs/", "system_runs", system_runs.SystemRunViews, **CREATE),
    address(S + "system-runs/<uuid:public_id>/", "system_run", system_runs.SystemRunViews, **ROW),
    address(
        S + "system-runs/<uuid:public_id>/cancel/",
        "system_run_cancel",
        system_runs.SystemRunViews,
        post="cancel",
    ),
    address(
        S + "system-runs/<uuid:public_id>/resume/",
        "system_run_resume",
        system_runs.SystemRunViews,
        post="resume",
    ),
    address(
        S + "system-runs/<uuid:public_id>/figures/",
        "system_run_figures",
        system_runs.SystemRunViews,
        get="figures",
    ),
    address(S + "summary-sets/", "summary_sets", summary_sets.SummarySetViews, **LIST),
    address(
        S + "summary-sets/<uuid:public_id>/",
        "summary_set",
        summary_sets.SummarySetDetailViews,
        **ROW,
    ),
    address(S + "key-points/leaderboard/", "key_points", figures.SummaryBoardViews, **ROW),
    address(
        BOARDS,
        "key_point_boards",
        KeyPointBoardListViews,
        **LIST,
    ),
    address(
        BOARDS + "ask/",
        "key_point_boards_ask",
        KeyPointBoardViews,
        post="ask",
    ),
    address(
        BOARDS + "<uuid:public_id>/",
        "key_point_board",
        KeyPointBoardViews,
        **ROW,
    ),
    address(
        BOARDS + "<uuid:public_id>/rows/",
        "key_point_board_rows",
        KeyPointBoardViews,
        get="kept_rows",
    ),
    *(
        address(
            BOARDS + f"<uuid:public_id>/{verb}/",
            f"key_point_board_{verb}",
            KeyPointBoardViews,
            post=verb,
        )
        for verb in ("freeze", "publish", "withdraw")
    ),
    address(S + "key-points/correlations/", "summary_metrics", figures.CorrelationViews, **ROW),
    address(
        S + "key-points/correlations/points/",
        "summary_metric_points",
        figures.CorrelationViews,
        get="points",
    ),
    address(S + "key-points/people/", "summary_people", figures.PeopleAgreementViews, **ROW),
    address(S + "metric-scores/", "metric_scores", metric_scores.MetricScoreViews, **LIST),
    address(
        S + "metric-scores/compute/",
        "metric_scores_compute",
        metric_scores.MetricScoreViews,
        post="compute",
    ),
    address(R + "counts/", "run_counts", metric_scores.CountReplyViews, **LIST),
]

"""URLs of argument summarization in the REST API."""

from argsum.analysis.api import analyses, comparison, points, sign_off, voices
from argsum.auditing import api as auditing
from argsum.coding import api as coding
from argsum.counting import api as counting
from argsum.datasets import api as datasets
from argsum.keypoints import api as keypoints
from argsum.leaderboard import api as leaderboard
from argsum.leaderboard.api import KeyPointBoardListViews, KeyPointBoardViews
from argsum.metrics import api as metrics
from argsum.scorers import api as scorers
from argsum.surveys import api as surveys
from cqa_site.api.base import CHANGE, CREATE, LIST, REMOVE, ROW, R, S, address, posts, resource
from cqa_site.rounds.api import round_addresses

BOARDS = S + "key-points/boards/"
ANALYSES = S + "analyses/"
BELOW = ANALYSES + "<uuid:analysis_id>/"
POINTS = BELOW + "points/"
DUPLICATES = S + "cells/<uuid:cell_id>/near-duplicates/"
EDITS = ("state", "merge", "move", "split", "parts", "theme")
urlpatterns: list = [
    *resource(
        ANALYSES,
        "analyses",
        "analysis",
        analyses.AnalysisViews,
        "cancel resume place",
        listed=CREATE,
        row=REMOVE,
    ),
    address(ANALYSES + "dataset/", "analyses_dataset", analyses.AnalysisViews, post="dataset"),
    address(POINTS, "found_points", points.FoundPointViews, **CREATE),
    *(
        address(f"{POINTS}{edit}/", f"found_points_{edit}", points.FoundPointViews, post=edit)
        for edit in EDITS
    ),
    address(BELOW + "themes/", "themes", points.FoundPointViews, get="themes"),
    *(
        address(
            f"{BELOW}themes/{edit}/",
            f"themes_{edit}",
            points.FoundPointViews,
            post=f"{edit}_themes",
        )
        for edit in ("rename", "merge")
    ),
    address(POINTS + "<uuid:public_id>/", "found_point", points.FoundPointViews, **CHANGE),
    address(
        POINTS + "<uuid:public_id>/statements/",
        "found_point_statements",
        points.PlacedViews,
        **LIST,
    ),
    address(BELOW + "rest/", "analysis_rest", points.PlacedViews, **LIST),
    address(
        BELOW + "sign-off/",
        "analysis_sign_off",
        sign_off.SignOffViews,
        get="retrieve",
        post="create",
    ),
    address(BELOW + "changes/", "point_changes", analyses.PointChangeViews, **LIST),
    address(BELOW + "changes/undo/", "point_changes_undo", points.FoundPointViews, post="undo"),
    *resource(
        S + "scorers/",
        "text_scorers",
        "text_scorer",
        scorers.ScorerViews,
        "cancel resume score",
        listed=CREATE,
        row=REMOVE,
    ),
    address(S + "scorers/encoders/", "encoders", scorers.ScorerViews, get="encoders"),
    address(
        S + "scorers/encoders/install/", "encoder_install", scorers.ScorerViews, post="install"
    ),
    address(S + "scorers/train/", "text_scorers_train", scorers.ScorerViews, post="train"),
    address(
        S + "scorers/train-writer/", "writers_train", scorers.ScorerViews, post="train_writer"
    ),
    *resource(S + "datasets/", "datasets", "dataset", datasets.DatasetViews, "recipe", row=REMOVE),
    *resource(S + "surveys/", "surveys", "survey", surveys.SurveyViews, "analyse", row=REMOVE),
    address(S + "datasets/<uuid:dataset_id>/cells/", "dataset_cells", datasets.CellViews, **LIST),
    address(S + "cells/<uuid:public_id>/", "cell", datasets.CellViews, **ROW),
    address(
        S + "cells/<uuid:cell_id>/arguments/", "cell_arguments", datasets.CellArgumentViews, **LIST
    ),
    address(
        S + "cells/<uuid:cell_id>/comments/", "cell_comments", datasets.CellCommentViews, **LIST
    ),
    address(DUPLICATES, "near_duplicates", voices.NearDuplicateGroupViews, **LIST),
    address(
        DUPLICATES + "find/", "near_duplicates_find", voices.NearDuplicateGroupViews, post="find"
    ),
    address(
        DUPLICATES + "<uuid:public_id>/comments/",
        "near_duplicate_group",
        voices.NearDuplicateViews,
        **LIST,
    ),
    address(
        DUPLICATES + "<uuid:public_id>/change/",
        "near_duplicate_group_change",
        voices.NearDuplicateGroupViews,
        post="change",
    ),
    *round_addresses(
        counting.ROUNDS,
        S + "counting-rounds/",
        "counting_id",
        ("counting_round", "counting_items", "counters", "counter_decide"),
    ),
    *resource(S + "count-sheets/", "count_sheets", "count_sheet", counting.CountSheetViews),
    address(
        S + "summarization-systems/",
        "summarization_systems",
        keypoints.SummarizationSystemViews,
        **ROW,
    ),
    *resource(
        S + "system-runs/",
        "system_runs",
        "system_run",
        keypoints.SystemRunViews,
        "cancel resume",
        listed=CREATE,
    ),
    address(
        S + "system-runs/<uuid:public_id>/figures/",
        "system_run_figures",
        keypoints.SystemRunViews,
        get="figures",
    ),
    *resource(
        S + "summary-sets/",
        "summary_sets",
        "summary_set",
        keypoints.SummarySetDetailViews,
        list_views=keypoints.SummarySetViews,
    ),
    address(BELOW + "groups/", "analysis_groups", comparison.GroupsViews, **ROW),
    address(BELOW + "audit/", "analysis_audit", auditing.AnalysisAuditViews, **ROW),
    *round_addresses(
        auditing.ROUNDS,
        S + "audit-rounds/",
        "audit_id",
        ("audit_round", "audit_items", "auditors", "auditor_decide"),
    ),
    *resource(S + "audit-sheets/", "audit_sheets", "audit_sheet", auditing.AuditSheetViews),
    address(BELOW + "time/", "analysis_trends", comparison.TrendsViews, **ROW),
    address(BELOW + "report/", "analysis_report", comparison.ReportViews, **ROW),
    address(S + "key-points/leaderboard/", "key_points", leaderboard.SummaryBoardViews, **ROW),
    *resource(
        BOARDS,
        "key_point_boards",
        "key_point_board",
        KeyPointBoardViews,
        "freeze publish withdraw",
        list_views=KeyPointBoardListViews,
    ),
    *posts(BOARDS, "key_point_boards", KeyPointBoardViews, "ask"),
    address(
        BOARDS + "<uuid:public_id>/rows/",
        "key_point_board_rows",
        KeyPointBoardViews,
        get="kept_rows",
    ),
    address(
        S + "key-points/correlations/", "summary_metrics", leaderboard.CorrelationViews, **ROW
    ),
    address(
        S + "key-points/correlations/points/",
        "summary_metric_points",
        leaderboard.CorrelationViews,
        get="points",
    ),
    address(S + "key-points/people/", "summary_people", leaderboard.PeopleAgreementViews, **ROW),
    address(S + "metric-scores/", "metric_scores", metrics.MetricScoreViews, **LIST),
    *posts(S + "metric-scores/", "metric_scores", metrics.MetricScoreViews, "compute"),
    address(R + "codes/", "run_codes", coding.CodedStatementViews, **LIST),
    address(R + "counts/", "run_counts", metrics.CountReplyViews, **LIST),
]

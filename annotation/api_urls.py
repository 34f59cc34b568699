"""Addresses of the REST interface; every one but the first two lies inside a study."""

from django.urls import URLPattern, path, re_path

from annotation.api import (
    answers,
    calls,
    cam,
    campaigns,
    consensus,
    crowd,
    editing,
    endpoints,
    faithfulness,
    files,
    imports,
    judges,
    labels,
    people,
    prompts,
    quality,
    retrieval,
    runs,
    studies,
)

S = "studies/<uuid:study_id>/"
C = S + "campaigns/<uuid:campaign_id>/"
R = S + "runs/<uuid:run_id>/"
E = S + "editing-rounds/<uuid:round_id>/"
LIST, ROW = {"get": "list"}, {"get": "retrieve"}
CREATE = {"get": "list", "post": "create"}


def address(route: str, name: str, views: type, **methods: str) -> URLPattern:
    """One address and which method of the class answers which HTTP method."""
    return path(route, views.as_view(methods), name=f"api_{name}")


urlpatterns = [
    path("me/", studies.MeView.as_view(), name="api_me"),
    address("studies/", "studies", studies.StudyNameViews, **CREATE),
    address(S, "study", studies.StudyDetailViews, **ROW, patch="partial_update"),
    address(S + "log/", "log", people.LogViews, **LIST),
    address(S + "members/", "members", people.MemberViews, **LIST),
    address(S + "members/<uuid:public_id>/", "member", people.MemberViews, patch="partial_update"),
    address(S + "invitations/", "invitations", people.InvitationViews, **CREATE),
    address(S + "invitations/<uuid:public_id>/", "invitation", people.InvitationViews, **ROW),
    address(
        S + "invitations/<uuid:public_id>/revoke/",
        "invitation_revoke",
        people.InvitationViews,
        post="revoke",
    ),
    address(S + "comparisons/", "comparisons", retrieval.ComparisonListViews, **CREATE),
    address(S + "comparisons/<uuid:public_id>/", "comparison", studies.ComparisonViews, **ROW),
    address(S + "comparisons/<uuid:comparison_id>/find/", "find", retrieval.FindViews, get="find"),
    address(
        S + "comparisons/<uuid:comparison_id>/take/", "find_take", retrieval.FindViews, post="take"
    ),
    address(S + "corpora/", "corpora", retrieval.CorpusUploadViews, **CREATE),
    address(
        S + "corpora/<uuid:public_id>/", "corpus", retrieval.CorpusViews, **ROW, delete="destroy"
    ),
    address(
        S + "corpora/<uuid:public_id>/check/", "corpus_check", retrieval.CorpusViews, post="check"
    ),
    address(
        S + "corpora/<uuid:public_id>/load/", "corpus_load", retrieval.CorpusViews, post="load"
    ),
    address(
        S + "cam-service/",
        "cam_service",
        cam.CamServiceViews,
        **ROW,
        patch="partial_update",
    ),
    address(S + "cam-requests/", "cam_requests", cam.CamRequestViews, **CREATE),
    address(S + "cam-requests/<uuid:public_id>/", "cam_request", cam.CamRequestViews, **ROW),
    address(
        S + "cam-requests/<uuid:public_id>/take/",
        "cam_take",
        cam.CamRequestViews,
        post="take",
    ),
    address(S + "arguments/", "arguments", studies.ArgumentViews, **LIST),
    address(S + "arguments/<uuid:public_id>/", "argument", studies.ArgumentViews, **ROW),
    address(S + "guidelines/", "guidelines", studies.GuidelineViews, **CREATE),
    address(S + "guidelines/<uuid:public_id>/", "guideline", studies.GuidelineViews, **ROW),
    address(S + "jobs/", "jobs", studies.JobViews, **LIST),
    address(S + "jobs/<uuid:public_id>/", "job", studies.JobViews, **ROW),
    address(S + "imports/", "imports", imports.ImportUploadViews, **CREATE),
    address(
        S + "imports/<uuid:public_id>/",
        "import",
        imports.ImportViews,
        **ROW,
        delete="destroy",
    ),
    address(
        S + "imports/<uuid:public_id>/check/", "import_check", imports.ImportViews, post="check"
    ),
    address(
        S + "imports/<uuid:public_id>/apply/", "import_apply", imports.ImportViews, post="apply"
    ),
    address(
        S + "imports/<uuid:import_id>/problems/",
        "import_problems",
        imports.ImportProblemViews,
        **LIST,
    ),
    address(S + "campaigns/", "campaigns", campaigns.CampaignSetViews, **CREATE),
    address(
        S + "campaigns/<uuid:public_id>/",
        "campaign",
        campaigns.CampaignSetViews,
        **ROW,
        patch="partial_update",
    ),
    address(C + "open/", "campaign_open", campaigns.OpenViews, post="move"),
    address(C + "pause/", "campaign_pause", campaigns.PauseViews, post="move"),
    address(C + "close/", "campaign_close", campaigns.CloseViews, post="move"),
    address(C + "items/", "items", campaigns.ItemViews, **CREATE),
    address(C + "items/control/", "item_control", campaigns.ItemViews, post="control"),
    address(C + "crowd-links/", "crowd_links", crowd.CrowdLinkViews, **CREATE),
    address(C + "crowd-links/<uuid:public_id>/", "crowd_link", crowd.CrowdLinkViews, **ROW),
    address(
        C + "crowd-links/<uuid:public_id>/close/",
        "crowd_link_close",
        crowd.CrowdLinkViews,
        post="close",
    ),
    address(C + "votes/", "votes", labels.VoteViews, **LIST),
    address(C + "votes/<uuid:public_id>/", "vote", labels.VoteViews, **ROW),
    address(C + "raters/", "raters", labels.RaterViews, **LIST),
    address(C + "raters/<uuid:public_id>/", "rater", labels.RaterViews, **ROW),
    address(
        C + "raters/<uuid:public_id>/exclude/", "rater_exclude", labels.RaterViews, post="exclude"
    ),
    address(
        C + "raters/<uuid:public_id>/reinstate/",
        "rater_reinstate",
        labels.RaterViews,
        post="reinstate",
    ),
    address(C + "annotators/", "annotators", quality.AnnotatorViews, **LIST),
    address(C + "annotators/<uuid:public_id>/", "annotator", quality.AnnotatorViews, **ROW),
    address(
        C + "annotators/exclude-low/",
        "annotators_exclude_low",
        quality.AnnotatorViews,
        post="exclude_low",
    ),
    address(C + "controls/", "controls", quality.ControlViews, **LIST),
    address(C + "controls/<uuid:public_id>/", "control", quality.ControlViews, **ROW),
    address(C + "controls/change/", "control_change", quality.ControlViews, post="change"),
    address(
        C + "consensus/",
        "consensus",
        consensus.ConsensusViews,
        **ROW,
        patch="partial_update",
    ),
    address(C + "final-labels/", "final_labels", labels.FinalLabelViews, **LIST),
    address(
        C + "final-labels/recompute/",
        "final_labels_recompute",
        labels.FinalLabelViews,
        post="recompute",
    ),
    address(C + "adjudications/", "adjudications", labels.AdjudicationViews, **CREATE),
    address(
        C + "adjudications/adopt/", "adjudications_adopt", labels.AdjudicationViews, post="adopt"
    ),
    address(C + "snapshots/", "snapshots", files.SnapshotListViews, **LIST),
    address(C + "snapshots/refresh/", "snapshots_refresh", files.SnapshotViews, post="refresh"),
    address(C + "snapshots/<uuid:public_id>/", "snapshot", files.SnapshotViews, **ROW),
    address(
        C + "snapshots/<uuid:public_id>/freeze/",
        "snapshot_freeze",
        files.SnapshotViews,
        post="freeze",
    ),
    address(C + "exports/", "exports", files.ExportViews, **CREATE),
    address(C + "exports/<uuid:public_id>/", "export", files.ExportViews, **ROW),
    address(C + "exports/<uuid:public_id>/file/", "export_file", files.ExportViews, get="file"),
    address(
        C + "exports/<uuid:public_id>/manifest/",
        "export_manifest",
        files.ExportViews,
        get="manifest",
    ),
    address(S + "endpoints/", "endpoints", endpoints.EndpointViews, **CREATE),
    address(
        S + "endpoints/<uuid:public_id>/",
        "endpoint",
        endpoints.EndpointViews,
        **ROW,
        patch="partial_update",
    ),
    address(
        S + "endpoints/embedded/", "endpoint_embedded", endpoints.EndpointViews, post="embedded"
    ),
    address(
        S + "endpoints/<uuid:public_id>/probe/",
        "endpoint_probe",
        endpoints.EndpointViews,
        post="probe",
    ),
    address(
        S + "endpoints/<uuid:public_id>/archive/",
        "endpoint_archive",
        endpoints.EndpointViews,
        post="archive",
    ),
    address(S + "prompts/", "prompts", prompts.PromptListViews, **CREATE),
    address(
        S + "prompts/<uuid:public_id>/",
        "prompt",
        prompts.PromptViews,
        **ROW,
        patch="partial_update",
    ),
    address(
        S + "prompts/<uuid:public_id>/preview/",
        "prompt_preview",
        prompts.PromptViews,
        post="preview",
    ),
    address(S + "runs/", "runs", runs.RunViews, **CREATE),
    address(S + "runs/estimate/", "run_estimate", runs.RunViews, post="estimate"),
    address(S + "runs/<uuid:public_id>/", "run", runs.RunViews, **ROW, patch="partial_update"),
    address(S + "runs/<uuid:public_id>/go-on/", "run_go_on", runs.RunViews, post="go_on"),
    address(S + "runs/<uuid:public_id>/pause/", "run_pause", runs.RunViews, post="pause"),
    address(S + "runs/<uuid:public_id>/resume/", "run_resume", runs.RunViews, post="resume"),
    address(S + "runs/<uuid:public_id>/cancel/", "run_cancel", runs.RunViews, post="cancel"),
    address(S + "runs/<uuid:public_id>/retry/", "run_retry", runs.RunViews, post="retry"),
    address(S + "runs/<uuid:public_id>/again/", "run_again", runs.RunViews, post="again"),
    address(
        S + "runs/<uuid:public_id>/compare/<uuid:other_id>/",
        "run_compare",
        runs.RunViews,
        get="compare",
    ),
    address(
        S + "runs/<uuid:public_id>/compare-answers/<uuid:other_id>/",
        "run_compare_answers",
        runs.RunViews,
        get="compare_answers",
    ),
    address(R + "calls/", "calls", calls.CallViews, **LIST),
    address(R + "calls/<uuid:public_id>/", "call", calls.CallViews, **ROW),
    address(R + "replies/", "replies", calls.ReplyViews, **LIST),
    address(R + "labels/", "judge_labels", calls.JudgeLabelViews, **LIST),
    address(R + "verdicts/", "verdicts", faithfulness.VerdictViews, **LIST),
    address(C + "judges/", "judges", judges.JudgeViews, **LIST),
    address(C + "judges/figures/", "judge_figures", judges.JudgeViews, get="figures"),
    address(C + "trained-judges/", "trained_judges", judges.TrainedJudgeViews, **CREATE),
    address(
        C + "trained-judges/<uuid:public_id>/",
        "trained_judge",
        judges.TrainedJudgeViews,
        **ROW,
    ),
    address(
        C + "trained-judges/cancel/",
        "trained_judges_cancel",
        judges.TrainedJudgeViews,
        post="cancel",
    ),
    address(S + "questions/", "questions", answers.QuestionViews, **CREATE),
    address(S + "questions/missing/", "questions_missing", answers.QuestionViews, post="missing"),
    address(S + "questions/<uuid:public_id>/", "question", answers.QuestionViews, **ROW),
    address(S + "systems/", "systems", answers.SystemViews, **LIST),
    address(
        S + "systems/<uuid:public_id>/",
        "system",
        answers.SystemViews,
        **ROW,
        patch="partial_update",
    ),
    address(S + "answers/", "answers", answers.AnswerViews, **LIST),
    address(S + "answers/<uuid:public_id>/", "answer", answers.AnswerViews, **ROW),
    address(S + "faithfulness/", "faithfulness", faithfulness.FaithfulnessViews, **ROW),
    address(
        S + "faithfulness/compute/",
        "faithfulness_compute",
        faithfulness.FaithfulnessViews,
        post="compute",
    ),
    address(
        S + "faithfulness/cancel/",
        "faithfulness_cancel",
        faithfulness.FaithfulnessViews,
        post="cancel",
    ),
    address(S + "faithfulness/texts/", "figures", faithfulness.FiguresViews, **LIST),
    address(S + "faithfulness/edited/", "edited_texts", faithfulness.EditedTextViews, **LIST),
    address(
        S + "editing-rounds/<uuid:round_id>/agreement/",
        "expert_agreement",
        faithfulness.AgreementViews,
        **ROW,
    ),
    address(S + "editing-rounds/", "editing_rounds", editing.EditingRoundViews, **CREATE),
    address(
        S + "editing-rounds/<uuid:public_id>/",
        "editing_round",
        editing.EditingRoundViews,
        **ROW,
        patch="partial_update",
    ),
    address(
        S + "editing-rounds/<uuid:public_id>/open/",
        "editing_round_open",
        editing.EditingOpenViews,
        post="move",
    ),
    address(
        S + "editing-rounds/<uuid:public_id>/close/",
        "editing_round_close",
        editing.EditingCloseViews,
        post="move",
    ),
    address(
        S + "editing-rounds/<uuid:public_id>/reopen/",
        "editing_round_reopen",
        editing.EditingReopenViews,
        post="move",
    ),
    address(E + "tasks/", "editing_tasks", editing.EditingTaskViews, **LIST),
    address(E + "tasks/<uuid:public_id>/", "editing_task", editing.EditingTaskViews, **ROW),
    address(E + "revisions/", "revisions", editing.RevisionViews, **LIST),
    address(E + "revisions/<uuid:public_id>/", "revision", editing.RevisionViews, **ROW),
    address(E + "comments/", "round_comments", editing.RoundCommentViews, **CREATE),
    address(E + "comments/<uuid:public_id>/", "round_comment", editing.RoundCommentViews, **ROW),
    re_path(r"", studies.UnknownAddress.as_view(), name="api_unknown"),
]

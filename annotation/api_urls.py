"""Addresses of the REST interface; every one but the first two lies inside a study."""

from django.urls import URLPattern, path, re_path

from annotation.api import (
    calls,
    campaigns,
    consensus,
    crowd,
    endpoints,
    files,
    imports,
    judges,
    labels,
    people,
    prompts,
    quality,
    runs,
    studies,
)

S = "studies/<uuid:study_id>/"
C = S + "campaigns/<uuid:campaign_id>/"
R = S + "runs/<uuid:run_id>/"
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
    address(S + "comparisons/", "comparisons", studies.ComparisonViews, **LIST),
    address(S + "comparisons/<uuid:public_id>/", "comparison", studies.ComparisonViews, **ROW),
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
    address(R + "calls/", "calls", calls.CallViews, **LIST),
    address(R + "calls/<uuid:public_id>/", "call", calls.CallViews, **ROW),
    address(R + "replies/", "replies", calls.ReplyViews, **LIST),
    address(R + "labels/", "judge_labels", calls.JudgeLabelViews, **LIST),
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
    re_path(r"", studies.UnknownAddress.as_view(), name="api_unknown"),
]

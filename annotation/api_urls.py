"""REST API URLs of this app, all inside a study."""

from annotation.answers import api as answers
from annotation.consensus import api as consensus
from annotation.editing import api as editing
from annotation.exports import api as exports
from annotation.faithfulness.api import faithfulness
from annotation.figures.api import SnapshotListViews, SnapshotViews
from annotation.generation import api as generation
from annotation.generation.api import RunComparisonViews
from annotation.judges import api as judges
from annotation.judges.api import JudgeLabelViews
from annotation.labelling import api as labelling
from annotation.labelling.api import GuidelineViews, ItemViews
from annotation.quality import api as quality
from annotation.quality.api import RaterViews
from annotation.retrieval.api import corpora
from annotation.retrieval.api.corpora import ArgumentViews, ComparisonViews
from cqa_site.api.base import CHANGE, CREATE, LIST, REMOVE, ROW, R, S, address, posts, resource
from cqa_site.rounds.api import round_addresses

C = S + "label-rounds/<uuid:label_round_id>/"
E = S + "editing-rounds/<uuid:round_id>/"

urlpatterns = [
    *resource(
        S + "comparisons/",
        "comparisons",
        "comparison",
        ComparisonViews,
        listed=CREATE,
        list_views=corpora.ComparisonListViews,
    ),
    address(S + "comparisons/<uuid:comparison_id>/find/", "find", corpora.FindViews, get="find"),
    address(
        S + "comparisons/<uuid:comparison_id>/take/", "find_take", corpora.FindViews, post="take"
    ),
    *resource(
        S + "corpora/",
        "corpora",
        "corpus",
        corpora.CorpusViews,
        "check load",
        listed=CREATE,
        row=REMOVE,
        list_views=corpora.CorpusUploadViews,
    ),
    address(S + "cam-service/", "cam_service", corpora.CamServiceViews, **CHANGE),
    *resource(
        S + "cam-requests/", "cam_requests", "cam_request", corpora.CamRequestViews, listed=CREATE
    ),
    address(
        S + "cam-requests/<uuid:public_id>/take/", "cam_take", corpora.CamRequestViews, post="take"
    ),
    *resource(S + "arguments/", "arguments", "argument", ArgumentViews),
    address(S + "preferred-labels/", "preferred_labels", consensus.PreferredLabelsViews, **CHANGE),
    *resource(S + "guidelines/", "guidelines", "guideline", GuidelineViews, listed=CREATE),
    *round_addresses(labelling.ROUNDS, S + "label-rounds/", "label_round_id", ("label_round",)),
    address(C + "items/", "items", ItemViews, **CREATE),
    address(C + "items/control/", "item_control", ItemViews, post="control"),
    address(C + "items/retire/", "item_retire", ItemViews, post="retire"),
    *resource(C + "votes/", "votes", "vote", consensus.VoteViews),
    *resource(C + "raters/", "raters", "rater", RaterViews, "exclude reinstate"),
    *resource(C + "annotators/", "annotators", "annotator", quality.AnnotatorViews),
    address(
        C + "annotators/exclude-low/",
        "annotators_exclude_low",
        quality.AnnotatorViews,
        get="preview_low",
        post="exclude_low",
    ),
    *resource(
        C + "annotators/exclusions/", "exclusions", "exclusion", quality.ExclusionViews, "undo"
    ),
    *resource(C + "controls/", "controls", "control", quality.ControlViews),
    address(C + "controls/change/", "control_change", quality.ControlViews, post="change"),
    address(C + "consensus/", "consensus", consensus.ConsensusViews, **CHANGE),
    address(C + "final-labels/", "final_labels", consensus.FinalLabelViews, **LIST),
    address(
        C + "final-labels/compare/",
        "final_labels_compare",
        judges.LabelComparisonViews,
        get="compare",
    ),
    *posts(C + "final-labels/", "final_labels", consensus.FinalLabelViews, "recompute"),
    address(C + "adjudications/", "adjudications", consensus.AdjudicationViews, **CREATE),
    *resource(
        C + "adoptions/",
        "adoptions",
        "adoption",
        consensus.AdoptionViews,
        "withdraw",
        listed=CREATE,
    ),
    *posts(C + "adoptions/", "adoptions", consensus.AdoptionViews, "preview"),
    *resource(
        C + "snapshots/",
        "snapshots",
        "snapshot",
        SnapshotViews,
        "freeze",
        list_views=SnapshotListViews,
    ),
    *posts(C + "snapshots/", "snapshots", SnapshotViews, "refresh"),
    *resource(C + "exports/", "exports", "export", exports.ExportViews, listed=CREATE),
    address(C + "exports/<uuid:public_id>/file/", "export_file", exports.ExportViews, get="file"),
    address(
        C + "exports/<uuid:public_id>/manifest/",
        "export_manifest",
        exports.ExportViews,
        get="manifest",
    ),
    address(
        S + "runs/<uuid:public_id>/compare/<uuid:other_id>/",
        "run_compare",
        RunComparisonViews,
        get="compare",
    ),
    address(
        S + "runs/<uuid:public_id>/compare-answers/<uuid:other_id>/",
        "run_compare_answers",
        RunComparisonViews,
        get="compare_answers",
    ),
    address(R + "labels/", "judge_labels", JudgeLabelViews, **LIST),
    address(R + "verdicts/", "verdicts", faithfulness.VerdictViews, **LIST),
    address(C + "judges/", "judges", judges.JudgeViews, **LIST),
    address(C + "judges/figures/", "judge_figures", judges.JudgeViews, get="figures"),
    *resource(
        C + "trained-judges/",
        "trained_judges",
        "trained_judge",
        judges.TrainedJudgeViews,
        listed=CREATE,
    ),
    *posts(C + "trained-judges/", "trained_judges", judges.TrainedJudgeViews, "cancel"),
    *resource(S + "questions/", "questions", "question", answers.QuestionViews, listed=CREATE),
    *posts(S + "questions/", "questions", answers.QuestionViews, "missing"),
    *resource(
        S + "generation-launches/",
        "generation_launches",
        "generation_launch",
        generation.LaunchViews,
        listed=CREATE,
        row=CHANGE,
    ),
    *posts(S + "generation-launches/", "generation_launch", generation.LaunchViews, "estimate"),
    address(S + "conditions/", "conditions", answers.ConditionViews, **LIST),
    *resource(S + "systems/", "systems", "system", answers.SystemViews, "learned", row=CHANGE),
    *resource(S + "answers/", "answers", "answer", answers.AnswerViews),
    address(S + "faithfulness/", "faithfulness", faithfulness.FaithfulnessViews, **ROW),
    *posts(S + "faithfulness/", "faithfulness", faithfulness.FaithfulnessViews, "compute cancel"),
    address(S + "faithfulness/texts/", "figures", faithfulness.FiguresViews, **LIST),
    address(S + "faithfulness/edited/", "edited_texts", faithfulness.EditedTextViews, **LIST),
    address(
        S + "editing-rounds/<uuid:round_id>/agreement/",
        "expert_agreement",
        faithfulness.AgreementViews,
        **ROW,
    ),
    *round_addresses(editing.ROUNDS, S + "editing-rounds/", "round_id", ("editing_round",)),
    address(
        S + "editing-rounds/<uuid:public_id>/answers/",
        "editing_round_answers",
        editing.EditingAnswersViews,
        post="make",
    ),
    *resource(E + "tasks/", "editing_tasks", "editing_task", editing.EditingTaskViews),
    *resource(E + "revisions/", "revisions", "revision", editing.RevisionViews),
    *resource(
        E + "comments/",
        "round_comments",
        "round_comment",
        editing.RoundCommentViews,
        listed=CREATE,
    ),
]

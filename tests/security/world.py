"""A study with everything in it, as the addresses of its pages name its rows."""

from django.urls import URLPattern, get_resolver

from cqa_site.files.actions.files import store_upload
from tests.everything import stored

ROLES = {"a": "annotator", "e": "expert", "r": "researcher", "d": "admin"}
# Formats and names are not ids; one valid value each: figures with their formats, then the others.
FIGURES = """
    board_figure=board.csv preferences_figure=verdicts.csv snapshot_figure=labels.svg
    judges_figure=judges.svg faithfulness_figure=coherence.svg edited_texts_figure=changes.csv
    expert_agreement_figure=work.csv quality_figure=figures.svg label_compare_figure=sets.csv
    score_agreement_figure=judges.svg scorer_figure=curve.svg system_run_figure=curve.svg
    summary_set_figure=prevalence.svg analysis_groups_figure=groups.csv
    analysis_trends_figure=periods.svg analysis_audit_figure=corrected.csv
    key_points_figure=weighted.svg key_point_board_figure=key-points.csv
    summary_metrics_figure=correlations.csv summary_people_figure=raters.csv
    crowd_pay_figure=people.csv round_controls_figure=drift.csv
"""
OTHERS = {
    "study_api_address": {"operation": "me"},
    "import_group": {"number": 0},
    "summary_set_file": {"format": "csv"},
    "analysis_undo": {"revision": 1},
    "encoder_install": {"encoder": "mpnet"},
    "onboarding_preview": {"number": 1, "step": 3},
    "crowd_money": {"act": "reclaim"},
    **{name: {"position": 1} for name in ("round_control", "round_example")},
    "analysis_report_file": {"name": "report.html"},
    **{name: {"name": "table"} for name in ("import_sample", "import_sample_take")},
    **{name: {"name": "manifest.json"} for name in ("board_file", "key_point_board_file")},
}
FIXED = OTHERS | {
    name: dict(zip(("figure", "format"), file.split("."), strict=True))
    for name, file in (each.split("=") for each in FIGURES.split())
}
# The row that an id in an address usually is, and what it is at some addresses.
USUAL = """
    study_id=study label_round_id=label_round any_round_id=label_round argument_id=control
    rater_id=rater adoption_id=adoption exclusion_id=exclusion user_id=member
    person_id=participant job_id=job file_id=uploaded batch_id=import_batch export_id=export
    invitation_id=invitation link_id=crowd_link endpoint_id=endpoint prompt_id=prompt run_id=run
    call_id=call question_id=question answer_id=answer system_id=system round_id=desk_round
    task_id=desk_sheet conflict_id=text_conflict revision_id=faithful_revision launch_id=launch
    comparison_id=comparison corpus_id=corpus request_id=cam_request rubric_id=rubric
    sheet_id=begun_scores score_conflict_id=score_conflict preference_id=open_preferring
    pair_sheet_id=begun_pair pair_conflict_id=pair_conflict dataset_id=dataset cell_id=cell
    survey_id=survey scorer_id=scorer system_run_id=system_run set_id=summary_set
    counting_id=counting_round count_id=count_sheet count_conflict_id=count_conflict
    analysis_id=analysis point_id=found_point statement_id=placed group_id=duplicates
    audit_id=open_audit check_id=begun_check check_conflict_id=check_conflict
    onboarding_id=onboarding qualification_id=qualification
"""
IDS = dict(pair.split("=") for pair in USUAL.split())
DRAFT = dict.fromkeys(("label_round_edit", "label_round_items", "label_round_control"), "draft")
OF_COMMENTS = """
    cell_comments comments_export near_duplicates near_duplicates_find near_duplicate_group
    near_duplicate_group_change
"""
CONTROLLED = ("round_controls", "round_control", "round_controls_figure")
OTHERWISE = {
    "label_round_id": DRAFT,
    "argument_id": dict.fromkeys(DRAFT, "draft_argument"),
    "run_id": {
        "generation_figures": "writing_run",
        "coherence_verdicts": "judging_run",
        **dict.fromkeys(("scoring_run_sheets", "scoring_run_probes"), "scoring_run"),
    },
    "file_id": {
        "import_scores": "judged",
        "import_summary_scores": "metric_scores",
        "import_key_points": "system_points",
        "import_qualities": "rated_arguments",
        "import_counts": "count_sheets",
        "import_arguments": "argument_list",
        "import_comments": "comments",
        "import_survey": "survey_export",
    },
    "count_id": {"count_sheet": "imported_count"},
    "cell_id": dict.fromkeys(OF_COMMENTS.split(), "commented"),
    "dataset_id": dict.fromkeys(("cell_comments", "comments_export"), "comments_dataset"),
    "sheet_id": {"score_sheet": "judged_sheet"},
    "any_round_id": {
        **dict.fromkeys(CONTROLLED, "open_scoring"),
        **dict.fromkeys(("round_examples", "round_example"), "draft_scoring"),
    },
    "round_id": {
        "editing_round_edit": "draft_round",
        "scoring_round_edit": "draft_scoring",
        **dict.fromkeys(("expert_agreement", "expert_agreement_figure"), "faithful_round"),
    },
    "preference_id": {"preference_round_edit": "draft_preferring"},
    "audit_id": {"audit_round_edit": "draft_audit"},
    "analysis_id": dict.fromkeys(("analysis_audit", "analysis_audit_figure"), "audited_analysis"),
}
SAID = b"comment,site\nThe queue is long.,North\n"
ASKED = b"Respondent ID,What is good about it?\n1,The queue is short.\n"


def entries(patterns=None, known=frozenset()):
    """Yield (name, parameters, view) of every address."""
    for entry in get_resolver().url_patterns if patterns is None else patterns:
        params = known | set(entry.pattern.converters)
        if isinstance(entry, URLPattern):
            yield entry.name, params, entry.callback
        else:
            yield from entries(entry.url_patterns, params)


# Of two addresses with one name, the first.
PARAMETERS = {name: params for name, params, _view in reversed(list(entries()))}


def parameters(name):
    """Names of what stands in an address."""
    return PARAMETERS[name]


class World:
    """One study with one of everything, and a member per role."""

    def __init__(self, rows):
        self.rows = rows
        self.study, self.endpoint, self.open = rows.study, rows.endpoint, rows.label_round
        self.board, self.scoring = rows.board, rows.scoring_run
        self.judging, self.writing = rows.judging_run, rows.writing_run
        self.people = {letter: getattr(rows.people, role) for letter, role in ROLES.items()}
        vars(rows).update(rows.files)
        rows.uploaded = stored(rows.study, "table", batch=rows.import_batch)
        about = {"study": rows.study, "name": "x.csv", "actor": rows.boss}
        rows.comments = store_upload(kind="comments", chunks=[SAID], **about)
        rows.survey_export = store_upload(kind="survey", chunks=[ASKED], **about)
        rows.comparison = rows.argument.comparison
        rows.comments_dataset = rows.commented.dataset
        rows.draft_argument = rows.draft.items.order_by("pk").first().argument
        self.ids = {key: getattr(rows, row).public_id for key, row in IDS.items()}
        self.ids["part"] = "language"

    def kwargs(self, name):
        """What stands in an address of this study."""
        values = self.ids | {"number": self.number_at(name)} | FIXED.get(name, {})
        for key, rows in OTHERWISE.items():
            if name in rows:
                values[key] = getattr(self.rows, rows[name]).public_id
        if name.startswith(("score", "scoring_r")) and name not in OTHERWISE["round_id"]:
            values["round_id"] = self.rows.open_scoring.public_id
        return {key: values[key] for key in parameters(name)}

    def number_at(self, name):
        """The number of a version or snapshot that an address of this study shows."""
        if name.startswith("board"):
            return self.board.number
        if name.startswith(("key_point_board", "trained_judge")):
            return 1
        if name == "guideline":
            return self.open.guideline.number
        return self.rows.snapshot.number

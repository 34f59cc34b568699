"""Whatever a researcher does on a page, a program can do: page addresses beside those of the API.

Every page address is here with the API's names for the same thing, or with
the reason why there is none. A new page fails the test until it is listed.
"""

import inspect

from django.urls import URLPattern

from annotation.urls import urlpatterns as study_pages
from argsum.urls import urlpatterns as argsum_pages
from benchmark.urls import urlpatterns as benchmark_pages
from cqa_site.files.urls import of_study as file_pages
from cqa_site.people.urls import urlpatterns as people_pages
from cqa_site.rounds.crowd.urls import urlpatterns as crowd_pages
from cqa_site.runs.urls import of_study as run_pages
from cqa_site.upkeep.studies.urls import urlpatterns as pages_of_putting_away

from .routes import declared

SIGNING_IN = "A program has a token; signing in, passwords and names belong to the person."
NO_TOKENS = "A token that could make or revoke tokens would outlive being revoked."
JOINING = "The person who was invited comes in by a browser."
LABELLING = "Items come one at a time, blind and timed; a program would defeat all three."
DESK = "Experts edit by hand, in their own browser; a program would not be an expert."
DRAWN = "Drawn for eyes; the numbers behind it are the figures of the snapshot."
ESTIMATE = "An estimate while a form is filled in; a draft tells the same, and can be removed."
TRIAL = "A look at the work page for eyes and hands; a program has nothing to look at it with."
# Pages of which nothing is in the API, by the reason.
WITHOUT = {
    SIGNING_IN: """
        account_login account_logout account_inactive account_change_password
        account_reset_password account_reset_password_done account_reset_password_from_key
        account_reset_password_from_key_done account mfa_index sessions_end provider_disconnect
        provider_once_more account_reauthenticate mfa_reauthenticate
        mfa_reauthenticate_webauthn mfa_activate_totp mfa_deactivate_totp
        mfa_view_recovery_codes mfa_generate_recovery_codes mfa_add_webauthn mfa_edit_webauthn
        mfa_remove_webauthn mfa_authenticate mfa_login_webauthn openid_connect_login
        openid_connect_callback account_keys participation_back
    """,
    NO_TOKENS: """
        token_new token_lend token_revoke
    """,
    JOINING: """
        invitation_accept invitation first_administrator first_link join_start join
    """,
    LABELLING: """
        participation_end participation_stop participation_fault label label_answer label_next
        label_alive
        label_answers score score_own score_form score_save score_submit score_settle prefer
        prefer_own prefer_form prefer_save prefer_submit prefer_settle count count_own
        count_form count_save count_submit count_settle point_check point_check_own
        point_check_form point_check_save point_check_submit point_check_settle
    """,
    DESK: """
        desk desk_own desk_form desk_save desk_submit desk_settle
    """,
    DRAWN: """
        snapshot_figure figures_fragment judges_fragment judges_card judges_figure
        scores_fragment scorer_figure summary_set_figure analysis_groups_figure
        analysis_trends_figure analysis_audit_figure
    """,
    ESTIMATE: """
        label_round_extent editing_round_extent scoring_round_extent preference_round_extent
        counting_round_extent audit_round_extent
    """,
    TRIAL: """
        label_trial label_trial_answer label_trial_next label_trial_alive score_trial
        score_trial_save score_trial_submit count_trial count_trial_save count_trial_submit
        prefer_trial prefer_trial_save prefer_trial_submit desk_trial desk_trial_save
        desk_trial_submit point_check_trial point_check_trial_save point_check_trial_submit
    """,
}
# Pages whose address in the API has the same name.
SAME = """
    study_archive study_unarchive
    invitation_revoke crowd_links crowd_link_close participant_release participant_fault
    guidelines guideline exclusion_undo editing_rounds editing_round_open editing_round_close
    editing_round_reopen editing_round_answers final_labels final_labels_recompute imports
    import_batch_check import_batch_apply import_problems import_matches import_check
    import_apply exports export_manifest corpus corpus_check corpus_load cam_service find_take
    cam_request cam_take snapshots snapshot snapshot_freeze endpoints endpoint_embedded
    endpoint endpoint_probe endpoint_offer endpoint_archive prompts prompt prompt_preview runs run
    run_estimate run_go_on run_pause run_resume run_correct run_cancel run_retry run_again
    run_compare generation_launch faithfulness faithfulness_compute faithfulness_cancel
    expert_agreement trained_judges trained_judge questions questions_missing answer systems
    system system_learned scoring_rounds scoring_round_open scoring_round_close
    scoring_round_reopen distillation rubrics rubric boards board_freeze key_point_boards
    key_point_boards_ask key_point_board key_point_board_freeze key_point_board_publish
    key_point_board_withdraw board_publish board_withdraw score_agreement preferences
    preference_rounds preference_round_open preference_round_close preference_round_reopen
    audit_rounds audit_round_close audit_round_open audit_round_reopen analysis_audit
    counting_round_close counting_round_open counting_round_reopen counting_rounds analyses
    analysis_cancel analysis_resume analysis_place analysis_rest summary_set analysis_groups
    analysis_trends analysis_report system_run_cancel system_run_resume system_runs datasets
    dataset_recipe survey survey_analyse cell_comments key_points summary_people near_duplicates
    near_duplicates_find near_duplicate_group near_duplicate_group_change
"""
# Pages by the one address of the API that does the same.
ONE = {
    "import_check": (
        "import_mapping import_origin import_reading import_scores import_counts import_comments "
        "import_arguments import_summary_scores import_key_points import_qualities import_survey"
    ),
    "exports": "export_list",
    "studies": "study_new",
    "study": "study_settings study_delete",
    "member": "member_role member_active",
    "invitations": "invitation_new",
    "log": "audit",
    "label_rounds": "label_rounds label_round_new",
    "label_round": "label_round label_round_edit label_round_correct label_round_delete",
    "item_control": "label_round_control",
    "item_retire": "label_round_item_retire",
    "label_round_reopen": "label_round_reopen",
    "label_round_open": "label_round_open",
    "label_round_pause": "label_round_pause",
    "label_round_close": "label_round_close",
    "guidelines": "guideline_new",
    "annotators_exclude_low": "exclusion_figure",
    "adjudications": "adjudication",
    "editing_rounds": "editing_round_new",
    "editing_round": "editing_round_edit editing_round_correct editing_round_delete",
    "consensus": "final_labels_settings",
    "preferred_labels": "labels_preferred",
    "final_labels_compare": "label_compare label_compare_figure",
    "adoption_withdraw": "final_labels_withdraw",
    "import_batch": "import_batch_discard",
    "import": "import_file import_discard",
    "imports": "question_list",
    "export_file": "export_download",
    "corpora": "corpus_upload",
    "corpus": "corpus_delete",
    "comparisons": "find_start",
    "find": "find_arguments",
    "cam_requests": "find_cam",
    "job": "job_progress",
    "endpoints": "endpoint_new",
    "endpoint_offers": "endpoint_add",
    "prompts": "prompt_new",
    "prompt": "prompt_edit",
    "runs": (
        "run_new generations coherence_runs coherence_run_new scoring_runs scoring_run_new "
        "preference_run_new point_writing writing_new counting_run_new"
    ),
    "run": "run_progress run_limits",
    "calls": "run_calls",
    "generation_launch": (
        "generation_launch_progress generation_launch_cap generation_launch_go "
        "generation_launch_pause generation_launch_resume generation_launch_cancel"
    ),
    "run_compare_answers": "generation_compare",
    "figures": "faithfulness_rows",
    "faithfulness": "faithfulness_figure",
    "run_estimate": (
        "coherence_run_estimate scoring_run_estimate preference_run_estimate "
        "point_writing_estimate writing_estimate counting_run_estimate"
    ),
    "verdicts": "coherence_verdicts",
    "expert_agreement": "expert_agreement_figure",
    "trained_judges": "train_judge",
    "trained_judges_cancel": "train_cancel",
    "trained_judge": "trained_judge_card",
    "questions": "question_new",
    "scoring_rounds": "scoring_round_new",
    "scoring_round": "scoring_round_edit scoring_round_correct scoring_round_delete",
    "scorer_decide": "scoring_rater",
    "scoring_examples": "scoring_example",
    "rubrics": "rubric_new rubric_upload",
    "rubric": "rubric_json",
    "score_sheets": "score_sheets_export",
    "run_sheets": "scoring_run_sheets",
    "key_point_board": "key_point_board_figure",
    "board": "board_figure",
    "score_agreement": "score_agreement_figure score_replace score_judges",
    "preference_rounds": "preference_round_new",
    "preference_round": ("preference_round_edit preference_round_correct preference_round_delete"),
    "preferrer_decide": "preference_rater",
    "auditor_decide": "audit_rater",
    "audit_round": "audit_round_delete audit_round_edit audit_round_correct",
    "audit_rounds": "audit_round_new analysis_audit_draw",
    "counter_decide": "counting_rater",
    "counting_round": "counting_round_delete counting_round_edit counting_round_correct",
    "counting_rounds": "counting_round_new",
    "count_sheets": "counting_sheets",
    "analyses": "analysis_new",
    "analyses_dataset": "analysis_dataset",
    "analysis": "analysis_state analysis_delete",
    "point_changes": "analysis_history",
    "point_changes_undo": "analysis_undo",
    "text_scorers": "scorers scorer_new",
    "encoders": "encoders_state",
    "encoder_install": "encoder_install",
    "text_scorers_train": "scorer_train",
    "writers_train": "writer_train",
    "text_scorer": "scorer scorer_delete",
    "text_scorer_score": "scorer_try",
    "text_scorer_cancel": "scorer_cancel",
    "text_scorer_resume": "scorer_resume",
    "summary_set": "summary_set_arguments summary_set_file",
    "system_run_figures": "system_run_figure",
    "system_run": "system_run_state",
    "dataset": "dataset_delete",
    "survey": "survey_delete",
    "cell_arguments": "dataset_export",
    "cell_comments": "comments_export",
    "key_points": "key_points_figure",
    "summary_metric_points": "summary_metric",
    "summary_metrics": "summary_metrics_figure",
    "metric_scores_compute": "summary_metrics_compute",
    "summary_people": "summary_people_figure",
}
IN_PAGES = {
    **{name: reason for reason, names in WITHOUT.items() for name in names.split()},
    **{name: (name,) for name in SAME.split()},
    **{name: (same,) for same, names in ONE.items() for name in names.split()},
    "units": ("votes", "export_file"),
    "study": ("study", "label_rounds"),
    "members": ("members", "invitations"),
    "label_round_items": ("items", "arguments"),
    "quality": ("annotators", "controls"),
    "quality_exclude_low": ("annotators_exclude_low", "exclusions"),
    "annotator": ("annotator", "rater_exclude", "rater_reinstate"),
    "control": ("control", "control_change"),
    "editing": ("editing_rounds", "editing_tasks"),
    "editing_round": ("editing_round", "editing_tasks"),
    "editing_discussion": ("round_comments", "revisions"),
    "editing_history": ("editing_task", "revisions"),
    "final_labels_adopt": ("adoptions", "adoptions_preview"),
    "import_upload": ("imports", "import_batches"),
    "import_batch": ("import_batch", "imports"),
    "arguments": ("arguments", "comparisons"),
    "corpora": ("corpora", "cam_service"),
    "argument": ("argument", "votes", "final_labels"),
    "figures": ("snapshots", "snapshots_refresh"),
    "study_deletion": "How far a deletion is: the answer to a DELETE names this page.",
    "packages_state": "About the machine: a job that waits says the same in its note.",
    "run_call": ("call", "replies", "judge_labels"),
    "generation_new": ("runs", "generation_launches"),
    "generation_estimate": ("run_estimate", "generation_launch_estimate"),
    "generation_figures": ("run_compare_answers", "answers"),
    "faithfulness_answer": ("figures", "verdicts", "answer"),
    "faithfulness_revision": ("figures", "verdicts"),
    "edited_texts": ("edited_texts", "figures"),
    "edited_texts_figure": ("edited_texts", "figures"),
    "judges": ("judges", "judge_figures"),
    "judge_rows": ("judge_labels", "votes", "final_labels"),
    "import_kind": "A program says what its file is when it sends it; nothing is guessed.",
    "import_group": "A program unpacks an archive itself and sends its files.",
    "import_sample": "An invented file to look at; a program has files of its own.",
    "import_sample_take": "An invented file to try the pages with; a program has its own.",
    "question": ("question", "answers"),
    "answers_file": "A file for people; a program reads the rows it is made of.",
    "scoring_round": ("scoring_round", "scoring_items", "scorers"),
    "scoring_examples": ("answers", "score_sheets"),
    "score_watch": ("boards_refresh", "boards"),
    "scoring_run_probes": ("probes", "scoring"),
    "scores": ("boards", "boards_refresh", "board_part"),
    "board": ("board", "board_part"),
    "board_pair": ("board", "board_rows"),
    "key_point_board_file": ("key_point_board_rows", "key_point_board"),
    "board_file": ("board_rows", "board"),
    "score_rows": ("score_sheets", "board_rows"),
    "score_sheet": ("score_sheet", "score_sheets"),
    "preferences_figure": ("preferences", "preference_sheets"),
    "preference_round": ("preference_round", "preference_items", "preferrers"),
    "preference_runs": ("runs", "preference_sheets"),
    "count_sheet": ("count_sheet", "count_sheets"),
    "audit_round": ("audit_round", "audit_items", "auditors", "audit_sheets"),
    "counting_round": ("counting_round", "counting_items", "counters"),
    "analysis": ("analysis", "found_points", "themes"),
    "analysis_edit": (
        "found_points_merge",
        "found_points_state",
        "found_points",
        "found_points_theme",
        "themes_rename",
        "themes_merge",
    ),
    "analysis_rest_edit": ("found_points_move", "found_points_split"),
    "analysis_said": "Comments behind a statement that a page opens one by one.",
    "found_point": ("found_point", "found_point_statements"),
    "found_point_edit": (
        "found_point",
        "found_points_move",
        "found_points_split",
        "found_points_parts",
        "found_points_state",
    ),
    "analysis_report_file": ("analysis_report", "found_points", "found_point_statements"),
    "system_run": ("system_run", "system_run_figures", "summary_sets"),
    "system_run_estimate": "Cells times settings, which the answer to starting a run tells.",
    "system_run_new": ("system_runs", "summarization_systems"),
    "dataset": ("dataset", "dataset_cells"),
    "cell": ("cell", "cell_arguments"),
    "summary_metrics": ("summary_metrics", "metric_scores"),
    "counting_runs": ("runs", "run_counts"),
}


def walk(patterns):
    """Every address, also of tables within tables."""
    for entry in patterns:
        if isinstance(entry, URLPattern):
            yield entry
        else:
            yield from walk(entry.url_patterns)


PAGES = {
    entry.name: entry
    for entry in walk(
        [
            *study_pages,
            *benchmark_pages,
            *argsum_pages,
            *crowd_pages,
            *people_pages,
            *run_pages,
            *file_pages,
            *pages_of_putting_away,
        ]
    )
}


def takes_post(pattern: URLPattern) -> bool:
    """Whether the view itself looks at POST; classes of the account library have a method."""
    view = pattern.callback
    if hasattr(view, "view_class"):
        return hasattr(view.view_class, "post")
    return "POST" in inspect.getsource(inspect.unwrap(view))


WRITING = [name for name, pattern in PAGES.items() if takes_post(pattern)]


def test_every_page_is_listed_and_nothing_else():
    assert set(PAGES) == set(IN_PAGES)


def test_what_is_named_exists_and_what_is_missing_has_a_reason():
    names = {name for name, _method in declared()}
    for page, found in IN_PAGES.items():
        if isinstance(found, str):
            assert found.endswith("."), page
            assert len(found) > 40, page
        else:
            assert found, page
            assert set(found) <= names, page


def test_what_a_page_writes_an_address_writes():
    writes = {each for each, method in declared() if method != "get"}
    lacking = [
        name
        for name in WRITING
        if not isinstance(IN_PAGES[name], str) and not writes & set(IN_PAGES[name])
    ]
    assert lacking == []


def test_writing_pages_are_recognised():
    assert {"study_new", "member_role", "crowd_links", "control", "guideline_new"} < set(WRITING)
    assert {"final_labels_adopt", "snapshot_freeze", "label_answer"} < set(WRITING)
    assert not {"audit", "members", "guidelines", "snapshots", "snapshot_figure"} & set(WRITING)

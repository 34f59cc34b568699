"""Who may open what: every address of a study, the roles that may, and what it takes.

A route without a line here fails the suite. Roles are the first letters of annotator, expert,
researcher, admin. Everybody else gets 403, strangers 404, anonymous visitors the sign-in page.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Route:
    """Expected access of one address; ``post`` marks those that only take POST."""

    roles: str
    post: bool = False


EVERYBODY, EXPERTS, RESEARCHERS, ADMINS, RATERS = "aerd", "erd", "rd", "d", "ae"
# Names in the order of their rooms, by who may.
OPENED = {
    EVERYBODY: """
        study
    """,
    EXPERTS: """
        study_waiting study_search adjudication editing editing_discussion editing_history
        expert_agreement expert_agreement_figure questions question analyses analysis
        analysis_state analysis_history analysis_rest analysis_said found_point
    """,
    RESEARCHERS: """
        onboardings onboarding_new onboarding onboarding_edit onboarding_preview
        onboarding_survey members audit study_api study_api_address job_progress packages_state
        crowd_links crowd_pay crowd_pay_figure crowd_submissions round_rules round_typing
        round_controls round_control round_controls_figure round_examples round_example
        label_round_correct editing_round_correct scoring_round_correct preference_round_correct
        counting_round_correct audit_round_correct analysis_audit analysis_audit_figure
        audit_rounds audit_round_new audit_round audit_round_edit point_check_trial label_rounds
        label_round_new label_round label_round_edit label_round_items guidelines guideline_new
        guideline label_trial label_trial_next score_trial count_trial prefer_trial desk_trial
        quality quality_drift quality_exclude_low quality_figure annotator control
        editing_rounds editing_round_new editing_round editing_round_edit final_labels
        label_compare label_compare_figure imports import_batch import_file import_mapping
        import_problems import_sample question_list exports export_list export_download
        export_manifest corpora corpus find_start find_arguments find_cam cam_request arguments
        argument figures figures_fragment units snapshot_figure snapshots snapshot faithfulness
        faithfulness_rows faithfulness_answer faithfulness_revision faithfulness_figure
        edited_texts edited_texts_figure coherence_runs coherence_run_new coherence_verdicts
        judges judges_fragment judges_card judge_rows judges_figure trained_judges trained_judge
        trained_judge_card endpoints endpoint_new endpoint prompts prompt prompt_new prompt_edit
        runs run_new run run_progress run_calls run_call run_compare generations generation_new
        generation_launch generation_launch_progress generation_figures generation_compare
        question_new answer systems system scoring_rounds scoring_round_new scoring_round
        scoring_round_edit distillation score_watch rubrics
        rubric_new rubric rubric_json import_scores score_sheets_export scoring_runs
        scoring_run_new scoring_run_sheets scoring_run_probes scores scores_fragment boards
        board board_pair board_figure board_file score_agreement score_agreement_figure
        score_replace score_judges score_rows score_sheet preferences preferences_figure
        preference_rounds preference_round_new preference_round preference_round_edit
        preference_runs preference_run_new count_sheet counting_round counting_round_edit
        counting_round_new counting_rounds counting_sheets import_counts analysis_new scorers
        encoders_state scorer_new scorer_train writer_train scorer scorer_figure summary_set
        summary_set_arguments summary_set_figure summary_set_file analysis_groups
        analysis_groups_figure analysis_trends analysis_trends_figure analysis_report
        point_writing point_proposal point_assignment analysis_prose analysis_report_file
        system_run system_run_new system_run_figure system_run_state system_runs writing_new
        datasets dataset dataset_export survey import_survey cell cell_comments comments_export
        import_comments import_arguments near_duplicates near_duplicate_group key_points
        key_point_boards key_point_board key_point_board_file key_points_figure
        key_point_board_figure summary_metric summary_metrics summary_metrics_figure
        summary_people summary_people_figure counting_runs counting_run_new
        import_summary_scores import_key_points import_qualities
    """,
    ADMINS: """
        study_settings study_delete
    """,
    RATERS: """
        round_steps round_survey label label_next label_answers score score_own score_form
        prefer prefer_own prefer_form count count_own count_form point_check point_check_own
        point_check_form
    """,
    "e": """
        desk desk_own desk_form
    """,
}
SENT = {
    EXPERTS: """
        analysis_edit analysis_undo analysis_rest_edit found_point_edit analysis_sign_off
    """,
    RESEARCHERS: """
        onboarding_grant onboarding_withdraw crowd_link_close crowd_link_connect
        round_control_take participant_release participant_fault crowd_money label_round_extent
        label_round_delete
        label_round_control label_round_open label_round_pause label_round_close
        label_round_reopen label_round_item_retire label_trial_answer label_trial_alive
        score_trial_save score_trial_submit count_trial_save count_trial_submit
        prefer_trial_save prefer_trial_submit desk_trial_save desk_trial_submit exclusion_undo
        editing_round_extent editing_round_delete editing_round_open editing_round_close
        editing_round_reopen editing_round_answers final_labels_settings final_labels_adopt
        labels_preferred final_labels_withdraw final_labels_recompute import_upload
        import_batch_check import_batch_apply import_batch_discard import_check import_origin
        import_kind import_group import_reading import_sample_take import_matches import_apply
        import_discard corpus_upload corpus_check corpus_load corpus_delete cam_service
        find_take cam_take snapshot_freeze faithfulness_compute faithfulness_cancel
        coherence_run_estimate train_judge train_cancel endpoint_embedded endpoint_probe
        endpoint_archive endpoint_offer endpoint_add prompt_preview run_estimate run_go_on
        run_pause run_resume run_cancel run_limits run_correct run_retry run_again
        generation_estimate generation_launch_cap generation_launch_go generation_launch_pause
        generation_launch_resume generation_launch_cancel questions_missing answers_file
        system_learned scoring_round_extent scoring_round_delete scoring_round_open
        scoring_round_close scoring_round_reopen scoring_rater rubric_upload
        scoring_run_estimate board_freeze board_publish board_withdraw preference_round_extent
        preference_round_delete preference_round_open preference_round_close
        preference_round_reopen preference_rater preference_run_estimate counting_rater
        counting_round_close counting_round_delete counting_round_extent counting_round_open
        counting_round_reopen analysis_dataset analysis_cancel analysis_resume analysis_place
        analysis_delete encoder_install scorer_try scorer_cancel scorer_resume scorer_delete
        point_writing_estimate point_proposal_estimate point_assignment_estimate
        analysis_prose_estimate system_run_cancel system_run_estimate system_run_resume
        writing_estimate dataset_recipe dataset_delete survey_analyse survey_delete
        key_point_boards_ask key_point_board_freeze key_point_board_publish
        key_point_board_withdraw summary_metrics_compute counting_run_estimate
        near_duplicates_find near_duplicate_group_change analysis_audit_draw audit_rater
        audit_round_close audit_round_delete audit_round_extent audit_round_open
        audit_round_reopen point_check_trial_save point_check_trial_submit
    """,
    ADMINS: """
        member_role member_active invitation_new invitation_revoke study_archive study_unarchive
    """,
    RATERS: """
        label_answer label_alive score_save score_submit score_settle prefer_save prefer_submit
        prefer_settle count_save count_submit count_settle point_check_save point_check_submit
        point_check_settle typing_record
    """,
    "e": """
        desk_save desk_submit desk_settle analysis_audit_leave
    """,
}
STUDY_ROUTES = {
    name: Route(roles, post=table is SENT)
    for table in (OPENED, SENT)
    for roles, names in table.items()
    for name in names.split()
}

# Outside any study: what anonymous visitors get. "in" means the sign-in page.
ANONYMOUS = {
    "in": """
        home help help_page account account_keys site_state site_backups site_backup_new
        site_backup_file site_backup_check site_job_progress token_new token_lend token_revoke
        study_new study_deletion participation_end participation_stop participation_fault
        mfa_index sessions_end provider_disconnect provider_once_more account_reauthenticate
        mfa_reauthenticate mfa_reauthenticate_webauthn mfa_activate_totp mfa_deactivate_totp
        mfa_view_recovery_codes mfa_generate_recovery_codes mfa_add_webauthn mfa_edit_webauthn
        mfa_remove_webauthn account_change_password
    """,
    # Of metrics only this machine; everybody else gets 404 (tests/upkeep/test_metrics.py).
    "200": """
        health metrics work_worker account_login account_inactive account_reset_password
        account_reset_password_done account_reset_password_from_key
        account_reset_password_from_key_done participation_back
    """,
    # Without the link from the terminal, on a site that has no administrator yet.
    "403": """
        first_administrator first_link
    """,
    # Of a password that was right, or of a provider that the site has.
    "302": """
        mfa_authenticate mfa_login_webauthn
    """,
    "405": """
        openid_connect_login account_logout platform_hook
    """,
    "404": """
        openid_connect_callback invitation invitation_accept join join_start public_board
        public_board_figure public_key_points public_key_points_figure
    """,
}
SITE_ROUTES = {name: answer for answer, names in ANONYMOUS.items() for name in names.split()}

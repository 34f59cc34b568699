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

from .routes import declared

SIGNING_IN = "A program has a token; signing in, passwords and names belong to the person."
NO_TOKENS = "A token that could make or revoke tokens would outlive being revoked."
JOINING = "The person who was invited comes in by a browser."
LABELLING = "Items come one at a time, blind and timed; a program would defeat all three."
DESK = "Experts edit by hand, in their own browser; a program would not be an expert."
DRAWN = "Drawn for eyes; the numbers behind it are the figures of the snapshot."
ESTIMATE = "An estimate while a form is filled in; a draft tells the same, and can be removed."
TRIAL = "A look at the work page for eyes and hands; a program has nothing to look at it with."
IN_PAGES = {
    "account_login": SIGNING_IN,
    "account_logout": SIGNING_IN,
    "account_inactive": SIGNING_IN,
    "account_change_password": SIGNING_IN,
    "account_reset_password": SIGNING_IN,
    "account_reset_password_done": SIGNING_IN,
    "account_reset_password_from_key": SIGNING_IN,
    "account_reset_password_from_key_done": SIGNING_IN,
    "account": SIGNING_IN,
    "account_keys": SIGNING_IN,
    "token_new": NO_TOKENS,
    "token_lend": NO_TOKENS,
    "token_revoke": NO_TOKENS,
    "invitation_accept": JOINING,
    "invitation": JOINING,
    "join_start": JOINING,
    "join": JOINING,
    "participation_end": LABELLING,
    "participation_fault": LABELLING,
    **dict.fromkeys(
        (
            "label_trial",
            "label_trial_answer",
            "label_trial_next",
            "label_trial_alive",
            "score_trial",
            "score_trial_save",
            "score_trial_submit",
            "count_trial",
            "count_trial_save",
            "count_trial_submit",
            "prefer_trial",
            "prefer_trial_save",
            "prefer_trial_submit",
            "desk_trial",
            "desk_trial_save",
            "desk_trial_submit",
        ),
        TRIAL,
    ),
    "label": LABELLING,
    "label_answer": LABELLING,
    "label_next": LABELLING,
    "label_alive": LABELLING,
    "label_answers": LABELLING,
    "adjudication_undo": "One's own last word; a program sends another, which replaces it.",
    "adjudication_skip": "A place in the person's own queue, kept in the browser's session.",
    "import_mapping": ("import_check",),
    "units": ("votes", "export_file"),
    "snapshot_figure": DRAWN,
    "figures_fragment": DRAWN,
    "export_list": ("exports",),
    "study": ("study", "label_rounds"),
    "study_new": ("studies",),
    "study_settings": ("study",),
    "members": ("members", "invitations"),
    "member_role": ("member",),
    "member_active": ("member",),
    "invitation_new": ("invitations",),
    "invitation_revoke": ("invitation_revoke",),
    "audit": ("log",),
    "campaigns": ("label_rounds",),
    "campaign_extent": ESTIMATE,
    "campaign_new": ("label_rounds",),
    "campaign": ("label_round",),
    "campaign_edit": ("label_round",),
    "campaign_items": ("items", "arguments"),
    "campaign_delete": ("label_round",),
    "campaign_control": ("item_control",),
    "campaign_open": ("label_round_open",),
    "campaign_pause": ("label_round_pause",),
    "campaign_close": ("label_round_close",),
    "crowd_links": ("crowd_links",),
    "crowd_link_close": ("crowd_link_close",),
    "participant_release": ("participant_release",),
    "participant_fault": ("participant_fault",),
    "guidelines": ("guidelines",),
    "guideline": ("guideline",),
    "guideline_new": ("guidelines",),
    "quality": ("annotators", "controls"),
    "quality_exclude_low": ("annotators_exclude_low", "exclusions"),
    "exclusion_undo": ("exclusion_undo",),
    "exclusion_figure": ("annotators_exclude_low",),
    "annotator": ("annotator", "rater_exclude", "rater_reinstate"),
    "control": ("control", "control_change"),
    "adjudication": ("adjudications",),
    "editing": ("editing_rounds", "editing_tasks"),
    "editing_rounds": ("editing_rounds",),
    "editing_round_extent": ESTIMATE,
    "editing_round_new": ("editing_rounds",),
    "editing_round": ("editing_round", "editing_tasks"),
    "editing_round_edit": ("editing_round",),
    "editing_round_delete": ("editing_round",),
    "editing_round_open": ("editing_round_open",),
    "editing_round_close": ("editing_round_close",),
    "editing_round_reopen": ("editing_round_reopen",),
    "editing_round_answers": ("editing_round_answers",),
    "editing_discussion": ("round_comments", "revisions"),
    "editing_history": ("editing_task", "revisions"),
    "desk": DESK,
    "desk_own": DESK,
    "desk_form": DESK,
    "desk_save": DESK,
    "desk_submit": DESK,
    "desk_settle": DESK,
    "final_labels": ("final_labels",),
    "final_labels_settings": ("consensus",),
    "final_labels_adopt": ("adoptions", "adoptions_preview"),
    "labels_preferred": ("preferred_labels",),
    "label_compare": ("final_labels_compare",),
    "label_compare_figure": ("final_labels_compare",),
    "final_labels_withdraw": ("adoption_withdraw",),
    "final_labels_recompute": ("final_labels_recompute",),
    "imports": ("imports",),
    "import_upload": ("imports", "import_batches"),
    "import_batch": ("import_batch", "imports"),
    "import_batch_check": ("import_batch_check",),
    "import_batch_apply": ("import_batch_apply",),
    "import_batch_discard": ("import_batch",),
    "import_file": ("import",),
    "import_problems": ("import_problems",),
    "import_matches": ("import_matches",),
    "question_list": ("imports",),
    "import_check": ("import_check",),
    "import_apply": ("import_apply",),
    "import_discard": ("import",),
    "exports": ("exports",),
    "export_download": ("export_file",),
    "export_manifest": ("export_manifest",),
    "arguments": ("arguments", "comparisons"),
    "corpora": ("corpora", "cam_service"),
    "corpus_upload": ("corpora",),
    "corpus": ("corpus",),
    "corpus_check": ("corpus_check",),
    "corpus_load": ("corpus_load",),
    "corpus_delete": ("corpus",),
    "cam_service": ("cam_service",),
    "find_start": ("comparisons",),
    "find_arguments": ("find",),
    "find_take": ("find_take",),
    "find_cam": ("cam_requests",),
    "cam_request": ("cam_request",),
    "cam_take": ("cam_take",),
    "argument": ("argument", "votes", "final_labels"),
    "figures": ("snapshots", "snapshots_refresh"),
    "snapshots": ("snapshots",),
    "snapshot": ("snapshot",),
    "snapshot_freeze": ("snapshot_freeze",),
    "job_progress": ("job",),
    "endpoints": ("endpoints",),
    "endpoint_new": ("endpoints",),
    "endpoint_embedded": ("endpoint_embedded",),
    "endpoint": ("endpoint",),
    "endpoint_probe": ("endpoint_probe",),
    "endpoint_archive": ("endpoint_archive",),
    "prompts": ("prompts",),
    "prompt": ("prompt",),
    "prompt_new": ("prompts",),
    "prompt_edit": ("prompt",),
    "prompt_preview": ("prompt_preview",),
    "runs": ("runs",),
    "run": ("run",),
    "run_new": ("runs",),
    "run_estimate": ("run_estimate",),
    "run_progress": ("run",),
    "run_go_on": ("run_go_on",),
    "run_pause": ("run_pause",),
    "run_resume": ("run_resume",),
    "run_correct": ("run_correct",),
    "run_cancel": ("run_cancel",),
    "run_limits": ("run",),
    "run_retry": ("run_retry",),
    "run_again": ("run_again",),
    "run_calls": ("calls",),
    "run_call": ("call", "replies", "judge_labels"),
    "run_compare": ("run_compare",),
    "generations": ("runs",),
    "generation_new": ("runs", "generation_launches"),
    "generation_estimate": ("run_estimate", "generation_launch_estimate"),
    "generation_launch": ("generation_launch",),
    "generation_launch_progress": ("generation_launch",),
    "generation_launch_cap": ("generation_launch",),
    "generation_launch_go": ("generation_launch",),
    "generation_launch_pause": ("generation_launch",),
    "generation_launch_resume": ("generation_launch",),
    "generation_launch_cancel": ("generation_launch",),
    "generation_figures": ("run_compare_answers", "answers"),
    "generation_compare": ("run_compare_answers",),
    "faithfulness": ("faithfulness",),
    "faithfulness_compute": ("faithfulness_compute",),
    "faithfulness_cancel": ("faithfulness_cancel",),
    "faithfulness_rows": ("figures",),
    "faithfulness_answer": ("figures", "verdicts", "answer"),
    "faithfulness_revision": ("figures", "verdicts"),
    "faithfulness_figure": ("faithfulness",),
    "edited_texts": ("edited_texts", "figures"),
    "edited_texts_figure": ("edited_texts", "figures"),
    "coherence_runs": ("runs",),
    "coherence_run_new": ("runs",),
    "coherence_run_estimate": ("run_estimate",),
    "coherence_verdicts": ("verdicts",),
    "expert_agreement": ("expert_agreement",),
    "expert_agreement_figure": ("expert_agreement",),
    "judges": ("judges", "judge_figures"),
    "judges_fragment": DRAWN,
    "judges_card": DRAWN,
    "judges_figure": DRAWN,
    "judge_rows": ("judge_labels", "votes", "final_labels"),
    "trained_judges": ("trained_judges",),
    "train_judge": ("trained_judges",),
    "train_cancel": ("trained_judges_cancel",),
    "trained_judge": ("trained_judge",),
    "trained_judge_card": ("trained_judge",),
    "import_origin": ("import_check",),
    "import_kind": "A program says what its file is when it sends it; nothing is guessed.",
    "import_group": "A program unpacks an archive itself and sends its files.",
    "import_sample": "An invented file to look at; a program has files of its own.",
    "import_sample_take": "An invented file to try the pages with; a program has its own.",
    "questions": ("questions",),
    "question": ("question", "answers"),
    "question_new": ("questions",),
    "questions_missing": ("questions_missing",),
    "answer": ("answer",),
    "answers_file": "A file for people; a program reads the rows it is made of.",
    "systems": ("systems",),
    "system": ("system",),
    "system_learned": ("system_learned",),
    "score": LABELLING,
    "score_own": LABELLING,
    "score_form": LABELLING,
    "score_save": LABELLING,
    "score_submit": LABELLING,
    "score_settle": LABELLING,
    "scoring_rounds": ("scoring_rounds",),
    "scoring_round_extent": ESTIMATE,
    "scoring_round_new": ("scoring_rounds",),
    "scoring_round": ("scoring_round", "scoring_items", "scorers"),
    "scoring_round_edit": ("scoring_round",),
    "scoring_round_delete": ("scoring_round",),
    "scoring_round_open": ("scoring_round_open",),
    "scoring_round_close": ("scoring_round_close",),
    "scoring_round_reopen": ("scoring_round_reopen",),
    "scoring_rater": ("scorer_decide",),
    "scoring_examples": ("answers", "score_sheets"),
    "scoring_example": ("scoring_examples",),
    "distillation": ("distillation",),
    "score_watch": ("boards_refresh", "boards"),
    "rubrics": ("rubrics",),
    "rubric_new": ("rubrics",),
    "rubric_upload": ("rubrics",),
    "rubric": ("rubric",),
    "rubric_json": ("rubric",),
    "import_scores": ("import_check",),
    "score_sheets_export": ("score_sheets",),
    "scoring_runs": ("runs",),
    "scoring_run_new": ("runs",),
    "scoring_run_estimate": ("run_estimate",),
    "scoring_run_sheets": ("run_sheets",),
    "scoring_run_probes": ("probes", "scoring"),
    "scores": ("boards", "boards_refresh", "board_part"),
    "scores_fragment": DRAWN,
    "boards": ("boards",),
    "board": ("board", "board_part"),
    "board_pair": ("board", "board_rows"),
    "board_freeze": ("board_freeze",),
    "key_point_boards": ("key_point_boards",),
    "key_point_boards_ask": ("key_point_boards_ask",),
    "key_point_board": ("key_point_board",),
    "key_point_board_figure": ("key_point_board",),
    "key_point_board_file": ("key_point_board_rows", "key_point_board"),
    "key_point_board_freeze": ("key_point_board_freeze",),
    "key_point_board_publish": ("key_point_board_publish",),
    "key_point_board_withdraw": ("key_point_board_withdraw",),
    "board_publish": ("board_publish",),
    "board_withdraw": ("board_withdraw",),
    "board_figure": ("board",),
    "board_file": ("board_rows", "board"),
    "score_agreement": ("score_agreement",),
    "score_agreement_figure": ("score_agreement",),
    "score_replace": ("score_agreement",),
    "score_judges": ("score_agreement",),
    "score_rows": ("score_sheets", "board_rows"),
    "score_sheet": ("score_sheet", "score_sheets"),
    "prefer": LABELLING,
    "prefer_own": LABELLING,
    "prefer_form": LABELLING,
    "prefer_save": LABELLING,
    "prefer_submit": LABELLING,
    "prefer_settle": LABELLING,
    "preferences": ("preferences",),
    "preferences_figure": ("preferences", "preference_sheets"),
    "preference_rounds": ("preference_rounds",),
    "preference_round_extent": ESTIMATE,
    "preference_round_new": ("preference_rounds",),
    "preference_round": ("preference_round", "preference_items", "preferrers"),
    "preference_round_edit": ("preference_round",),
    "preference_round_delete": ("preference_round",),
    "preference_round_open": ("preference_round_open",),
    "preference_round_close": ("preference_round_close",),
    "preference_round_reopen": ("preference_round_reopen",),
    "preference_rater": ("preferrer_decide",),
    "preference_runs": ("runs", "preference_sheets"),
    "preference_run_new": ("runs",),
    "preference_run_estimate": ("run_estimate",),
    "count": LABELLING,
    "count_own": LABELLING,
    "count_form": LABELLING,
    "count_save": LABELLING,
    "count_submit": LABELLING,
    "count_settle": LABELLING,
    "count_sheet": ("count_sheet", "count_sheets"),
    "counting_rater": ("counter_decide",),
    "counting_round": ("counting_round", "counting_items", "counters"),
    "counting_round_close": ("counting_round_close",),
    "counting_round_delete": ("counting_round",),
    "counting_round_edit": ("counting_round",),
    "counting_round_extent": ESTIMATE,
    "counting_round_new": ("counting_rounds",),
    "counting_round_open": ("counting_round_open",),
    "counting_round_reopen": ("counting_round_reopen",),
    "counting_rounds": ("counting_rounds",),
    "counting_sheets": ("count_sheets",),
    "import_counts": ("import_check",),
    "scorers": ("text_scorers",),
    "scorer_new": ("text_scorers",),
    "scorer_train": ("text_scorers_train",),
    "scorer": ("text_scorer",),
    "scorer_try": ("text_scorer_score",),
    "scorer_cancel": ("text_scorer_cancel",),
    "scorer_resume": ("text_scorer_resume",),
    "scorer_delete": ("text_scorer",),
    "scorer_figure": DRAWN,
    "summary_set": ("summary_set",),
    "summary_set_figure": DRAWN,
    "summary_set_file": ("summary_set",),
    "system_run": ("system_run", "system_run_figures", "summary_sets"),
    "system_run_figure": ("system_run_figures",),
    "system_run_cancel": ("system_run_cancel",),
    "system_run_estimate": "Cells times settings, which the answer to starting a run tells.",
    "system_run_new": ("system_runs", "summarization_systems"),
    "system_run_resume": ("system_run_resume",),
    "system_run_state": ("system_run",),
    "system_runs": ("system_runs",),
    "writing_estimate": ("run_estimate",),
    "writing_new": ("runs",),
    "datasets": ("datasets",),
    "dataset": ("dataset", "dataset_cells"),
    "dataset_recipe": ("dataset_recipe",),
    "dataset_delete": ("dataset",),
    "dataset_export": ("cell_arguments",),
    "cell": ("cell", "cell_arguments"),
    "import_arguments": ("import_check",),
    "key_points": ("key_points",),
    "key_points_figure": ("key_points",),
    "summary_metric": ("summary_metric_points",),
    "summary_metrics": ("summary_metrics", "metric_scores"),
    "summary_metrics_figure": ("summary_metrics",),
    "summary_metrics_compute": ("metric_scores_compute",),
    "summary_people": ("summary_people",),
    "summary_people_figure": ("summary_people",),
    "counting_runs": ("runs", "run_counts"),
    "counting_run_new": ("runs",),
    "counting_run_estimate": ("run_estimate",),
    "import_summary_scores": ("import_check",),
    "import_key_points": ("import_check",),
    "import_qualities": ("import_check",),
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

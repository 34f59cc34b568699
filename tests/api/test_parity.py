"""Whatever a researcher changes on a page, a program can change: pages that write, and the API.

A page that changes something has an address of its name in the API that changes it, or stands
here with the address that does, or with the reason why there is none.
"""

import inspect
import re

from tests.security.matrix import STUDY_ROUTES
from tests.security.world import entries
from .routes import declared

# Ends of names of pages of which a program has no need: estimates while a form is filled in, and
# looks at a work page for eyes and hands.
FOR_EYES = (
    *("_extent", "_estimate", "_preview"),
    *("_trial_save", "_trial_submit", "_trial_answer", "_trial_alive"),
)
# Pages of which nothing is in the API, by the reason.
WITHOUT = {
    "Items come one at a time, blind and timed; a program would defeat all three.": """
        label_answer label_alive score_save score_submit score_settle prefer_save prefer_submit
        prefer_settle point_check_save point_check_submit point_check_settle count_save
        count_submit count_settle participation_end participation_stop participation_fault
        round_steps round_survey typing_record
    """,
    "Experts edit by hand, or answer blind, in their own browser; a program is no expert.": """
        desk_save desk_submit desk_settle analysis_audit_leave
    """,
    "A crowd platform reports to it, with a signature of its own.": "platform_hook",
    "Platform IDs and money are for a person who sees the list.": "crowd_submissions crowd_money",
    "A file for people; a program reads the rows it is made of.": "answers_file",
    "The person who was invited comes in by a browser.": """
        join_start first_administrator invitation_accept
    """,
    "A program has a token; signing in, passwords and names belong to the person.": """
        account_login mfa_login_webauthn mfa_authenticate account_logout account_reset_password
        account_reset_password_from_key openid_connect_login account_reauthenticate
        mfa_reauthenticate mfa_reauthenticate_webauthn account sessions_end provider_disconnect
        mfa_activate_totp mfa_deactivate_totp mfa_generate_recovery_codes mfa_add_webauthn
        mfa_edit_webauthn mfa_remove_webauthn account_keys
    """,
    "A token that could make or revoke tokens would outlive being revoked.": """
        token_new token_lend token_revoke
    """,
    "An invented file to try the pages with; a program has its own.": "import_sample_take",
    "A program says what its file is when it sends it; nothing is guessed.": "import_kind",
}
# Pages by the address of the API that changes the same.
BY_ADDRESS = {
    "items": "label_round_items",
    "item_control": "label_round_control",
    "item_retire": "label_round_item_retire",
    "rater_exclude": "annotator",
    "control_change": "control",
    "annotators_exclude_low": "quality_exclude_low",
    "adjudications": "adjudication",
    "round_comments": "editing_discussion",
    "consensus": "final_labels_settings",
    "adoptions": "final_labels_adopt",
    "adoption_withdraw": "final_labels_withdraw",
    "preferred_labels": "labels_preferred",
    "imports": "question_list import_upload",
    "corpora": "corpus_upload",
    "comparisons": "find_start",
    "cam_requests": "find_cam",
    "runs": "generation_new coherence_run_new scoring_run_new preference_run_new counting_run_new",
    "trained_judges": "train_judge",
    "trained_judges_cancel": "train_cancel",
    "generation_launch": """
        generation_launch_cap generation_launch_go generation_launch_pause
        generation_launch_resume generation_launch_cancel
    """,
    "scorer_decide": "scoring_rater",
    "round_examples": "round_example",
    "round_offered_examples": "round_examples",
    "round_controls": "round_control",
    "round_agreed_answers": "round_control_take",
    "rubrics": "rubric_upload",
    "preferrer_decide": "preference_rater",
    "analyses": "analysis_new",
    "analyses_dataset": "analysis_dataset",
    "found_points_merge": "analysis_edit",
    "found_points_move": "analysis_rest_edit",
    "point_changes_undo": "analysis_undo",
    "audit_rounds": "analysis_audit_draw",
    "auditor_decide": "audit_rater",
    "counter_decide": "counting_rater",
    "text_scorers": "scorer_new",
    "text_scorer_score": "scorer_try",
    "text_scorer_cancel": "scorer_cancel",
    "text_scorer_resume": "scorer_resume",
    "text_scorer": "scorer_delete",
    "metric_scores_compute": "summary_metrics_compute",
    "onboarding_versions": "onboarding_edit",
    "qualifications": "onboarding_grant",
    "qualification_withdraw": "onboarding_withdraw",
    "study": "study_settings",
    "member": "member_role member_active",
    "endpoint_offers": "endpoint_add",
    "run": "run_limits",
    "import_check": """
        import_reading import_origin import_mapping import_scores import_comments
        import_arguments import_qualities import_survey import_key_points import_summary_scores
        import_counts
    """,
}
# What the name of a page ends in, and what the name of the address then ends in.
ENDINGS = (("y_new", "ies"), ("_new", "s"), ("_edit", ""), ("_delete", ""))


def takes_post(view) -> bool:
    """Whether the view itself looks at POST; classes of the account library have a method."""
    if hasattr(view, "view_class"):
        return hasattr(view.view_class, "post")
    return "POST" in inspect.getsource(inspect.unwrap(view))


# Pages of a study, and those of a person: what looks after the site has a command line instead.
OF_THE_SITE = re.compile("site_|study_deletion|work_worker|health|metrics|api_|schema|static")
WRITING = {
    name
    for name, _params, view in entries()
    if (name in STUDY_ROUTES or not OF_THE_SITE.match(name)) and takes_post(view)
}


def addresses_of(page: str) -> set[str]:
    """Names that the address may have which changes the same as a page."""
    known = {address for address, pages in BY_ADDRESS.items() if page in pages.split()}
    endings = [page.removesuffix(end) + of for end, of in ENDINGS if page.endswith(end)]
    return {page, *endings, *known}


def test_what_a_page_writes_an_address_writes_or_a_reason_says_why_not():
    writes = {name for name, method in declared() if method != "get"}
    explained = {name for names in WITHOUT.values() for name in names.split()}
    lacking = {name for name in WRITING - explained if not writes & addresses_of(name)}
    assert {name for name in lacking if not name.endswith(FOR_EYES)} == set()


def test_what_stands_here_exists():
    listed = [*WITHOUT.values(), *BY_ADDRESS.values()]
    assert {name for names in listed for name in names.split()} - WRITING == set()
    assert BY_ADDRESS.keys() <= {name for name, _method in declared()}


def test_writing_pages_are_recognised():
    assert {"study_new", "member_role", "crowd_links", "control", "guideline_new"} < WRITING
    assert {"final_labels_adopt", "snapshot_freeze", "label_answer"} < WRITING
    assert not {"audit", "members", "guidelines", "snapshots", "snapshot_figure"} & WRITING

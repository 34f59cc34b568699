"""Who may open what: every address of a study, the roles that may, and what it takes.

A route without a line here fails the suite. ``roles`` are the first letters
of annotator, expert, researcher, admin; ``post`` marks routes that only take
POST. Everybody else gets 403, strangers 404, anonymous visitors the sign-in
page.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Route:
    """Expected access of one address."""

    roles: str
    post: bool = False


RESEARCHERS = Route("rd")
RESEARCHERS_POST = Route("rd", post=True)
RATERS = Route("ae")
RATERS_POST = Route("ae", post=True)
EXPERTS = Route("erd")
EVERYBODY = Route("aerd")
ADMINS = Route("d")
ADMINS_POST = Route("d", post=True)

STUDY_ROUTES = {
    "study": EVERYBODY,
    "study_settings": ADMINS,
    "members": RESEARCHERS,
    "member_role": ADMINS_POST,
    "member_active": ADMINS_POST,
    "invitation_new": ADMINS_POST,
    "invitation_revoke": ADMINS_POST,
    "audit": RESEARCHERS,
    "job_progress": RESEARCHERS,
    "crowd_links": RESEARCHERS,
    "crowd_link_close": RESEARCHERS_POST,
    "campaigns": RESEARCHERS,
    "campaign_new": RESEARCHERS,
    "campaign": RESEARCHERS,
    "campaign_edit": RESEARCHERS,
    "campaign_items": RESEARCHERS,
    "campaign_control": RESEARCHERS_POST,
    "campaign_open": RESEARCHERS_POST,
    "campaign_pause": RESEARCHERS_POST,
    "campaign_close": RESEARCHERS_POST,
    "guidelines": RESEARCHERS,
    "guideline_new": RESEARCHERS,
    "guideline": RESEARCHERS,
    "label": RATERS,
    "label_answer": RATERS_POST,
    "label_next": RATERS,
    "label_alive": RATERS_POST,
    "label_answers": RATERS,
    "quality": RESEARCHERS,
    "quality_exclude_low": RESEARCHERS_POST,
    "annotator": RESEARCHERS,
    "control": RESEARCHERS,
    "adjudication": EXPERTS,
    "adjudication_skip": Route("erd", post=True),
    "final_labels": RESEARCHERS,
    "final_labels_settings": RESEARCHERS_POST,
    "final_labels_adopt": RESEARCHERS_POST,
    "final_labels_recompute": RESEARCHERS_POST,
    "imports": RESEARCHERS,
    "import_upload": RESEARCHERS_POST,
    "import_file": RESEARCHERS,
    "import_mapping": RESEARCHERS,
    "import_problems": RESEARCHERS,
    "import_check": RESEARCHERS_POST,
    "import_apply": RESEARCHERS_POST,
    "import_discard": RESEARCHERS_POST,
    "exports": RESEARCHERS,
    "export_list": RESEARCHERS,
    "export_download": RESEARCHERS,
    "export_manifest": RESEARCHERS,
    "arguments": RESEARCHERS,
    "argument": RESEARCHERS,
    "figures": RESEARCHERS,
    "figures_fragment": RESEARCHERS,
    "units": RESEARCHERS,
    "chart": RESEARCHERS,
    "figure_table": RESEARCHERS,
    "snapshots": RESEARCHERS,
    "snapshot": RESEARCHERS,
    "snapshot_freeze": RESEARCHERS_POST,
    "judges": RESEARCHERS,
    "judges_fragment": RESEARCHERS,
    "judges_card": RESEARCHERS,
    "judge_rows": RESEARCHERS,
    "judges_chart": RESEARCHERS,
    "judges_table": RESEARCHERS,
    "trained_judges": RESEARCHERS,
    "train_judge": RESEARCHERS_POST,
    "train_cancel": RESEARCHERS_POST,
    "trained_judge": RESEARCHERS,
    "trained_judge_card": RESEARCHERS,
    "endpoints": RESEARCHERS,
    "endpoint_new": RESEARCHERS,
    "endpoint_embedded": RESEARCHERS_POST,
    "endpoint": RESEARCHERS,
    "endpoint_probe": RESEARCHERS_POST,
    "endpoint_archive": RESEARCHERS_POST,
    "prompts": RESEARCHERS,
    "prompt": RESEARCHERS,
    "prompt_new": RESEARCHERS,
    "prompt_edit": RESEARCHERS,
    "prompt_preview": RESEARCHERS_POST,
    "runs": RESEARCHERS,
    "run_new": RESEARCHERS,
    "run_estimate": RESEARCHERS_POST,
    "run": RESEARCHERS,
    "run_progress": RESEARCHERS,
    "run_go_on": RESEARCHERS_POST,
    "run_pause": RESEARCHERS_POST,
    "run_resume": RESEARCHERS_POST,
    "run_cancel": RESEARCHERS_POST,
    "run_limits": RESEARCHERS_POST,
    "run_retry": RESEARCHERS_POST,
    "run_again": RESEARCHERS_POST,
    "run_calls": RESEARCHERS,
    "run_call": RESEARCHERS,
    "run_compare": RESEARCHERS,
}

# Outside any study: what anonymous visitors get. "in" means the sign-in page.
SITE_ROUTES = {
    "home": "in",
    "health": "200",
    "account": "in",
    "token_new": "in",
    "token_revoke": "in",
    "study_new": "in",
    "participation_end": "in",
    "participation_fault": "in",
    "account_login": "200",
    "account_logout": "405",
    "account_inactive": "200",
    "account_change_password": "in",
    "account_reset_password": "200",
    "account_reset_password_done": "200",
    "account_reset_password_from_key": "200",
    "account_reset_password_from_key_done": "200",
    "invitation": "404",
    "invitation_accept": "404",
    "join": "404",
    "join_start": "404",
}

"""Forty mistakes that would harm a lab, and the tests that are likely to notice each mistake."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A mistake of one line.

    Attributes
    ----------
    means
        Consequence of the mistake for a lab.
    file, old, new
        The changed file and text; the old text occurs exactly once.
    aims
        Test files or folders that are run first.
    """

    name: str
    means: str
    file: str
    old: str
    new: str
    aims: tuple[str, ...]


LEASED_ONLY = """state=Call.State.LEASED)
        .order_by("pk")
        .values_list("pk", "fence")
    )
    """

FAULTS = (
    # -- people and access ------------------------------------------------------------------------
    Fault(
        name="removed-member-opens",
        means="Somebody who was removed from a study still opens it.",
        file="cqa_site/people/access.py",
        old="user=user, is_active=True, user__is_active=True",
        new="user=user, user__is_active=True",
        aims=(
            "tests/people/test_crowd.py",
            "tests/people",
        ),
    ),
    Fault(
        name="group-overrules-a-person",
        means="A group of the provider changes a role that an admin gave by hand.",
        file="cqa_site/people/sign_in/roles.py",
        old="return mark is not None and (",
        new="return mark is None or (",
        aims=(
            "tests/people/sign_in/test_hostile_roles.py",
            "tests/people/sign_in",
        ),
    ),
    Fault(
        name="crowd-place-taken-over",
        means="A browser without a cookie gets the place of another crowd participant.",
        file="cqa_site/rounds/crowd/participants.py",
        old="return not browser_hash or (\n        bool(browser) and browser_hash ==",
        new="return not (browser_hash and browser) or (\n        browser_hash ==",
        aims=(
            "tests/people/test_crowd.py",
            "tests/people",
        ),
    ),
    Fault(
        name="researcher-changes-members",
        means="A researcher makes themselves an admin through the API.",
        file="cqa_site/api/base.py",
        old="if is_change and self.membership.role != Role.ADMIN:",
        new="if is_change and self.membership.role == Role.ANNOTATOR:",
        aims=(
            "tests/api/test_people.py",
            "tests/api",
        ),
    ),
    Fault(
        name="largest-page-refused",
        means="A program that asks for 200 rows a page, as documented, gets an error.",
        file="cqa_site/web/rest/queries.py",
        old="not 1 <= number <= largest",
        new="not 1 <= number < largest",
        aims=(
            "tests/api/test_schema.py",
            "tests/api",
        ),
    ),
    # -- rounds -----------------------------------------------------------------------------------
    Fault(
        name="stale-tab-overwrites",
        means="An old tab overwrites what was saved in another one.",
        file="cqa_site/rounds/drafts.py",
        old="if save.base_version == sheet.version:",
        new="if save.base_version <= sheet.version:",
        aims=(
            "tests/annotation/editing/test_editing_drafts.py",
            "tests/annotation/editing",
            "tests/benchmark/scoring",
        ),
    ),
    Fault(
        name="slot-taken-twice",
        means="Two people who ask at the same moment get the same slot of an item.",
        file="cqa_site/rounds/queue.py",
        old="slots.filter(state=OPEN).select_for_update(skip_locked=True).first()",
        new="slots.filter(state=OPEN).first()",
        aims=(
            "tests/benchmark/scoring/test_scoring_race.py",
            "tests/benchmark/scoring",
        ),
    ),
    Fault(
        name="state-from-before-the-lock",
        means="A plan is changed although the round was opened meanwhile.",
        file="cqa_site/rounds/lifecycle.py",
        old='WHOLE = ("self", "round_ptr")',
        new='WHOLE = ("self",)',
        aims=(
            "tests/annotation/labelling/test_locks.py",
            "tests/annotation/labelling",
        ),
    ),
    # -- runs -------------------------------------------------------------------------------------
    Fault(
        name="fence-not-compared",
        means="A worker that comes back late stores its reply over that of another worker.",
        file="cqa_site/runs/ledger/replies.py",
        old=LEASED_ONLY + "return {pk for pk, fence in rows if wanted[pk] == fence}",
        new=LEASED_ONLY + "return {pk for pk, _fence in rows}",
        aims=(
            "tests/runs/test_ledger.py",
            "tests/runs",
        ),
    ),
    Fault(
        name="exact-budget-refused",
        means="A run stops although its budget covers the next request exactly.",
        file="cqa_site/runs/ledger/gates.py",
        old="        if left < 0:",
        new="        if left <= 0:",
        aims=(
            "tests/runs/test_ledger.py",
            "tests/runs",
            "tests/faults/test_judging_control.py",
        ),
    ),
    Fault(
        name="claims-after-the-end",
        means="A worker that was told to stop goes on sending requests and is killed with them.",
        file="cqa_site/runs/carrying/worker.py",
        old="            may_claim = time.monotonic() < ends_at and not STOP.is_set()",
        new="            may_claim = time.monotonic() < ends_at",
        aims=(
            "tests/runs/test_ledger.py",
            "tests/faults/test_judging_control.py",
            "tests/runs",
        ),
    ),
    Fault(
        name="failed-turn-forgets",
        means="Paid replies are lost when the database is away for a moment.",
        file="cqa_site/runs/carrying/worker.py",
        old="    session.finished = before[0] + session.finished\n",
        new="    session.finished = before[0]\n",
        aims=(
            "tests/faults/test_judging_databases.py",
            "tests/runs",
        ),
    ),
    Fault(
        name="sqlite-upgrades-its-lock",
        means="Saving fails with “database is locked” when several people work at once on SQLite.",
        file="cqa_site/settings.py",
        old='"transaction_mode": "IMMEDIATE"',
        new='"transaction_mode": "DEFERRED"',
        aims=(
            "tests/faults/test_judging_control.py",
            "tests/faults/test_label_race.py",
        ),
    ),
    # -- results ----------------------------------------------------------------------------------
    Fault(
        name="snapshot-frozen-twice",
        means="Two researchers freeze one snapshot, and the second note replaces the first.",
        file="cqa_site/results/snapshots.py",
        old="rows.select_for_update().get(pk=owner)",
        new="rows.get(pk=owner)",
        aims=(
            "tests/results/test_race.py",
            "tests/results",
        ),
    ),
    # -- files and tables -------------------------------------------------------------------------
    Fault(
        name="dry-run-imports",
        means="Looking at what a file would bring imports it already.",
        file="cqa_site/files/actions/import_jobs.py",
        old="_run(import_file, write=False, progress=",
        new="_run(import_file, write=True, progress=",
        aims=(
            "tests/files",
            "tests/annotation/imports",
        ),
    ),
    Fault(
        name="half-an-import",
        means="An import that fails half way leaves the rows that it had written.",
        file="cqa_site/files/actions/import_jobs.py",
        old=(
            "        with transaction.atomic():\n"
            "            outcome = _run(import_file, write=True, actor=actor, **chosen)\n"
        ),
        new=(
            "        outcome = _run(import_file, write=True, actor=actor, **chosen)\n"
            "        with transaction.atomic():\n"
        ),
        aims=(
            "tests/files",
            "tests/annotation/imports",
        ),
    ),
    Fault(
        name="second-import-counts-again",
        means="A file of arguments that grew and is imported again counts its repeats twice.",
        file="argsum/datasets/imports/datasets.py",
        old="return before | counts",
        new="return before + counts",
        aims=(
            "tests/argsum/datasets/test_argument_imports.py",
            "tests/argsum/datasets",
        ),
    ),
    Fault(
        name="formula-with-an-at-sign",
        means="Text that begins with @ runs as a formula when an export is opened in Excel.",
        file="cqa_site/tabular/export.py",
        old=r"[=+\\-@|%",
        new=r"[=+\\-|%",
        aims=("tests/tabular",),
    ),
    Fault(
        name="time-zone-dropped",
        means="Times with another offset than UTC are stored hours off.",
        file="cqa_site/tabular/cells.py",
        old="return moment.astimezone(UTC)",
        new="return moment.replace(tzinfo=UTC)",
        aims=(
            "tests/annotation/corpus",
            "tests/annotation/imports",
            "tests/annotation/imports",
        ),
    ),
    # -- judging ----------------------------------------------------------------------------------
    Fault(
        name="internal-address-inside",
        means="An endpoint's public-looking IPv6 address leads into the lab's own network.",
        file="cqa_site/judging/transport/addresses.py",
        old="return (address, _last_four(address))",
        new="return (address,)",
        aims=(
            "tests/judging/test_addresses.py",
            "tests/judging",
        ),
    ),
    # -- statistics -------------------------------------------------------------------------------
    Fault(
        name="left-out-alpha",
        means="Intervals of Krippendorff's alpha lie beside the right ones by a little.",
        file="cqa_site/stats/ratings.py",
        old="return np.asarray(1 - (margins.sum(axis=1) - 1) * ratio)",
        new="return np.asarray(1 - margins.sum(axis=1) * ratio)",
        aims=("tests/stats",),
    ),
    # -- pages ------------------------------------------------------------------------------------
    Fault(
        name="sentence-as-markup",
        means="A sentence of an imported file runs a script in an annotator's browser.",
        file="templates/annotation/labelling/_item_segments.html",
        old="{% else %}{{ part.text }}{% endif %}{% endfor %}",
        new="{% else %}{{ part.text|safe }}{% endif %}{% endfor %}",
        aims=(
            "tests/annotation/labelling/test_label_page.py",
            "tests/annotation/labelling",
        ),
    ),
    Fault(
        name="undo-without-a-token",
        means="Experts cannot take a decision back: the form is refused.",
        file="templates/annotation/consensus/adjudication.html",
        old='id="take-back">{% csrf_token %}',
        new='id="take-back">',
        aims=(
            "tests/annotation/consensus/test_adjudication.py",
            "tests/security/test_matrix.py",
        ),
    ),
    Fault(
        name="select-without-a-name",
        means="A screen reader does not say which list sets the known label of an item.",
        file="templates/annotation/labelling/_round_item.html",
        old='<select name="label" aria-label="{% translate \'Known label\' %}">',
        new='<select name="label">',
        aims=("tests/annotation/labelling", "tests/security/test_matrix.py"),
    ),
    Fault(
        name="pale-text",
        means="Help texts are too pale to read for people with low vision.",
        file="static/css/counterpoint.css",
        old="--ink-soft: light-dark(#565a63,",
        new="--ink-soft: light-dark(#868a93,",
        aims=("tests/web/test_style_tokens.py", "tests/browser/test_pages.py"),
    ),
    Fault(
        name="double-click-labels-twice",
        means="A double click labels the sentence that has just appeared, unread.",
        file="static/js/work_pages/settled.js",
        old="return performance.now() >= settledAt;",
        new="return true;",
        aims=("tests/browser/test_unread_answers.py",),
    ),
    Fault(
        name="new-key-for-every-try",
        means="A label whose acknowledgement was lost is refused when it is sent again.",
        file="static/js/work_pages/label-outbox.js",
        old="await post(this.url, entry.fields, this.csrf)",
        new="await post(this.url, { ...entry.fields, client_key: newKey() }, this.csrf)",
        aims=("tests/browser/test_label_page.py",),
    ),
    # -- the site ---------------------------------------------------------------------------------
    Fault(
        name="backup-without-history",
        means="A restored site has lost who changed what and why.",
        file="cqa_site/upkeep/backups/transfer.py",
        old='LEFT_OUT = {"django_session", ',
        new='LEFT_OUT = {"people_auditevent", "django_session", ',
        aims=(
            "tests/upkeep/test_backups.py",
            "tests/upkeep",
        ),
    ),
    # -- labels -----------------------------------------------------------------------------------
    Fault(
        name="control-items-shown",
        means="The page tells annotators which items are control items.",
        file="annotation/labelling/views/label_page.py",
        old='"blank": row.item.argument.is_blank,',
        new='"blank": row.item.argument.is_blank,\n        "slot": row.slot_id,',
        aims=(
            "tests/annotation/labelling/test_label_page.py",
            "tests/annotation/labelling",
        ),
    ),
    Fault(
        name="two-votes-of-one-rater",
        means="The database takes two labels of one annotator for one item.",
        file="annotation/labelling/models.py",
        old='fields=["item", "rater"], condition=~Q(state="void")',
        new='fields=["item", "rater"], condition=Q(state="void")',
        aims=(
            "tests/annotation/labelling/test_shared_table.py",
            "tests/annotation/labelling/test_serving.py",
            "tests/annotation/labelling",
            "tests/annotation/imports",
        ),
    ),
    Fault(
        name="tie-to-the-lower-label",
        means="Final labels from tied votes are the lower one, where the paper takes the higher.",
        file="cqa_site/stats/disagreement.py",
        old='def majority(ratings: Ratings, tie: Tie = "higher")',
        new='def majority(ratings: Ratings, tie: Tie = "lower")',
        aims=("tests/stats", "tests/annotation/consensus"),
    ),
    Fault(
        name="decisions-of-others",
        means="An expert sees what other experts decided before deciding.",
        file="annotation/consensus/views.py",
        old="objects.filter(label_round=label_round, rater=rater).order_by",
        new="objects.filter(label_round=label_round).order_by",
        aims=(
            "tests/annotation/consensus/test_adjudication.py",
            "tests/annotation/consensus",
        ),
    ),
    Fault(
        name="query-for-each-label",
        means="The page of an annotator takes seconds where they gave many labels.",
        file="annotation/quality/views/quality.py",
        old='.select_related("item__argument__comparison")',
        new='.select_related("item")',
        aims=("tests/annotation/quality",),
    ),
    Fault(
        name="real-ids-exported",
        means="An export meant for others holds the ids by which annotators can be recognized.",
        file="annotation/exports/reports/tables.py",
        old="""record | {"rater_id": source.pseudonym(record["rater_id"]), """,
        new="record | {",
        aims=("tests/annotation/exports",),
    ),
    Fault(
        name="unlabelled-counts-as-irrelevant",
        means="Precision falls for every cited argument that nobody has labelled yet.",
        file="annotation/faithfulness/methods/faithfulness.py",
        old="used = cited - unlabelled if mode == SOUND else cited",
        new="used = cited",
        aims=(
            "tests/annotation/faithfulness/methods",
            "tests/annotation/faithfulness",
        ),
    ),
    # -- scores -----------------------------------------------------------------------------------
    Fault(
        name="unscored-counts-as-zero",
        means="A question that a judge left unscored lowers the mean of its system.",
        file="benchmark/leaderboard/methods/data.py",
        old="    means = np.full(size, np.nan)\n",
        new="    means = np.zeros(size)\n",
        aims=(
            "tests/benchmark/leaderboard/methods",
            "tests/benchmark/leaderboard",
        ),
    ),
    Fault(
        name="side-not-turned-back",
        means="A judge's verdict on a swapped pair counts for the wrong system.",
        file="benchmark/preferences/kind.py",
        old="turned(SAYS[choice.value], is_swapped=bool(call.subject_ids[1]))",
        new="turned(SAYS[choice.value], is_swapped=False)",
        aims=(
            "tests/benchmark/preferences/test_preference_judge.py",
            "tests/benchmark/preferences",
        ),
    ),
    Fault(
        name="questions-in-both-parts",
        means="A distilled model is validated on comparisons that it was trained on.",
        file="benchmark/distillation/methods.py",
        old='_parts(pairs["group"].tolist(), rules)',
        new='_parts(pairs["question"].tolist(), rules)',
        aims=(
            "tests/benchmark/distillation",
            "tests/benchmark/distillation",
        ),
    ),
    # -- key points -------------------------------------------------------------------------------
    Fault(
        name="redundancy-rewarded",
        means="Systems that repeat themselves rise in the ranking of key points.",
        file="argsum/counting/methods/counts.py",
        old="return weight * coverage + (1 - weight) * (1 - redundancy)",
        new="return weight * coverage + (1 - weight) * redundancy",
        aims=(
            "tests/argsum/leaderboard/methods",
            "tests/argsum/leaderboard",
            "tests/argsum/counting",
        ),
    ),
    Fault(
        name="wrong-side-of-the-interval",
        means="Intervals of differences between groups of comments are too short at one end.",
        file="argsum/analysis/methods/prevalence.py",
        old="np.hypot(p1 - first.low, second.high - p2)",
        new="np.hypot(p1 - first.low, p2 - second.low)",
        aims=(
            "tests/argsum/analysis/methods",
            "tests/argsum/analysis",
        ),
    ),
)
